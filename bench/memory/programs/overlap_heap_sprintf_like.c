/* Two halves of a block overlap since the length was not halved. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef RIGHT
#define HALF 16
#else
#define HALF 20
#endif
static void mirror(char *to, const char *from, size_t length) { memcpy(to, from, length); } //! overlapping-copy
int main(void)
{
    char *block = calloc(1, 40);
    if (!block)
        return 1;
    mirror(block + 16, block, HALF);
    printf("%d\n", block[39]);
    free(block);
    return 0;
}
