/* race: one of two threads does without the spin lock */
#include <pthread.h>

static pthread_spinlock_t lock;
static unsigned packets;

static void *receive(void *unused)
{
    pthread_spin_lock(&lock);
    packets += 2; //!
    pthread_spin_unlock(&lock);
    return unused;
}

static void *reset(void *unused)
{
#ifdef RIGHT
    pthread_spin_lock(&lock);
    packets = 0;
    pthread_spin_unlock(&lock);
#else
    packets = 0; //!
#endif
    return unused;
}

int main(void)
{
    pthread_t one, other;
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    pthread_create(&one, NULL, receive, NULL);
    pthread_create(&other, NULL, reset, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return packets > 2;
}
