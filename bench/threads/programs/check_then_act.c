/* atomicity: the stock is looked at and taken from under the same lock, but not in one go */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int stock = 1;

static int in_stock(void)
{
    pthread_mutex_lock(&lock);
    int found = stock; //!
    pthread_mutex_unlock(&lock);
    return found;
}

static void *buy(void *unused)
{
#ifdef RIGHT
    pthread_mutex_lock(&lock);
    if (stock > 0)
        stock--;
    pthread_mutex_unlock(&lock);
#else
    if (in_stock() > 0) {
        pthread_mutex_lock(&lock);
        stock--; //!
        pthread_mutex_unlock(&lock);
    }
#endif
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, buy, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(in_stock() == 0);
    return 0;
}
