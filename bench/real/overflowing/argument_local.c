/* A long argument is copied into a local array: the return address of `greet` is overwritten. */
#include <stdio.h>
#include <string.h>

static int greet(const char *name) {
    char copy[16];
    int length = (int)strlen(name);
    strcpy(copy, name);
    printf("hello %s, %d letters\n", copy, length);
    return length > 40;
}

int main(int count, char **arguments) {
    return greet(count > 1 ? arguments[1] : "nobody");
}
