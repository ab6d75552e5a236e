/* What lies between two blocks is written over; the allocator notices when one is given back. */
#include <stdio.h>
#include <stdlib.h>
#ifdef RIGHT
#define ROOM 12
#else
#define ROOM 6
#endif
int main(void)
{
    long *row = malloc(ROOM * sizeof *row);
    long *other = malloc(48);
    for (int i = 0; i < 12; i++)
        row[i] = i * 1000; //! out-of-bounds
    long sum = 0;
    for (int i = 0; i < 6; i++)
        sum += row[i];
    printf("%ld\n", sum);
    fflush(stdout);
    free(other);
    free(row);
    return 0;
}
