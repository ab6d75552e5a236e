/* The size of a pointer's array is computed from the wrong type. */
#include <stdio.h>
#include <string.h>
#ifdef RIGHT
typedef short cell;
#else
typedef int cell;
#endif
int main(void)
{
    short cells[6];
    short others[6] = {1, 1, 1, 1, 1, 1};
    memset(cells, 0, 6 * sizeof(cell)); //! out-of-bounds
    printf("%d\n", cells[5] + (others[5] == 1));
    return 0;
}
