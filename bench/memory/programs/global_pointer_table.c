/* Pointers to static arrays in a static table. */
#include <stdio.h>
#ifdef RIGHT
#define COUNT 3
#else
#define COUNT 4
#endif
static int first[3], second[5];
static int *const rows[] = {first, second};
static void clear(int *const *table, int row)
{
    int *cells = table[row];
    for (int i = 0; i < COUNT; i++)
        cells[i] = 1;
}
static void clear_first(int count)
{
    int *cells = first;
    while (count--)
        *cells++ = 1; //! out-of-bounds
}
int main(void)
{
    clear(rows, 1);
    clear_first(COUNT);
    printf("%d\n", first[0] + second[0]);
    return 0;
}
