/* search: finds a number among sorted ones by halving. */
#include <stdio.h>
#include <stdlib.h>

static int find(const int *sorted, int count, int wanted)
{
    int low = 0, high = count - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (sorted[middle] <= wanted)
            low = middle;
        else
            high = middle - 1;
    }
    return count > 0 && sorted[low] == wanted ? low : -1;
}

int main(int argc, char **argv)
{
    int numbers[100], count = 0;
    for (int i = 2; i < argc && count < 100; i++)
        numbers[count++] = atoi(argv[i]);
    printf("%d\n", find(numbers, count, argc > 1 ? atoi(argv[1]) : 0));
    return 0;
}
