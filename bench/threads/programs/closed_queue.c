/* order: a queue is closed before the last item was put into it */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int queue[4], length, closed, lost;

static void put(int item)
{
    pthread_mutex_lock(&lock);
    if (closed) //!
        lost++;
    else
        queue[length++] = item;
    pthread_mutex_unlock(&lock);
}

static void *produce(void *unused)
{
    for (int i = 0; i < 3; i++)
        put(i);
    return unused;
}

static void close_queue(void)
{
    pthread_mutex_lock(&lock);
    closed = 1; //!
    pthread_mutex_unlock(&lock);
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, produce, NULL);
    sched_yield();
#ifdef RIGHT
    pthread_join(thread, NULL);
    close_queue();
#else
    close_queue();
    pthread_join(thread, NULL);
#endif
    return lost != 0 || length != 3;
}
