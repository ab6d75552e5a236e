/* A value that was never given is printed after it was added to others. */
#include <stdio.h>
static int sum(const int *cells, int count)
{
    int sum = 0;
    for (int i = 0; i < count; i++)
        sum += cells[i];
    return sum;
}
int main(void)
{
    int cells[4];
#ifdef RIGHT
    int last = 3;
#else
    int last = 2;
#endif
    for (int i = 0; i <= last; i++)
        cells[i] = i;
    printf("%d\n", sum(cells, 4)); //! uninitialised
    return 0;
}
