/* assertion: mutual exclusion by flags and a turn, with the turn given before the flag is raised */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_int wants[2], turn, inside;

static void *enter(void *number)
{
    int own = (int)(long)number, other = 1 - own;
#ifdef RIGHT
    wants[own] = 1;
    turn = other;
#else
    turn = other; //!
    wants[own] = 1; //!
#endif
    while (wants[other] && turn == other)
        sched_yield();
    assert(atomic_fetch_add(&inside, 1) == 0); //!
    atomic_fetch_sub(&inside, 1); //!
    wants[own] = 0;
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, enter, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
