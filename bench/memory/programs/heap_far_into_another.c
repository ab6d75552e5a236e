/* The index is so far off that it hits another living block: red zones do not see it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef RIGHT
#define AT(from, to) 2
#else
#define AT(from, to) ((to) - (from) + 8)
#endif
int main(void)
{
    char *one = malloc(64), *two = malloc(64);
    if (!one || !two)
        return 1;
    memset(one, 'a', 64);
    memset(two, 'b', 64);
    long at = AT(one, two);
    one[at] = 'c'; //! out-of-bounds
    printf("%c\n", one[0]);
    free(one);
    free(two);
    return 0;
}
