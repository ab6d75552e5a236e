/* The address of a variable leaves the block that it is declared in. */
#include <stdio.h>
int main(void)
{
    int *kept = NULL;
    int outer = 1;
    for (int i = 0; i < 2; i++) {
        int inner = i;
        kept = &inner;
        outer += *kept;
    }
#ifdef RIGHT
    kept = &outer;
#endif
    *kept = 4; //! use-after-scope
    printf("%d\n", outer > 0);
    return 0;
}
