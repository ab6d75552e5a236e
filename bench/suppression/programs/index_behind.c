/* The counter behind a table is written over; it indexes another one later. */
#include <stdio.h>
#include <string.h>
static struct {
    int marks[4];
    int current;
} state;
static int values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
static void mark(int count, int value)
{
    for (int i = 0; i < count; i++)
        state.marks[i] = value; //! out-of-bounds
}
int main(void)
{
    state.current = 2;
#ifdef RIGHT
    mark(4, 70000000);
#else
    mark(5, 70000000);
#endif
    int sum = 0;
    for (int i = 0; i < 100; i++)
        sum += i;
    sum += values[state.current];
    printf("%d\n", sum);
    return 0;
}
