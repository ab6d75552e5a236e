/* Two keys are compared by the length of a longer one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef RIGHT
#define LENGTH 4
#else
#define LENGTH 6
#endif
int main(void)
{
    char *one = malloc(4), *two = malloc(16);
    if (!one || !two)
        return 1;
    memcpy(one, "keyA", 4);
    memcpy(two, "keyA------------", 16);
    printf("%d\n", memcmp(one, two, LENGTH) < 2); //! out-of-bounds
    free(one);
    free(two);
    return 0;
}
