/* A table of months is asked for the thirteenth. */
#include <stdio.h>
#ifdef RIGHT
#define MONTH 11
#else
#define MONTH 12
#endif
static int days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
static int after[8] = {1, 1, 1, 1, 1, 1, 1, 1};
static int length(int month) { return days[month]; } //! out-of-bounds
int main(void)
{
    printf("%d\n", length(MONTH) < 40 && after[0]);
    return 0;
}
