// Functions without a summary: their results depend on their arguments, and so may what these point to.
#define _GNU_SOURCE
#include <string.h>
#include <unistd.h>
int sink;
int main(void) {
    int n = 3; //+
    int other = 4;
    char text[4] = "abc", swapped[4];
    swab(text, swapped, 2);
    int both = ffsll(n << 4); //+
    int neither = ffsll(other);
    sink = both; //?
    return neither - 3 + swapped[0] - 'b';
}
