/* A read behind the end of a text constant. */
#include <stdio.h>
#ifdef RIGHT
#define AT 6
#else
#define AT 9
#endif
static int at(const char *text, int place) { return text[place]; } //! out-of-bounds
int main(void)
{
    const char *word = "signal";
    printf("%d\n", at(word, AT) < 1000);
    return 0;
}
