/* race: a thread goes on although it did not get the lock */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total, missed;

static void *add(void *unused)
{
    int got = pthread_mutex_trylock(&lock) == 0;
#ifdef RIGHT
    if (got)
#endif
        total += 5; //!
    if (got)
        pthread_mutex_unlock(&lock);
    else
        missed++;
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_mutex_lock(&lock);
    pthread_create(&thread, NULL, add, NULL);
    for (int i = 0; i < 20000; i++)
        total = total ^ 1; //!
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return missed > 1;
}
