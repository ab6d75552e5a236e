/* lost-wakeup: one signal for two kinds of waiting threads wakes the wrong one, which waits again */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int level;

static void *await_level(void *wanted)
{
    pthread_mutex_lock(&lock);
    while (level < (int)(long)wanted)
        pthread_cond_wait(&changed, &lock); //!
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void raise_level(void)
{
    pthread_mutex_lock(&lock);
    level++;
#ifdef RIGHT
    pthread_cond_broadcast(&changed);
#else
    pthread_cond_signal(&changed); //!
#endif
    pthread_mutex_unlock(&lock);
}

int main(void)
{
    pthread_t low, high;
    pthread_create(&low, NULL, await_level, (void *)1);
    pthread_create(&high, NULL, await_level, (void *)2);
    raise_level();
    raise_level();
    pthread_join(low, NULL);
    pthread_join(high, NULL);
    return 0;
}
