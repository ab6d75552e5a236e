/* lost-wakeup: a signal comes before the thread waits for it, and nothing remembers it */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t started = PTHREAD_COND_INITIALIZER;
static int has_started;

static void *work(void *unused)
{
    pthread_mutex_lock(&lock);
    has_started = 1;
    pthread_cond_signal(&started); //!
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_mutex_lock(&lock);
    pthread_create(&thread, NULL, work, NULL);
#ifndef RIGHT
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock); //!
    pthread_cond_wait(&started, &lock); //!
#else
    while (!has_started)
        pthread_cond_wait(&started, &lock);
#endif
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return !has_started;
}
