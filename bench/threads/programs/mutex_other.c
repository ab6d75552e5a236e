/* race: each thread holds a lock, but not the same one */
#include <pthread.h>

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;
static long balance = 100;

static void *pay(void *unused)
{
    pthread_mutex_lock(&left);
    balance += 20; //!
    pthread_mutex_unlock(&left);
    return unused;
}

static void *charge(void *unused)
{
#ifdef RIGHT
    pthread_mutex_t *lock = &left;
#else
    pthread_mutex_t *lock = &right;
#endif
    pthread_mutex_lock(lock);
    balance -= 30; //!
    pthread_mutex_unlock(lock);
    return unused;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, pay, NULL);
    pthread_create(&other, NULL, charge, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return balance != 90;
}
