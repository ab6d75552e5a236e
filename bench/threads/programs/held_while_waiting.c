/* deadlock: a thread waits for a condition and keeps a second lock, which the one that signals takes first */
#include <pthread.h>

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER, lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready, lines;

static void *provide(void *unused)
{
    pthread_mutex_lock(&log_lock); //!
    lines++;
    pthread_mutex_unlock(&log_lock);
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, provide, NULL);
    sched_yield();
    pthread_mutex_lock(&log_lock); //!
    lines++;
#ifdef RIGHT
    pthread_mutex_unlock(&log_lock);
#endif
    pthread_mutex_lock(&lock);
    while (!ready)
        pthread_cond_wait(&changed, &lock); //!
    pthread_mutex_unlock(&lock);
#ifndef RIGHT
    pthread_mutex_unlock(&log_lock);
#endif
    pthread_join(thread, NULL);
    return 0;
}
