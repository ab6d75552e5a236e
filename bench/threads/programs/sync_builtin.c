/* race: a spin lock of __sync builtins is given back by a plain write */
#include <pthread.h>
#include <sched.h>

static int taken;
static int total;

static void *add(void *unused)
{
    while (__sync_lock_test_and_set(&taken, 1)) //!
        sched_yield();
    total += 4; //!
#ifdef RIGHT
    __sync_lock_release(&taken);
#else
    taken = 0; //!
#endif
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, add, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return total != 8;
}
