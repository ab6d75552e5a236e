/* The pointer is that of the other table: what is written through it spoils an index, and the block is given back twice. */
#include <stdio.h>
#include <stdlib.h>
#ifdef RIGHT
#define OTHER shelf
#else
#define OTHER crate
#endif
struct item {
    int weight;
};
static int weights[] = {2, 3, 4, 900000000}, next;
static int read_weight(void) { return weights[next++]; }
int main(void)
{
    int *crate = malloc(8), *shelf = malloc(8), *counts = calloc(16, sizeof *counts);
    struct item **items = calloc(1000, sizeof *items), one = {0};
    items[3] = &one;
    int *a = &crate[1], *b = &crate[0];
    int *c = &shelf[1], *d = &OTHER[0]; //! wrong-pointer
    *a = read_weight();
    *b = read_weight();
    *c = read_weight();
    *d = read_weight();
    int at = *a + *b + *c;
    counts[at] = 0;
    items[*b]->weight = 1;
    free(b);
    free(d);
    return 0;
}
