/* race: sums are read before all threads have come to the barrier */
#include <pthread.h>

static pthread_barrier_t barrier;
static int parts[2], sums[2];

static void *add(void *number)
{
    int own = (int)(long)number;
    parts[own] = own + 1; //!
#ifdef RIGHT
    pthread_barrier_wait(&barrier);
    sums[own] = parts[0] + parts[1];
#else
    sums[own] = parts[0] + parts[1]; //!
    pthread_barrier_wait(&barrier);
#endif
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    pthread_barrier_init(&barrier, NULL, 2);
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, add, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return sums[0] != 3 || sums[1] != 3;
}
