// The smallest number divided by -1 traps.
//: ends signal 8
#include <limits.h>
int main(void) {
    int least = INT_MIN, minus = -1;
    return (least % minus) * 0;
}
