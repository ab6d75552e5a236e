/* Blanks are cut off at the end of a text that has nothing else. */
#include <stdio.h>
#include <string.h>
#ifdef RIGHT
#define WITHIN(p, start) ((p) > (start))
#else
#define WITHIN(p, start) 1
#endif
struct line { char mark[4]; char *text; };
static void trim(char *text)
{
    char *end = text + strlen(text);
    while (WITHIN(end, text) && end[-1] == ' ') //! out-of-bounds
        *--end = 0;
}
int main(void)
{
    static char before[4] = "   ";
    static char blank[8] = "       ";
    trim(blank);
    printf("[%s] %d\n", blank, (int)strlen(before) >= 0);
    return 0;
}
