/* Trailing blanks are cut from a text that is all blanks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef RIGHT
#define STOP(p, text) ((p) > (text))
#else
#define STOP(p, text) ((p) > (text) - 2)
#endif
int main(void)
{
    char *text = malloc(8);
    if (!text)
        return 1;
    strcpy(text, "    ");
    char *p = text + 4;
    while (STOP(p, text) && (p[-1] == ' ' || p[-1] == 0)) //! out-of-bounds
        p--;
    printf("%d\n", p <= text);
    free(text);
    return 0;
}
