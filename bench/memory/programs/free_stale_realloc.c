/* A pointer into a block from before it grew. */
#include <stdio.h>
#include <stdlib.h>
#ifdef RIGHT
#define CURRENT(cells, first) (cells)
#else
#define CURRENT(cells, first) (first)
#endif
int main(void)
{
    int *cells = malloc(4 * sizeof *cells);
    char *between = malloc(16);
    if (!cells || !between)
        return 1;
    int *first = cells;
    *first = 1;
    cells = realloc(cells, 4000);
    if (!cells)
        return 1;
    *CURRENT(cells, first) = 5; //! use-after-free
    printf("%d\n", cells[0] > 0);
    free(cells);
    free(between);
    return 0;
}
