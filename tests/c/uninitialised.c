// What an uninitialised local holds is whatever the stack held: reading it neither crashes nor ends the run.
#include <stdio.h>
#include <string.h>
static int leave(void) {
    volatile char area[256];
    memset((char *)area, 0, sizeof area);
    return area[7];
}
static int read(int choose) {
    int maybe;
    char text[16];
    if (choose)
        maybe = 5;
    text[3] = 0;
    return choose ? maybe : (maybe & 0) + (text[2] & 0);
}
int main(void) {
    leave();
    printf("%d %d\n", read(1), read(0));
    return 0;
}
