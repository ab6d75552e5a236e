// Static data was there before the run: it has no definition in it.
#include <stdio.h>
int sink;
static int table[3][2] = {{1, 2}, {3, 4}, {5, 6}};
static const char *const names[] = {"zero", "one", [5] = "five"};
static struct { int *where; int offset; } reference = {&table[1][1], 7};
static int counter(void) {
    static int count = 40;
    return ++count;
}
int main(void) {
    int row = 2; //+
    counter();
    printf("%s %s %d %d\n", names[1], names[5], *reference.where + reference.offset, counter());
    sink = table[row][1]; //?
    return 0;
}
