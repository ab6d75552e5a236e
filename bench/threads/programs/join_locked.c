/* deadlock: a thread is joined with the lock held that it still needs */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int done;

static void *work(void *unused)
{
    pthread_mutex_lock(&lock); //!
    done = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    sched_yield();
#ifdef RIGHT
    pthread_join(thread, NULL);
    pthread_mutex_lock(&lock);
#else
    pthread_mutex_lock(&lock); //!
    pthread_join(thread, NULL); //!
#endif
    int seen = done;
    pthread_mutex_unlock(&lock);
    return !seen;
}
