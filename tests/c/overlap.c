// Partial overlaps: a wide load comes from all the stores that left bytes in it.
#include <string.h>
int sink;
int main(void) {
    union { unsigned word; unsigned char byte[4]; unsigned short half[2]; } u;
    u.word = 0x11223344; //+
    u.byte[0] = 1;
    u.byte[0] = 2; //+
    u.byte[3] = 3;
    u.half[1] = 4; //+
    sink = (int)u.word; //?
    return 0;
}
