/* order: each thread adds to what the one before has left */
#include <assert.h>
#include <pthread.h>
static int x1 = 1, x2 = 2, x3 = 3;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *first(void *unused)
{
    pthread_mutex_lock(&lock);
    x1 = (x3 + 1) % 4; //!
    pthread_mutex_unlock(&lock);
    return unused;
}
static void *second(void *unused)
{
    pthread_mutex_lock(&lock);
    x2 = x1; //!
    pthread_mutex_unlock(&lock);
    return unused;
}
static void *third(void *unused)
{
    pthread_mutex_lock(&lock);
    x3 = x2; //!
    pthread_mutex_unlock(&lock);
    return unused;
}
int main(void)
{
    pthread_t t[3];
    void *(*work[])(void *) = {first, second, third};
    for (int i = 0; i < 3; i++) {
        pthread_create(&t[i], NULL, work[i], NULL);
#ifdef RIGHT
        pthread_join(t[i], NULL);
#endif
    }
#ifndef RIGHT
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
#endif
    assert(x1 == x2 && x2 == x3);
    return 0;
}
