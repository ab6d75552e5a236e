// longjmp out of nested and recursive frames, several times, to the nearest and to an outer setjmp.
#include <setjmp.h>
#include <stdio.h>
static jmp_buf outer, inner;
static int sink;
static void dive(int n) {
    if (n == 0)
        longjmp(inner, 7);
    dive(n - 1);
    printf("never\n");
}
static int recurse(int n) {
    int here = n * 10;
    if (n == 0) {
        if (!setjmp(inner))
            dive(3);
        return here;
    }
    return recurse(n - 1) + here;
}
static void leave(int code) { longjmp(outer, code); }
int main(void) {
    volatile int rounds = 0;
    int code = setjmp(outer);
    printf("round %d code %d\n", rounds, code);
    rounds++;
    if (rounds == 1) {
        printf("%d\n", recurse(4));
        leave(3);
    }
    if (rounds == 2)
        leave(rounds * 2);
    int last = 1; //+
    sink = last; //?
    printf("%d\n", recurse(2));
    return 0;
}
