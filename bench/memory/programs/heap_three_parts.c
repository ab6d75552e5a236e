/* Three parts are put together, and the room was reckoned for two. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
    const char *a = "alpha", *b = "beta", *c = "gamma";
#ifdef RIGHT
    char *all = malloc(strlen(a) + strlen(b) + strlen(c) + 1);
#else
    char *all = malloc(strlen(a) + strlen(b) + 1);
#endif
    if (!all)
        return 1;
    char *end = stpcpy(all, a);
    end = stpcpy(end, b);
    stpcpy(end, c); //! out-of-bounds
    printf("%d\n", all[0]);
    free(all);
    return 0;
}
