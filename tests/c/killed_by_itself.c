// A signal whose default is death, sent by the program.
//: ends signal 15
#include <signal.h>
#include <unistd.h>
int main(void) {
    write(1, "x\n", 2);
    raise(SIGTERM); //!
    write(1, "y\n", 2);
    return 0;
}
