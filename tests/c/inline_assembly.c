// Inline assembly is opaque: registers in and out, and memory clobbered.
#include <stdio.h>
static unsigned rotate(unsigned x, unsigned char n) {
    __asm__("roll %%cl, %0" : "+r"(x) : "c"(n));
    return x;
}
static long swap(long *where, long value) {
    __asm__ volatile("xchgq %0, %1" : "+r"(value), "+m"(*where) : : "memory");
    return value;
}
int main(void) {
    long cell = 11;
    long old = swap(&cell, 22);
    int carry;
    __asm__("addl $1, %1\n\tsetc %b0" : "=q"(carry) : "r"(-1) : "cc");
    __asm__ volatile("" : : : "memory");
    printf("%u %ld %ld %d\n", rotate(0x80000001u, 4), old, cell, carry & 1);
    return 0;
}
