/* The new size is in elements, not in bytes. */
#include <stdio.h>
#include <stdlib.h>
#ifdef RIGHT
#define BYTES(n) ((n) * sizeof(int))
#else
#define BYTES(n) (n)
#endif
int main(void)
{
    int *cells = malloc(4 * sizeof *cells);
    if (!cells)
        return 1;
    cells[0] = 1;
    cells = realloc(cells, BYTES(24));
    if (!cells)
        return 1;
    for (int i = 1; i < 24; i++)
        cells[i] = i; //! out-of-bounds
    printf("%d\n", cells[0]);
    return 0;
}
