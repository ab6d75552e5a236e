// What setjmp yields the second time depends on the longjmp.
#include <setjmp.h>
#include <stdio.h>
static jmp_buf place;
static int check(int n) {
    if (n > 10) //+
        longjmp(place, 1); //+
    return n;
}
int main(void) {
    int small = 3;
    int large = 30; //+
    int failed = setjmp(place); //+
    if (!failed) { //+
        check(small);
        check(large); //+
        return 1;
    }
    printf("%d\n", failed); //?
    return 0;
}
