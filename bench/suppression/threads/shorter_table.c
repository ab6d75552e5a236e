/* race: a table becomes shorter between the reading of its length and of its place */
#include <pthread.h>
#include <sched.h>
#include <stddef.h>

static int number = 6;
static int *large[4] = {&number, &number, &number, &number};
static int *small[1] = {&number};
static int **table = large;
static int length = 4, found;

static void *read_last(void *unused)
{
    int last = length - 1;
    sched_yield();
    found = *table[last]; //!
    return unused;
}

static void *shorten(void *unused)
{
    length = 1;
    table = small; //!
    return unused;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, read_last, NULL);
    pthread_create(&other, NULL, shorten, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return found != 6;
}
