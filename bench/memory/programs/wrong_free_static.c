/* A text constant is given back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char *name_of(int number)
{
#ifdef RIGHT
    return strdup(number ? "one" : "none");
#else
    return number ? "one" : "none";
#endif
}
int main(int argc, char **argv)
{
    (void)argv;
    char *name = name_of(argc);
    puts(name);
    fflush(stdout);
    free(name); //! wrong-free
    return 0;
}
