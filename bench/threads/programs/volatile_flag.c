/* race: data is handed over by a volatile flag */
#include <pthread.h>
#include <stdatomic.h>

#ifdef RIGHT
static atomic_int ready;
#else
static volatile int ready;
#endif
static int data;

static void *produce(void *unused)
{
    data = 7; //!
    ready = 1; //!
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, produce, NULL);
    while (!ready) //!
        ;
    int found = data; //!
    pthread_join(thread, NULL);
    return found != 7;
}
