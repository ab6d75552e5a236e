/* memory: a writer goes one behind a ring, under the lock under which the pointer there is used */
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long sum;
static struct {
    long ring[4];
    long *sum;
} queue = {.sum = &sum};

static void *put(void *unused)
{
    for (long i = 0; i < 5; i++) {
        pthread_mutex_lock(&lock);
        queue.ring[i] = 11 * i; //!
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void *get(void *unused)
{
    for (int i = 0; i < 4; i++) {
        pthread_mutex_lock(&lock);
        *queue.sum += queue.ring[i];
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, put, NULL);
    pthread_create(&other, NULL, get, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}
