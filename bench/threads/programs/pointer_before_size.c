/* race: the pointer is seen before what it points to is set */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
struct table { int ready, size; };
static struct table *shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct table *get(void)
{
#ifdef RIGHT
    pthread_mutex_lock(&lock);
    if (!shared) {
        shared = calloc(1, sizeof *shared);
        shared->size = 8;
    }
    pthread_mutex_unlock(&lock);
#else
    if (!shared) { //!
        pthread_mutex_lock(&lock);
        if (!shared) {
            shared = calloc(1, sizeof *shared); //!
            shared->size = 8; //!
        }
        pthread_mutex_unlock(&lock);
    }
#endif
    return shared; //!
}
static void *use(void *unused)
{
    assert(get()->size == 8); //!
    return unused;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, use, NULL);
    pthread_create(&b, NULL, use, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
