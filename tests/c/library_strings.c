// strcpy and strcat copy bytes, strlen and strchr read them.
#include <string.h>
int sink;
int main(void) {
    char source[8] = "ab";
    char tail[8] = "cd";
    char text[16];
    source[1] = 'x'; //+
    tail[0] = 'y';
    strcpy(text, source); //+
    strcat(text, tail);
    text[2] = 'z';
    sink = text[1]; //?
    return strlen(text) != 4;
}
