/* order: a thread is started before what it reads under a lock has been set */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *sizes;
static int sum;

static void *add(void *unused)
{
    pthread_mutex_lock(&lock);
    sum = sizes[0] + sizes[1]; //!
    pthread_mutex_unlock(&lock);
    return unused;
}

static void set(void)
{
    pthread_mutex_lock(&lock);
    sizes = malloc(2 * sizeof *sizes); //!
    sizes[0] = 3;
    sizes[1] = 4;
    pthread_mutex_unlock(&lock);
}

int main(void)
{
    pthread_t thread;
#ifdef RIGHT
    set();
    pthread_create(&thread, NULL, add, NULL);
#else
    pthread_create(&thread, NULL, add, NULL);
    set();
#endif
    pthread_join(thread, NULL);
    free(sizes);
    return sum != 7;
}
