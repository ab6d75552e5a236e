// main without arguments; a function without a return value used as one is not.
#include <stdio.h>
static void nothing(void) {}
int main() {
    nothing();
    puts("x");
    return 3;
}
//: ends exit 3
