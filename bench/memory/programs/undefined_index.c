/* The place in a table comes from a member that nobody set. */
#include <stdio.h>
struct key { int used; int place; };
static int table[4] = {1, 1, 1, 1};
static int pick(const struct key *key) { return table[key->place & 3]; } //! uninitialised
int main(void)
{
    struct key key;
    key.used = 1;
#ifdef RIGHT
    key.place = 2;
#endif
    printf("%d\n", pick(&key));
    return 0;
}
