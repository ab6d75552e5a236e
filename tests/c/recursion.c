// Each frame has locals of its own: the slice of the result holds all of them, but nothing of the other recursion.
#include <stdio.h>
static int depth(int n) {
    int below = n > 0 ? depth(n - 1) : 0;
    return below + 1;
}
static int factorial(int n) {
    if (n <= 1) //+
        return 1; //+
    int rest = factorial(n - 1); //+
    return n * rest; //+
}
static int even(int n);
static int odd(int n) { return n == 0 ? 0 : even(n - 1); }
static int even(int n) { return n == 0 ? 1 : odd(n - 1); }
int main(void) {
    int d = depth(7);
    int five = 5; //+
    int f = factorial(five); //+
    printf("%d %d %d\n", d, even(10), odd(7));
    printf("%d\n", f); //?
    return 0;
}
