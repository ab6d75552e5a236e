/* assertion: whether there is money is asked under one lock, and it is taken under the next */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int balance = 50;

static int get(void)
{
    pthread_mutex_lock(&lock);
    int found = balance; //!
    pthread_mutex_unlock(&lock);
    return found;
}

static void take(int sum)
{
    pthread_mutex_lock(&lock);
    balance -= sum; //!
    pthread_mutex_unlock(&lock);
}

static void *withdraw(void *unused)
{
#ifdef RIGHT
    pthread_mutex_lock(&lock);
    if (balance >= 40)
        balance -= 40;
    pthread_mutex_unlock(&lock);
#else
    if (get() >= 40)
        take(40);
#endif
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, withdraw, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    take(0);
    assert(get() >= 0);
    return 0;
}
