/* A line that is too long runs over the return address. */
#include <stdio.h>
#include <string.h>
#ifdef RIGHT
#define LINE "short"
#else
#define LINE "a line that is much longer than the buffer that it is copied to, and than what follows"
#endif
static int words(const char *line)
{
    char copy[24];
    int count = 1;
    strcpy(copy, line); //! out-of-bounds
    for (int i = 0; line[i]; i++)
        count += line[i] == ' ';
    return count;
}
int main(void)
{
    printf("%d\n", words(LINE));
    return 0;
}
