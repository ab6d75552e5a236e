/* Each word fits, but not all of them. */
#include <stdio.h>
#include <string.h>
#ifdef RIGHT
#define WORDS 2
#else
#define WORDS 3
#endif
int main(void)
{
    char line[9] = "";
    for (int i = 0; i < WORDS; i++)
        strcat(line, "reef"); //! out-of-bounds
    printf("%c\n", line[0]);
    return 0;
}
