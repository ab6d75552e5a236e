/* A name runs over a pointer that is followed thousands of steps later. */
#include <stdio.h>
#include <string.h>
#ifdef RIGHT
#define NAME "harbour"
#else
#define NAME "harbour master of the old town"
#endif
struct place {
    char name[16];
    const int *depth;
};
static struct place places[3];
static const int depths[3] = {4, 7, 9};
int main(void)
{
    for (int i = 0; i < 3; i++)
        places[i].depth = &depths[i];
    strcpy(places[1].name, NAME); //! out-of-bounds
    long sum = 0;
    for (int i = 0; i < 3000; i++)
        sum += i % 7;
    for (int i = 0; i < 3; i++)
        sum += *places[i].depth;
    printf("%ld\n", sum);
    return 0;
}
