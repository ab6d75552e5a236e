// volatile accesses stay, _Bool is one byte of 0 or 1.
#include <stdbool.h>
#include <stdio.h>
int sink;
static volatile int port;
static bool negate(bool b) { return !b; }
int main(void) {
    bool flag = 42; //+
    volatile bool other = flag; //+
    port = 1;
    port = port + 1;
    bool pair[3] = {true, 0, 256};
    int sum = pair[0] + pair[1] + pair[2] + negate(other) + port;
    printf("%d %d %d\n", flag, other, sum);
    sink = other; //?
    return 0;
}
