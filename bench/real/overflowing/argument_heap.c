/* A long argument is copied into a block of the heap: the C library finds the next block's size broken. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int count, char **arguments) {
    char *word = malloc(24);
    char *other = malloc(24);
    strcpy(other, "other");
    strcpy(word, count > 1 ? arguments[1] : "word");
    printf("%s %s\n", word, other);
    fflush(stdout);
    free(other);
    free(word);
    return 0;
}
