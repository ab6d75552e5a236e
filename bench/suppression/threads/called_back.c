/* race: a handler is called under a lock, and removed without it */
#include <pthread.h>
#include <sched.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int events;
static void count(int number) { events += number; }
static void (*handler)(int) = count;

static void *deliver(void *unused)
{
    pthread_mutex_lock(&lock);
    if (handler != NULL) { //!
        sched_yield();
        handler(3); //!
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *leave(void *unused)
{
    handler = NULL; //!
    return unused;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, deliver, NULL);
    pthread_create(&other, NULL, leave, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}
