/* The block of alloca is one element short. */
#include <alloca.h>
#include <stdio.h>
#ifdef RIGHT
#define LESS 0
#else
#define LESS 1
#endif
static long sum(int n)
{
    long *part = alloca((n - LESS) * sizeof *part), all = 0;
    for (int i = 0; i < n; i++)
        part[i] = i * 3; //! out-of-bounds
    for (int i = 0; i < n - 1; i++)
        all += part[i];
    return all;
}
int main(void) { printf("%ld\n", sum(6)); return 0; }
