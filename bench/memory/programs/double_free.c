/* Two owners give the same block back; another one is given back between. */
#include <stdio.h>
#include <stdlib.h>
struct pair { char *left, *right; };
int main(void)
{
    char *shared = malloc(24), *other = malloc(24);
    struct pair pair = {shared, shared};
    if (!shared || !other)
        return 1;
    puts("begin");
    fflush(stdout);
    free(pair.left);
    free(other);
#ifdef RIGHT
    pair.right = NULL;
#endif
    free(pair.right); //! double-free
    puts("end");
    return 0;
}
