/* A pointer that was kept to an array two structures deep is read beyond it, in the middle of an array of records. */
#include <stdio.h>
struct point { short at[3]; short weight; };
struct shape { int id; struct point corners[4]; };
int main(void)
{
    struct shape shape = {1, {{{1, 2, 3}, 9}, {{4, 5, 6}, 9}, {{7, 8, 9}, 9}, {{10, 11, 12}, 9}}};
    int dimensions = 4, sum = 0, corner = 2;
#ifdef RIGHT
    dimensions = 3;
#endif
    const short *at = shape.corners[corner].at;
    for (int n = 0; n < dimensions; n++)
        sum += at[n]; //! out-of-bounds
    printf("%d\n", sum);
    return 0;
}
