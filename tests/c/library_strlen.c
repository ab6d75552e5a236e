// The length of a string depends on all of its bytes.
#include <string.h>
int sink;
int main(void) {
    char text[8];
    char other[8];
    other[0] = 0;
    text[0] = 'a'; //+
    text[1] = 'b'; //+
    text[2] = 0; //+
    text[3] = 'c';
    sink = (int)strlen(text); //?
    return (int)strlen(other);
}
