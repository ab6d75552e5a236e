/* A text is compared after it was given back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
    char *name = strdup("compass");
    if (!name)
        return 1;
#ifdef RIGHT
    int same = strcmp(name, "compass") == 0;
    free(name);
#else
    free(name);
    int same = strcmp(name, "compass") == 0; //! use-after-free
#endif
    printf("%d\n", same < 2);
    return 0;
}
