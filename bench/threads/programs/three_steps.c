/* atomicity: a value goes wrong only if the other thread comes between three times */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int turn;
static atomic_int wrong;

static void *watch(void *unused)
{
#ifdef RIGHT
    int seen = atomic_load(&turn);
    wrong = seen < 0;
#else
    int first = atomic_load(&turn); //!
    int second = atomic_load(&turn); //!
    int third = atomic_load(&turn); //!
    wrong = first == 1 && second == 2 && third == 3;
#endif
    return unused;
}

static void *change(void *unused)
{
    for (int i = 1; i <= 3; i++)
        atomic_store(&turn, i); //!
    return unused;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, watch, NULL);
    pthread_create(&other, NULL, change, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    assert(!wrong);
    return 0;
}
