/* A pointer to a member outlives the structure. */
#include <stdio.h>
#include <stdlib.h>
struct ship { int crew; char name[12]; };
int main(void)
{
    struct ship *ship = calloc(1, sizeof *ship);
    if (!ship)
        return 1;
    char *name = ship->name;
    int first = 0;
#ifdef RIGHT
    first = name[0];
    free(ship);
#else
    free(ship);
    first = name[0]; //! use-after-free
#endif
    printf("%d\n", first < 1000);
    return 0;
}
