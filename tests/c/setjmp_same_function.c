// Recursion through the function that called setjmp: longjmp must find the frame that is meant.
#include <setjmp.h>
#include <stdio.h>
static jmp_buf places[8];
static int level(int n) {
    int local = n;
    if (setjmp(places[n])) {
        printf("back at %d\n", local);
        return local * 100;
    }
    if (n == 5)
        longjmp(places[2], 1);
    int below = level(n + 1);
    return below + local;
}
int main(void) {
    printf("%d\n", level(0));
    return 0;
}
