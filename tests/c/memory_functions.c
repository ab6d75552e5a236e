// memcpy, memmove with overlap both ways, memset: bytes keep their origins.
#include <stdio.h>
#include <string.h>
int sink;
int main(void) {
    char text[32] = "abcdefghijklmnopqrstuvwxyz";
    memmove(text + 3, text, 10);
    memmove(text, text + 5, 12);
    printf("%s\n", text);
    char from[16];
    memset(from, 'x', sizeof from);
    from[4] = 'y'; //+
    from[5] = 'z';
    memmove(from + 2, from, 10); //+
    char to[16];
    memcpy(to, from, sizeof to); //+
    memset(to + 8, 0, 8);
    to[7] = 'w';
    sink = to[6]; //?
    printf("%.8s %d\n", to, to[9]);
    return 0;
}
