/* deadlock: two transfers take the locks of the same two accounts in opposite order */
#include <pthread.h>

struct account {
    pthread_mutex_t lock;
    long money;
};

static struct account accounts[2] = {{PTHREAD_MUTEX_INITIALIZER, 100}, {PTHREAD_MUTEX_INITIALIZER, 100}};

static void transfer(struct account *from, struct account *to, long sum)
{
    struct account *first = from, *second = to;
#ifdef RIGHT
    if (first > second)
        first = to, second = from;
#endif
    pthread_mutex_lock(&first->lock); //!
    pthread_mutex_lock(&second->lock); //!
    from->money -= sum;
    to->money += sum;
    pthread_mutex_unlock(&second->lock);
    pthread_mutex_unlock(&first->lock);
}

static void *back(void *unused)
{
    transfer(&accounts[1], &accounts[0], 30);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, back, NULL);
    transfer(&accounts[0], &accounts[1], 10);
    pthread_join(thread, NULL);
    return accounts[0].money + accounts[1].money != 200;
}
