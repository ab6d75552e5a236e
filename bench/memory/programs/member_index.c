/* One reading too many goes from the last place of a member array into the counter behind it. */
#include <stdio.h>
struct day { int readings[24]; int count; int checked; };
int main(void)
{
    struct day day = {{0}, 0, 0};
    int hours = 25;
#ifdef RIGHT
    hours = 24;
#endif
    for (int hour = 0; hour < hours; hour++)
        day.readings[hour] = 10 + hour; //! out-of-bounds
    day.checked = 1;
    printf("%d %d\n", day.readings[23], day.checked);
    return 0;
}
