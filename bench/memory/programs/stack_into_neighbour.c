/* A pointer runs from one array into the next one, which lives. */
#include <stdio.h>
#ifdef RIGHT
#define STEPS 4
#else
#define STEPS 7
#endif
int main(void)
{
    int left[4] = {1, 2, 3, 4};
    int right[4] = {5, 6, 7, 8};
    int *p = left;
    for (int i = 0; i < STEPS; i++, p++)
        *p = 0; //! out-of-bounds
    printf("%d %d\n", left[0], right[0] > 100);
    return 0;
}
