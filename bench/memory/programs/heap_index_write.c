/* One element too many on the heap, within what the allocator rounds up to. */
#include <stdio.h>
#include <stdlib.h>
#ifdef RIGHT
#define COUNT 5
#else
#define COUNT 6
#endif
int main(void)
{
    int *cells = malloc(5 * sizeof *cells);
    if (!cells)
        return 1;
    for (int i = 0; i < COUNT; i++)
        cells[i] = i; //! out-of-bounds
    printf("%d\n", cells[4]);
    free(cells);
    return 0;
}
