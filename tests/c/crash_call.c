// A call through a null pointer
//: ends signal 11
#include <unistd.h>
int main(void) {
    void (*volatile nothing)(void) = 0;
    write(1, "x\n", 2);
    nothing(); //!
    return 0;
}
