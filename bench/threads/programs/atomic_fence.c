/* race: a relaxed flag without the fences that would order what lies around it */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int ready;
static int data;

static void *produce(void *unused)
{
    data = 7; //!
#ifdef RIGHT
    atomic_thread_fence(memory_order_release);
#endif
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, produce, NULL);
    while (!atomic_load_explicit(&ready, memory_order_relaxed))
        ;
#ifdef RIGHT
    atomic_thread_fence(memory_order_acquire);
#endif
    int found = data; //!
    pthread_join(thread, NULL);
    return found != 7;
}
