/* A long argument is copied into a static array: the pointer behind it is overwritten. */
#include <stdio.h>
#include <string.h>

static struct entry { int number; char name[8]; } entries[2] = {{1, "one"}, {2, "two"}};
static char title[24] = "untitled";
static struct entry *chosen = entries;
static int shown = 1;

int main(int count, char **arguments) {
    if (count > 1)
        strcpy(title, arguments[1]);
    printf("%s: ", title);
    fflush(stdout);
    if (shown)
        printf("%d %s\n", chosen->number, chosen->name);
    return 0;
}
