// abort
//: ends signal 6
#include <stdlib.h>
#include <unistd.h>
int main(void) {
    write(1, "x\n", 2);
    abort(); //!
}
