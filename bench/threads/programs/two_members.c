/* atomicity: two members that belong together are changed under the lock one after the other */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int debit = 50, credit = 50, wrong;

static void set(int *member, int value)
{
    pthread_mutex_lock(&lock);
    *member = value; //!
    pthread_mutex_unlock(&lock);
}

static void *move(void *unused)
{
#ifdef RIGHT
    pthread_mutex_lock(&lock);
    debit = 20;
    credit = 80;
    pthread_mutex_unlock(&lock);
#else
    set(&debit, 20);
    set(&credit, 80);
#endif
    return unused;
}

static void *audit(void *unused)
{
    pthread_mutex_lock(&lock);
    wrong = debit + credit != 100; //!
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, audit, NULL);
    pthread_create(&other, NULL, move, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return wrong;
}
