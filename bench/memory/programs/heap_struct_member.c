/* The block is of the size of the pointer, not of what it points to. */
#include <stdio.h>
#include <stdlib.h>
struct crate { long weight; long height; int number; };
#ifdef RIGHT
#define SIZE(p) sizeof *(p)
#else
#define SIZE(p) sizeof(p)
#endif
int main(void)
{
    struct crate *crate = malloc(SIZE(crate));
    if (!crate)
        return 1;
    crate->weight = 1;
    crate->number = 3; //! out-of-bounds
    printf("%ld\n", crate->weight);
    free(crate);
    return 0;
}
