// Constructors run before main and the recorder, destructors after.
#include <stdio.h>
#include <stdlib.h>
static int *table;
static int order;
static int fill(int n) { return n * 2; }
__attribute__((constructor(102))) static void early(void) { order = order * 10 + 1; }
__attribute__((constructor)) static void late(void) {
    order = order * 10 + 2;
    table = malloc(4 * sizeof *table);
    for (int i = 0; i < 4; i++)
        table[i] = fill(i);
}
__attribute__((destructor)) static void finish(void) {
    printf("finish %d\n", table[3]);
    free(table);
}
int main(void) {
    printf("%d %d\n", order, table[2]);
    return 0;
}
