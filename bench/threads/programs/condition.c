/* race: a job is filled in after the lock of its condition variable was given back */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int ready, job;

static void *produce(void *unused)
{
    pthread_mutex_lock(&lock);
#ifdef RIGHT
    job = 42;
#endif
    ready = 1;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&lock);
#ifndef RIGHT
    job = 42; //!
#endif
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, produce, NULL);
    pthread_mutex_lock(&lock);
    while (!ready)
        pthread_cond_wait(&filled, &lock);
    pthread_mutex_unlock(&lock);
    int found = job; //!
    pthread_join(thread, NULL);
    return found != 42;
}
