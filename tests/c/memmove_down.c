// A move to lower addresses, one byte at a time and in words.
#include <string.h>
int sink;
int main(void) {
    char text[40];
    for (int i = 0; i < 40; i++)
        text[i] = 'a';
    text[20] = 'b'; //+
    text[21] = 'c';
    memmove(text + 1, text + 4, 30); //+
    memmove(text, text + 1, 30); //+
    sink = text[16]; //?
    return 0;
}
