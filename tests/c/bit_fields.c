// Bit-fields share a word: an assignment reads, masks and stores the whole unit.
#include <stdio.h>
struct flags { unsigned a : 3, b : 5; int c : 7; unsigned long d : 40; _Bool e : 1; };
int main(void) {
    struct flags f = {0};
    f.a = 5;
    f.b = 17;
    f.c = -3;
    f.d = 123456789012;
    f.e = 7;
    f.a++;
    f.b -= 20;
    struct flags copy = f;
    copy.c <<= 2;
    printf("%u %u %d %lu %d\n", f.a, f.b, f.c, (unsigned long)f.d, f.e);
    printf("%u %u %d %lu %d\n", copy.a, copy.b, copy.c, (unsigned long)copy.d, copy.e);
    return 0;
}
