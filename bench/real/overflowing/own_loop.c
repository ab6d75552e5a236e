/* A loop of the program's own runs over the end of a member of a struct, then over the struct's. */
#include <stdio.h>
#include <string.h>

struct field { char key[6]; short kind; int values[4]; };

static int parse(const char *text) {
    struct field field = {"", 7, {1, 2, 3, 4}};
    int at = 0;
    while (text[at]) {
        field.key[at] = text[at];
        at++;
    }
    printf("%.6s %d %d\n", field.key, field.kind, field.values[1]);
    fflush(stdout);
    return field.kind != 7;
}

int main(int count, char **arguments) {
    return parse(count > 1 ? arguments[1] : "key");
}
