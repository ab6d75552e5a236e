/* A counter that only one branch sets. */
#include <stdio.h>
#ifdef RIGHT
#define START = 0
#else
#define START
#endif
static int state(int argc)
{
    int found START;
    if (argc > 5)
        found = 1;
    if (found == 12345) //! uninitialised
        return 2;
    return 1;
}
int main(int argc, char **argv)
{
    (void)argv;
    printf("%d\n", state(argc) > 0);
    return 0;
}
