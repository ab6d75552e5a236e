// Shifts by more than the width take the count modulo the width, as the processor does.
#include <stdio.h>
int main(void) {
    int by = 40, one = 1, negative = -3;
    long wide = 1;
    printf("%d %ld %d %ld\n", one << by, wide << (by + 64), negative >> (by + 1), wide << negative);
    return 0;
}
