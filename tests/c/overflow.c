// Signed overflow wraps, as it does without optimisation, and tests for it work.
#include <limits.h>
#include <stdio.h>
static int grows(int n) { return n + 1 > n; }
static int same(int n) { return n * 2 / 2 == n; }
int main(void) {
    int large = INT_MAX;
    int count = 0;
    for (int i = INT_MAX - 3; i > 0; i++)
        count++;
    unsigned char *low = (unsigned char *)16;
    printf("%d %d %d %d %d\n", grows(large), same(large), count, large + 1 < 0, low - 32 > low);
    return 0;
}
