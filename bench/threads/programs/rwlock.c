/* race: a cache is filled while the lock is held for reading only */
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int cached, uses;

static void *look_up(void *unused)
{
    pthread_rwlock_rdlock(&lock);
    int found = cached;
#ifdef RIGHT
    pthread_rwlock_unlock(&lock);
    pthread_rwlock_wrlock(&lock);
#endif
    uses += found == 0; //!
    pthread_rwlock_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, look_up, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return uses != 2;
}
