/* The limit of fgets is that of another buffer. */
#include <stdio.h>
#ifdef RIGHT
#define LIMIT 6
#else
#define LIMIT 16
#endif
int main(void)
{
    char line[6];
    FILE *file = tmpfile();
    if (!file)
        return 1;
    fputs("a long line of text\n", file);
    rewind(file);
    if (fgets(line, LIMIT, file)) //! out-of-bounds
        printf("%c\n", line[0]);
    fclose(file);
    return 0;
}
