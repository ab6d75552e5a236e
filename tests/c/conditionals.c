// Conditional operators and short circuits: the value comes from the side that was taken, and the test that took it.
#include <stdio.h>
static int calls;
static int touch(int n) {
    calls++;
    return n;
}
int main(void) {
    int a = 3; //+
    int left = 10; //+
    int right = 20;
    int chosen = a > 2 ? left : right; //+
    int both = touch(1) && touch(0) && touch(1);
    int either = touch(0) || touch(5) || touch(6);
    int nested = a ? right ? 1 : 2 : 3;
    int elvis = touch(0) ?: 42;
    printf("%d %d %d %d %d\n", both, either, nested, elvis, calls);
    printf("%d\n", chosen); //?
    return 0;
}
