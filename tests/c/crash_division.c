// A division by zero
//: ends signal 8
#include <unistd.h>
static int divide(int a, int b) { return a / b; } //!
int main(int argc, char **argv) {
    (void)argv;
    write(1, "x\n", 2);
    return divide(argc, argc - 1);
}
