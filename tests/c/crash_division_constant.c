// A division by zero that a compiler could foresee.
//: ends signal 8
#include <stdio.h>
int main(void) {
    int total = 10, count = 0;
    setvbuf(stdout, NULL, _IONBF, 0);
    printf("start\n");
    int mean = total / count; //!
    printf("%d\n", mean);
    return 0;
}
