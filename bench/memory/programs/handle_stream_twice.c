/* A stream is closed by the function that reads it and once more by its owner. */
#include <stdio.h>

struct source {
    FILE *in;
    int first;
};

static int peek(struct source *source)
{
    source->first = fgetc(source->in);
#ifndef RIGHT
    if (source->first == EOF)
        fclose(source->in);
#endif
    return source->first;
}

int main(void)
{
    struct source source = {fopen("/dev/null", "r"), 0};
    if (!source.in)
        return 2;
    int is_empty = peek(&source) == EOF;
    fclose(source.in); //! double-free
    return is_empty ? 0 : 1;
}
