// main calls itself.
//: arguments a b c
#include <stdio.h>
int main(int count, char **arguments) {
    if (count > 1) {
        int below = main(count - 1, arguments);
        printf("%d %s\n", count, arguments[count - 1]);
        return below + 1;
    }
    return 0;
}
//: ends exit 3
