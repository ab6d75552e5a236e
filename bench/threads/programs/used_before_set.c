/* order: a worker uses what the thread that started it sets only afterwards */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static _Atomic(const char *) name;

static void *greet(void *unused)
{
    const char *found = atomic_load(&name); //!
    assert(found != NULL && found[0] == 'w');
    return unused;
}

int main(void)
{
    pthread_t thread;
#ifdef RIGHT
    atomic_store(&name, "worker");
#endif
    pthread_create(&thread, NULL, greet, NULL);
#ifndef RIGHT
    atomic_store(&name, "worker"); //!
#endif
    pthread_join(thread, NULL);
    return 0;
}
