// 128-bit integers, as values, arguments, results and in memory.
#include <stdio.h>
int sink;
typedef unsigned __int128 huge;
static huge multiply(huge a, unsigned long b) { return a * b; } //+
static void print(huge x) { printf("%016lx%016lx\n", (unsigned long)(x >> 64), (unsigned long)x); }
int main(void) {
    huge table[2] = {1, 2};
    huge x = 0xffffffffffffffff; //+
    table[1] = multiply(x, 0xfedcba9876543210); //+
    print(table[1]);
    print(table[1] / 1000003);
    __int128 negative = -5;
    printf("%ld\n", (long)(negative * 3));
    sink = (int)(table[1] >> 70); //?
    return 0;
}
