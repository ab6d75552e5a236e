/* race: who waits in vain for a condition goes on without looking, and gave the lock back first */
#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int level;

static void *fill(void *unused)
{
    struct timespec pause = {0, 5000000};
    nanosleep(&pause, NULL);
    pthread_mutex_lock(&lock);
    level = 7; //!
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t thread;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += until.tv_nsec / 999000000;
    until.tv_nsec = (until.tv_nsec + 1000000) % 1000000000;
    pthread_create(&thread, NULL, fill, NULL);
    pthread_mutex_lock(&lock);
    int error = level ? 0 : pthread_cond_timedwait(&filled, &lock, &until);
#ifdef RIGHT
    int found = level;
    pthread_mutex_unlock(&lock);
#else
    pthread_mutex_unlock(&lock);
    int found = level; //!
#endif
    pthread_join(thread, NULL);
    return error == 0 && found == 0;
}
