/* race: a lock that checks its owner is not given back by another thread, which goes on as if it were its own */
#define _GNU_SOURCE
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static int level;

static void *raise_it(void *unused)
{
#ifdef RIGHT
    pthread_mutex_lock(&lock);
#endif
    level += 1; //!
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, raise_it, NULL);
    for (int i = 0; i < 2000; i++) {
        pthread_mutex_lock(&lock);
        level += 2; //!
        pthread_mutex_unlock(&lock);
    }
    pthread_join(thread, NULL);
    return level != 4001;
}
