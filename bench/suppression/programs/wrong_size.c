/* The size is that of a pointer, not of what it points to: the block is too small, and a later one is spoilt. */
#include <stdio.h>
#include <stdlib.h>
struct wide {
    long a, b, c, d;
};
struct table {
    struct wide *rows;
    int count;
};
static struct wide *new_rows(int count)
{
#ifdef RIGHT
    return malloc((size_t)count * sizeof(struct wide));
#else
    return malloc((size_t)count * sizeof(struct wide *));
#endif
}
int main(void)
{
    struct wide *rows = new_rows(4);
    struct table *table = malloc(sizeof *table);
    table->rows = rows;
    table->count = 4;
    for (int i = 0; i < 4; i++)
        rows[i] = (struct wide){i, i + 1, i + 2, i + 3}; //! out-of-bounds
    long sum = 0;
    for (int i = 0; i < table->count; i++)
        sum += table->rows[i].d;
    printf("%ld\n", sum);
    return 0;
}
