/* An array of a size that is computed is one too short. */
#include <stdio.h>
#include <stdlib.h>
#ifdef RIGHT
#define MORE 1
#else
#define MORE 0
#endif
static int count(int n)
{
    int marks[n + MORE];
    for (int i = 0; i <= n; i++)
        marks[i] = i; //! out-of-bounds
    return marks[n - 1];
}
int main(int argc, char **argv)
{
    (void)argv;
    printf("%d\n", count(argc + 4));
    return 0;
}
