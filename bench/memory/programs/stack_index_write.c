/* A loop fills one cell too many. */
#include <stdio.h>
#ifdef RIGHT
#define LAST 7
#else
#define LAST 8
#endif
int main(void)
{
    int speeds[8];
    int sum = 0;
    for (int i = 0; i <= LAST; i++)
        speeds[i] = i * 3; //! out-of-bounds
    for (int i = 0; i < 8; i++)
        sum += speeds[i];
    printf("%d\n", sum);
    return 0;
}
