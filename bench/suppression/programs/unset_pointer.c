/* A slot is set only for large numbers; its place held text before. */
#include <stdio.h>
#include <string.h>
struct options {
    int *slot;
    int number;
};
static int kept;
static void choose(struct options *options, int number)
{
#ifndef RIGHT
    if (number > 10)
#endif
        options->slot = &kept;
    options->number = number;
}
static int noise(void)
{
    char text[64];
    memset(text, 'q', sizeof text);
    return text[5];
}
static int use(int number)
{
    struct options options;
    choose(&options, number);
    *options.slot = number; //! uninitialised
    return options.number;
}
int main(void)
{
    int sum = noise();
    printf("%d\n", sum + use(3));
    return 0;
}
