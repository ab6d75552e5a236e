// SIGPIPE ends the run.
//: ends signal 13
#include <unistd.h>
int main(void) {
    int ends[2];
    if (pipe(ends))
        return 1;
    close(ends[0]);
    write(1, "x\n", 2);
    write(ends[1], "y", 1); //!
    write(1, "z\n", 2);
    return 0;
}
