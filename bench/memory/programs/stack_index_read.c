/* The value before the first one is taken for a maximum. */
#include <stdio.h>
#ifdef RIGHT
#define FIRST 0
#else
#define FIRST -1
#endif
static int largest(const int *values, int first, int count)
{
    int best = values[first]; //! out-of-bounds
    for (int i = 0; i < count; i++)
        if (values[i] > best)
            best = values[i];
    return best > 100 ? 100 : 1;
}
int main(void)
{
    int guard[4] = {0, 0, 0, 0};
    int values[4] = {3, 9, 4, 1};
    printf("%d\n", largest(values, FIRST, 4) > 0);
    return guard[0];
}
