/* race: data is handed over by a relaxed flag */
#include <pthread.h>
#include <stdatomic.h>

#ifdef RIGHT
enum { STORE = memory_order_release, LOAD = memory_order_acquire };
#else
enum { STORE = memory_order_relaxed, LOAD = memory_order_relaxed };
#endif

static atomic_int ready;
static int data;

static void *produce(void *unused)
{
    data = 7; //!
    atomic_store_explicit(&ready, 1, STORE);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, produce, NULL);
    while (!atomic_load_explicit(&ready, LOAD))
        ;
    int found = data; //!
    pthread_join(thread, NULL);
    return found != 7;
}
