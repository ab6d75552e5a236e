// Conversions of numbers that do not fit.
#include <stdio.h>
int main(void) {
    double large = 1e20, negative = -5.5;
    float tiny = 1e-30f;
    unsigned u = (unsigned)negative;
    printf("%d %u %lu\n", (int)large, u + 1, (unsigned long)(long)negative);
    printf("%d %d %.3g\n", (signed char)300, (short)-40000, (double)(tiny * tiny));
    return 0;
}
