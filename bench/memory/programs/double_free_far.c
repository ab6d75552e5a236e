/* The second time the block has been given to someone else: nothing shows. */
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    char *old = malloc(100);
    if (!old)
        return 1;
    free(old);
    char *new = malloc(100);
    if (!new)
        return 1;
    new[0] = 'n';
#ifdef RIGHT
    free(new);
#else
    free(old); //! double-free
#endif
    puts("end");
    return 0;
}
