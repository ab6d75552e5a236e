/* atomicity: a place in a list is found under the lock and used under the next one, when the list may be shorter */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int list[4] = {3, 5, 8, 13}, length = 4;

static void *cut(void *unused)
{
    pthread_mutex_lock(&lock);
    length = 2; //!
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *take_last(void *unused)
{
    pthread_mutex_lock(&lock);
    int last = length - 1; //!
#ifndef RIGHT
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    assert(last < length); //!
    list[last] = 0;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, take_last, NULL);
    pthread_create(&other, NULL, cut, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}
