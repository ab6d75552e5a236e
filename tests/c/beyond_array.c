// Reads beyond arrays within one object, of constant data too.
#include <stdio.h>
static const struct { int first[2]; int second[2]; } table = {{1, 2}, {3, 4}};
int main(void) {
    struct { char name[4]; char rest[4]; } text = {"abc", "def"};
    int sum = 0;
    for (int i = 0; i < 4; i++)
        sum = sum * 10 + table.first[i];
    text.name[3] = '-';
    int at = 5;
    text.name[at] = 'E';
    printf("%d %s\n", sum, text.name);
    return 0;
}
