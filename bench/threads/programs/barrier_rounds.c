/* race: one barrier a round orders writing before reading, but not reading before the next round's writing */
#include <pthread.h>

enum { THREADS = 3, ROUNDS = 4 };

static pthread_barrier_t barrier;
static int cells[THREADS];

static void *relax(void *number)
{
    long own = (long)number, sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        cells[own] = round; //!
        pthread_barrier_wait(&barrier);
        sum += cells[(own + 1) % THREADS]; //!
#ifdef RIGHT
        pthread_barrier_wait(&barrier);
#endif
    }
    return (void *)sum;
}

int main(void)
{
    pthread_t threads[THREADS];
    void *sum;
    int wrong = 0;
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, relax, (void *)i);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &sum);
        wrong |= (long)sum != 6;
    }
    return wrong;
}
