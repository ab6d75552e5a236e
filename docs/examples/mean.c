/* mean: prints how many values it was given, their mean, and how many lie above it. */
#include <stdio.h>
#include <stdlib.h>

static int sum(const int *values, int count)
{
    int total = 0;
    for (int i = 1; i < count; i++)
        total += values[i];
    return total;
}

int main(int argc, char **argv)
{
    int values[100], count = 0, above = 0;
    for (int i = 1; i < argc && count < 100; i++)
        values[count++] = atoi(argv[i]);
    if (count == 0)
        return 1;
    int mean = sum(values, count) / count;
    for (int i = 0; i < count; i++)
        if (values[i] > mean)
            above++;
    printf("%d values, mean %d, %d above\n", count, mean, above);
    return 0;
}
