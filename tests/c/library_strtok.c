// strtok remembers where it was: the second token depends on the first call.
#include <string.h>
int sink;
int main(void) {
    char text[16];
    char other[] = "q r";
    text[0] = 'a'; //+
    text[1] = ' '; //+
    text[2] = 'b'; //+
    text[3] = 0; //+
    char *first = strtok(text, " "); //+
    char *second = strtok(NULL, " "); //+
    char *third = strtok(other, " ");
    sink = *second; //?
    return *first != 'a' || *third != 'q';
}
