/* harmless: each thread that finds the flag not set sets it to the same value */
#include <pthread.h>

#ifdef RIGHT
static _Atomic int is_used;
#else
static int is_used;
#endif

static void *use(void *unused)
{
    is_used = 1; //!
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, use, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return !is_used;
}
