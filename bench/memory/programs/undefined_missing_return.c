/* One way through a function gives no result. */
#include <stdio.h>
static int sign(int number)
{
    if (number < 0)
        return -1;
    if (number > 0)
        return 1;
#ifdef RIGHT
    return 0;
#endif
}
int main(int argc, char **argv)
{
    (void)argv;
    int result = sign(argc - 1);
    if (result == 77) //! uninitialised
        puts("odd");
    puts("done");
    return 0;
}
