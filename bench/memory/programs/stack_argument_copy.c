/* The array within a structure argument is overrun in the callee. */
#include <stdio.h>
#ifdef RIGHT
#define COUNT 6
#else
#define COUNT 7
#endif
struct week { int days[6]; };
static int total(struct week week)
{
    int sum = 0;
    int *day = week.days;
    for (int i = 0; i < COUNT; i++)
        sum += day[i] & 1; //! out-of-bounds
    return sum < 100;
}
int main(void)
{
    struct week week = {{1, 2, 3, 4, 5, 6}};
    printf("%d\n", total(week));
    return 0;
}
