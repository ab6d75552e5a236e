/* race: the writer holds the lock, the reader does not */
#include <pthread.h>

struct account {
    int paid, open;
    pthread_mutex_t lock;
};

static struct account account = {0, 10, PTHREAD_MUTEX_INITIALIZER};

static void *pay(void *unused)
{
    pthread_mutex_lock(&account.lock);
    account.paid += 10; //!
    account.open -= 10;
    pthread_mutex_unlock(&account.lock);
    return unused;
}

static int paid(void)
{
#ifdef RIGHT
    pthread_mutex_lock(&account.lock);
    int found = account.paid;
    pthread_mutex_unlock(&account.lock);
    return found;
#else
    return account.paid; //!
#endif
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, pay, NULL);
    int seen = paid();
    pthread_join(thread, NULL);
    return seen > 10;
}
