/* order: a result is read in the round in which it is written, since a barrier is missing */
#include <pthread.h>
#include <stdatomic.h>

static pthread_barrier_t barrier;
static atomic_int parts[2], sums[2];

static void *work(void *number)
{
    long own = (long)number;
    pthread_barrier_wait(&barrier);
    parts[own] = (int)own + 1; //!
#ifdef RIGHT
    pthread_barrier_wait(&barrier);
#endif
    sums[own] = parts[0] + parts[1]; //!
    return NULL;
}

int main(void)
{
    pthread_t other;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&other, NULL, work, (void *)1);
    work((void *)0);
    pthread_join(other, NULL);
    return sums[1] != 3 || sums[0] != 3;
}
