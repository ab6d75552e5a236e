/* order: the second of two steps is let go before the first has been done */
#include <pthread.h>
#include <semaphore.h>

static sem_t first_done;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int value = 3;

static void *add(void *unused)
{
#ifndef RIGHT
    sem_post(&first_done);
#endif
    pthread_mutex_lock(&lock);
    value += 2; //!
    pthread_mutex_unlock(&lock);
#ifdef RIGHT
    sem_post(&first_done);
#endif
    return unused;
}

static void *double_it(void *unused)
{
    sem_wait(&first_done);
    pthread_mutex_lock(&lock);
    value *= 2; //!
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t one, other;
    sem_init(&first_done, 0, 0);
    pthread_create(&one, NULL, add, NULL);
    pthread_create(&other, NULL, double_it, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return value != 10;
}
