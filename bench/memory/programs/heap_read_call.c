/* More is read from a file than the block holds. */
#include <stdio.h>
#include <stdlib.h>
#ifdef RIGHT
#define COUNT 20
#else
#define COUNT 24
#endif
int main(void)
{
    char *block = malloc(20);
    FILE *file = tmpfile();
    if (!block || !file)
        return 1;
    fputs("0123456789012345678901234567890", file);
    rewind(file);
    size_t got = fread(block, 1, COUNT, file); //! out-of-bounds
    printf("%d\n", got > 0 && block[0] == '0');
    fclose(file);
    free(block);
    return 0;
}
