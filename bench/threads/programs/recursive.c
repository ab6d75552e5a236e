/* race: a lock that is taken twice is given back twice, too early */
#define _GNU_SOURCE
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static int entries, total;

static void count(void)
{
    pthread_mutex_lock(&lock);
    entries++;
    pthread_mutex_unlock(&lock);
}

static void *work(void *unused)
{
    pthread_mutex_lock(&lock);
    count();
#ifdef RIGHT
    total += 3;
    pthread_mutex_unlock(&lock);
#else
    pthread_mutex_unlock(&lock);
    total += 3; //!
#endif
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return total != 6;
}
