/* The block was given back and has a new owner by then: the address is valid again. */
#include <stdio.h>
#include <stdlib.h>
#ifdef RIGHT
#define AGAIN(old, new) new
#else
#define AGAIN(old, new) old
#endif
int main(void)
{
    int *old = malloc(40);
    if (!old)
        return 1;
    old[2] = 1;
    free(old);
    int *new = malloc(40);
    if (!new)
        return 1;
    new[2] = 2;
    AGAIN(old, new)[2] = 3; //! use-after-free
    printf("%d\n", new[2] > 1);
    free(new);
    return 0;
}
