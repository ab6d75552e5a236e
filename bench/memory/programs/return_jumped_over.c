/* longjmp leaves the initialisation out. */
#include <setjmp.h>
#include <stdio.h>
static jmp_buf back;
static int *place;
static void prepare(int fail)
{
    if (fail)
        longjmp(back, 1);
}
static void inner(void)
{
    int value = 4;
    place = &value;
    prepare(1);
}
int main(void)
{
    static int spare = 3;
    if (!setjmp(back))
        inner();
#ifdef RIGHT
    place = &spare;
#endif
    printf("%d\n", *place > 0 || spare); //! use-after-return
    return 0;
}
