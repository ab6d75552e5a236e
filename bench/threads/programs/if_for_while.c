/* assertion: who was woken does not look again, and another consumer has taken the item */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int items, wanted = 2;

static void *consume(void *unused)
{
    pthread_mutex_lock(&lock);
#ifdef RIGHT
    while (items == 0)
        pthread_cond_wait(&filled, &lock);
#else
    if (items == 0)
        pthread_cond_wait(&filled, &lock); //!
#endif
    assert(items > 0);
    items--; //!
    wanted--;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t consumers[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&consumers[i], NULL, consume, NULL);
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        items++; //!
        pthread_cond_signal(&filled);
        pthread_mutex_unlock(&lock);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(consumers[i], NULL);
    return wanted;
}
