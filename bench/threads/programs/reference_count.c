/* race: the last who drops a reference does not acquire what the others did before */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifdef RIGHT
enum { DROP = memory_order_acq_rel };
#else
enum { DROP = memory_order_relaxed };
#endif

struct shared {
    atomic_int references;
    int uses[2];
};

static void drop(struct shared *shared)
{
    if (atomic_fetch_sub_explicit(&shared->references, 1, DROP) == 1)
        free(shared); //!
}

static void *use(void *argument)
{
    struct shared *shared = argument;
    shared->uses[1]++; //!
    drop(shared);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    struct shared *shared = calloc(1, sizeof *shared);
    if (!shared)
        return 1;
    atomic_init(&shared->references, 2);
    pthread_create(&thread, NULL, use, shared);
    shared->uses[0]++; //!
    drop(shared);
    pthread_join(thread, NULL);
    return 0;
}
