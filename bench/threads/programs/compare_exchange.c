/* race: a spin lock of compare and exchange, whose orders are relaxed */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#ifdef RIGHT
enum { TAKE = memory_order_acquire, GIVE = memory_order_release };
#else
enum { TAKE = memory_order_relaxed, GIVE = memory_order_relaxed };
#endif

static atomic_bool taken;
static int total;

static void *add(void *unused)
{
    bool expected = false;
    while (!atomic_compare_exchange_weak_explicit(&taken, &expected, true, TAKE, memory_order_relaxed)) {
        expected = false;
        sched_yield();
    }
    total += 4; //!
    atomic_store_explicit(&taken, false, GIVE);
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
