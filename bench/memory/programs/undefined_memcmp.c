/* Two keys are compared, of which one was never filled. */
#include <stdlib.h>
#include <string.h>
struct key { short kind; int number; };
int main(void)
{
    static struct key wanted = {1, 7};
    struct key *found = malloc(sizeof *found);
    if (!found)
        return 1;
#ifdef RIGHT
    found->kind = 1;
    found->number = 7;
#endif
    int same = memcmp(found, &wanted, sizeof wanted) == 0; //! uninitialised
    free(found);
    return same > 1;
}
