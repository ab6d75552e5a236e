/* The address of a local is kept in a static structure. */
#include <stdio.h>
struct slot { int *value; };
static struct slot slot;
static void keep(int start)
{
    int local = start;
    slot.value = &local;
    *slot.value += 1;
}
int main(void)
{
    int own = 1;
    keep(3);
#ifdef RIGHT
    slot.value = &own;
#endif
    *slot.value = 9; //! use-after-return
    printf("%d\n", own > 0);
    return 0;
}
