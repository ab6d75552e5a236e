// Stack memory of sizes known at run time.
#include <alloca.h>
#include <stdio.h>
int sink;
static int squares(int n) {
    int table[n][n];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            table[i][j] = i * j;
    int total = 0;
    for (int i = 0; i < n; i++)
        total += table[i][i] + (int)(sizeof table[0] / sizeof(int));
    return total;
}
static long chain(int n) {
    long *previous = NULL;
    for (int i = 0; i < n; i++) {
        long *block = alloca(2 * sizeof(long));
        block[0] = (long)previous;
        block[1] = i;
        previous = block;
    }
    long total = 0;
    for (; previous; previous = (long *)previous[0])
        total = total * 3 + previous[1];
    return total;
}
int main(void) {
    int n = 4;
    int cells[n];
    for (int i = 0; i < n; i++)
        cells[i] = i * i;
    cells[2] = 77; //+
    printf("%d %d %ld\n", squares(5), squares(1), chain(10));
    sink = cells[2]; //?
    return 0;
}
