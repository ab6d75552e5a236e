/* race: the place that one thread works at is kept where another one keeps its own */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

enum { ROWS = 4, NOWHERE = 1 << 28 };

static int *rows[ROWS];
static int at;

static void *fill(void *unused)
{
    at = 2; //!
    sched_yield();
    *rows[at] = 7; //!
    return unused;
}

static void *rest(void *unused)
{
    at = NOWHERE; //!
    return unused;
}

int main(void)
{
    pthread_t one, other;
    for (int i = 0; i < ROWS; i++)
        rows[i] = malloc(sizeof **rows);
    pthread_create(&one, NULL, fill, NULL);
    pthread_create(&other, NULL, rest, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}
