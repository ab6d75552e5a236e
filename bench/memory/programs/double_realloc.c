/* realloc gives the old block back, and so does the caller. */
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    char *small = malloc(16), *stop = malloc(16);
    if (!small || !stop)
        return 1;
    char *large = realloc(small, 5000);
    if (!large)
        return 1;
    puts("grown");
    fflush(stdout);
    free(large);
#ifndef RIGHT
    free(small); //! double-free
#endif
    free(stop);
    return 0;
}
