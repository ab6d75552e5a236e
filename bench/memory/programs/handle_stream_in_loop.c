/* A log of two files is written out; the stream is closed with the first one and used for the second. */
#include <stdio.h>

static void note(FILE *log, const char *name, int number)
{
#ifdef RIGHT
    fprintf(log, "%s %d\n", name, number);
#else
    fprintf(log, "%s %d\n", name, number); //! use-after-free
    fclose(log);
#endif
}

int main(void)
{
    FILE *log = fopen("/dev/null", "w");
    if (!log)
        return 2;
    const char *names[] = {"north", "south"};
    for (int i = 0; i < 2; i++)
        note(log, names[i], i);
#ifdef RIGHT
    fclose(log);
#endif
    return 0;
}
