/* poster: prints a title, and the lengths of the words below it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct words {
    int count;
    char **all;
};

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    char *title = malloc(16);
    struct words *words = malloc(sizeof *words);
    words->count = argc - 2;
    words->all = argv + 2;
    strcpy(title, argv[1]);
    printf("%s\n", title);
    for (int i = 0; i < words->count; i++)
        printf("%s %d\n", words->all[i], (int)strlen(words->all[i]));
    return 0;
}
