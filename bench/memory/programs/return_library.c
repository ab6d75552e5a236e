/* A library function writes to an array of a function that has returned. */
#include <stdio.h>
#include <string.h>
static char *target;
static void prepare(void)
{
    char local[16];
    target = local;
    target[0] = 0;
}
int main(void)
{
    char own[16];
    prepare();
#ifdef RIGHT
    target = own;
#endif
    own[0] = 'o';
    strcpy(target, "late"); //! use-after-return
    printf("%d\n", own[0] > 0);
    return 0;
}
