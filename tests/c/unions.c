// Unions: bytes written under one type and read under another.
#include <stdio.h>
#include <stdint.h>
int sink;
union bits { float f; uint32_t u; uint8_t bytes[4]; struct { uint16_t low, high; } half; };
int main(void) {
    union bits b;
    b.f = 1.0f;
    printf("%08x %d %d\n", b.u, b.bytes[3], b.half.high);
    b.u = 0x01020304; //+
    b.bytes[0] = 9;
    b.half.high = 5;
    printf("%08x %g\n", b.u, (double)b.f);
    b.bytes[2] = 7;
    sink = b.bytes[1]; //?
    printf("%08x\n", b.u);
    return 0;
}
