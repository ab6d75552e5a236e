// Modules with statics of equal names, a weak and a strong definition, an inline function, a common variable.
#include <stdio.h>
int one(int), two(int), which(void);
int shared;
static int state = 100;
static int step(int n) { return n + state; }
__attribute__((weak)) int which(void) { return 1; }
int (*pick(int n))(int);
int main(void) {
    int start = 3; //+
    int a = one(5);
    int b = two(start); //+
    shared += step(1);
    printf("%d %d %d %d\n", a, which(), shared, pick(1)(1));
    printf("%d\n", b); //?
    return 0;
}
