/* No room for the end of the text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef RIGHT
#define MORE 1
#else
#define MORE 0
#endif
static char *twin(const char *text)
{
    char *copy = malloc(strlen(text) + MORE);
    if (copy)
        strcpy(copy, text); //! out-of-bounds
    return copy;
}
int main(void)
{
    char *copy = twin("lighthouse keeper 123456");
    if (!copy)
        return 1;
    printf("%c\n", copy[0]);
    free(copy);
    return 0;
}
