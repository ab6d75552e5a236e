// main ends without a return statement.
#include <stdio.h>
int main(void) {
    printf("done\n");
}
