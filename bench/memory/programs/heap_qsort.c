/* One element more is sorted than there is. */
#include <stdio.h>
#include <stdlib.h>
#ifdef RIGHT
#define COUNT 5
#else
#define COUNT 6
#endif
static int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int main(void)
{
    int *cells = malloc(5 * sizeof *cells);
    if (!cells)
        return 1;
    for (int i = 0; i < 5; i++)
        cells[i] = 10 - i;
    qsort(cells, COUNT, sizeof *cells, order); //! out-of-bounds
    printf("%d\n", cells[4] > 5);
    free(cells);
    return 0;
}
