/* A line is taken for longer than the block that getline made of it. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef RIGHT
#define ROOM 6
#else
#define ROOM 3
#endif
int main(void)
{
    char *line = NULL;
    size_t size = 0;
    FILE *file = tmpfile();
    if (!file)
        return 1;
    fputs("tides\n", file);
    rewind(file);
    ssize_t length = getline(&line, &size, file);
    if (length < 0)
        return 1;
    char *copy = malloc(ROOM);
    if (!copy)
        return 1;
    for (ssize_t i = 0; i < length; i++)
        copy[i] = line[i]; //! out-of-bounds
    printf("%c\n", copy[0]);
    free(line);
    free(copy);
    fclose(file);
    return 0;
}
