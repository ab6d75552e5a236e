/* race: a thread takes the time limit of a lock for the lock */
#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void *add(void *unused)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    int error = pthread_mutex_timedlock(&lock, &until);
#ifdef RIGHT
    if (error == ETIMEDOUT)
        return unused;
#endif
    total += 5; //!
    if (!error)
        pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_mutex_lock(&lock);
    pthread_create(&thread, NULL, add, NULL);
    struct timespec pause = {0, 20000000};
    nanosleep(&pause, NULL);
    total++; //!
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return total > 6;
}
