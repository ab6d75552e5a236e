// Jumps into a loop, out of nested loops, backwards.
#include <stdio.h>
int main(void) {
    int i = 3, total = 0;
    goto middle;
    for (i = 0; i < 6; i++) {
        total += 100;
    middle:
        total += i;
    }
    int tries = 0;
again:
    tries++;
    for (int a = 0; a < 5; a++)
        for (int b = 0; b < 5; b++)
            if (a * b == 6)
                goto found;
found:
    if (tries < 3)
        goto again;
    printf("%d %d\n", total, tries);
    return 0;
}
