// A line that was read comes from the call that read it, which depends on those before it.
//: stdin 12\n34\n56\n
#include <stdio.h>
#include <stdlib.h>
int sink;
int main(void) {
    char first[20], second[20], third[20];
    int size = 20; //+
    if (!fgets(first, 20, stdin)) //+
        return 1;
    if (!fgets(second, size, stdin)) //+
        return 2;
    if (!fgets(third, 20, stdin)) //+
        return 3;
    sink = atoi(second); //?
    return atoi(first) != 12;
}
