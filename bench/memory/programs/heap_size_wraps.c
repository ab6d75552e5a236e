/* The product of number and size wraps, so the block is small. */
#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>
struct pair { int a, b; };
static struct pair *make(uint32_t n)
{
#ifdef RIGHT
    size_t bytes = (size_t)n * sizeof(struct pair);
#else
    uint16_t bytes = n * sizeof(struct pair);
#endif
    return malloc(bytes);
}
int main(void)
{
    struct pair *v = make(8200);
    if (!v)
        return 1;
    for (int i = 0; i < 20; i++)
        v[i].b = i; //! out-of-bounds
    printf("%d\n", v[0].b);
    free(v);
    return 0;
}
