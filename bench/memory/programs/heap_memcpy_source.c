/* More is copied than the source has. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef RIGHT
#define LENGTH 12
#else
#define LENGTH 16
#endif
int main(void)
{
    char *source = calloc(1, 12), target[32];
    if (!source)
        return 1;
    memcpy(target, source, LENGTH); //! out-of-bounds
    printf("%d\n", target[0]);
    free(source);
    return 0;
}
