// A load through a wild pointer, amid a loop.
//: ends signal 11
#include <stdio.h>
static const int offsets[4] = {0, 1, 2, -(1 << 30)};
int main(void) {
    char values[16] = "abcdefghijklmno";
    long total = 0;
    setvbuf(stdout, NULL, _IONBF, 0);
    for (int i = 0; i < 4; i++) {
        total += values[offsets[i] * 4L]; //!
        printf("%ld\n", total > 0);
    }
    return (int)total;
}
