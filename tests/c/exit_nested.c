// exit in nested calls.
//: ends exit 7
#include <stdio.h>
#include <stdlib.h>
static void bye(void) { printf("bye\n"); }
static void stop(int n) {
    if (n == 0)
        exit(7);
    stop(n - 1);
}
int main(void) {
    atexit(bye);
    printf("start\n");
    stop(4);
    return 1;
}
