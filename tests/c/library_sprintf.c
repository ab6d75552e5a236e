// A formatted text depends on all that was formatted.
#include <stdio.h>
#include <stdlib.h>
int sink;
int main(void) {
    int a = 4; //+
    int b = 2; //+
    int c = 9;
    char text[20], other[20];
    sprintf(text, "%d%d", a, b); //+
    sprintf(other, "%d", c);
    sink = atoi(text); //?
    return other[0] != '9';
}
