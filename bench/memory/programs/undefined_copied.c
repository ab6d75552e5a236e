/* The member travels through a copy and a call before it decides anything. */
#include <stdio.h>
struct point { int x, y; };
static int is_far(struct point *point) { return point->y > 1000; }
int main(void)
{
    struct point one, two;
    one.x = 3;
#ifdef RIGHT
    one.y = 4;
#endif
    two = one;
    int far = is_far(&two);
    if (far) //! uninitialised
        puts("far");
    puts("end");
    return 0;
}
