/* race: a counter that one thread changes atomically is set back by a plain write */
#include <pthread.h>

static long hits;

static void *hit(void *unused)
{
    for (int i = 0; i < 10; i++)
        __atomic_fetch_add(&hits, 1, __ATOMIC_SEQ_CST); //!
    return unused;
}

static void *reset(void *unused)
{
#ifdef RIGHT
    __atomic_store_n(&hits, 0, __ATOMIC_SEQ_CST);
#else
    hits = 0; //!
#endif
    return unused;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, hit, NULL);
    pthread_create(&other, NULL, reset, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return hits > 10;
}
