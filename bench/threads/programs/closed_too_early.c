/* order: the store is closed while the last item may still be on its way */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int closed, items, refused;

static void *put(void *unused)
{
    pthread_mutex_lock(&lock);
    if (closed) //!
        refused++;
    else
        items++;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void close_it(void)
{
    pthread_mutex_lock(&lock);
    closed = 1; //!
    pthread_mutex_unlock(&lock);
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, put, NULL);
#ifdef RIGHT
    pthread_join(thread, NULL);
    close_it();
#else
    close_it();
    pthread_join(thread, NULL);
#endif
    return refused;
}
