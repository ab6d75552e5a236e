// _exit: nothing is flushed, nothing runs any more.
//: ends killed
//: status 5
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static void bye(void) { printf("bye\n"); }
int main(void) {
    atexit(bye);
    write(1, "x\n", 2);
    printf("lost");
    _exit(5); //!
}
