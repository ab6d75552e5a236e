/* race: two threads count without a lock */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *work(void *unused)
{
    for (int i = 0; i < 50; i++) {
#ifdef RIGHT
        pthread_mutex_lock(&lock);
        count++;
        pthread_mutex_unlock(&lock);
#else
        count++; //!
#endif
    }
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return count != 100;
}
