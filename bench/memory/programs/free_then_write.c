/* A second owner writes into a block that the first one gave back. */
#include <stdio.h>
#include <stdlib.h>
struct owner { char *block; };
static void drop(struct owner *owner) { free(owner->block); }
#ifdef RIGHT
#define ORDER(one, two) ((two)->block[0] = 'x', drop(one))
#else
#define ORDER(one, two) (drop(one), (two)->block[0] = 'x')
#endif
int main(void)
{
    struct owner one = {malloc(32)}, two = one;
    if (!one.block)
        return 1;
    ORDER(&one, &two); //! use-after-free
    printf("done\n");
    return 0;
}
