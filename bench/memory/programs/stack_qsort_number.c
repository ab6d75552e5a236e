/* qsort is told of one element too many. */
#include <stdio.h>
#include <stdlib.h>
#ifdef RIGHT
#define N 5
#else
#define N 6
#endif
static int less(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int main(void)
{
    int v[5] = {5, 3, 4, 1, 2};
    qsort(v, N, sizeof *v, less); //! out-of-bounds
    puts("end");
    return 0;
}
