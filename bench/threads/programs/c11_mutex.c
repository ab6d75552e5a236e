/* race: one of two C11 threads forgets the lock */
#include <threads.h>

static mtx_t lock;
static int stock = 10;

static int deliver(void *unused)
{
    mtx_lock(&lock);
    stock += 5; //!
    mtx_unlock(&lock);
    return unused != NULL;
}

static int sell(void *unused)
{
#ifdef RIGHT
    mtx_lock(&lock);
    stock -= 3;
    mtx_unlock(&lock);
#else
    stock -= 3; //!
#endif
    return unused != NULL;
}

int main(void)
{
    thrd_t one, other;
    mtx_init(&lock, mtx_plain);
    thrd_create(&one, deliver, NULL);
    thrd_create(&other, sell, NULL);
    thrd_join(one, NULL);
    thrd_join(other, NULL);
    return stock != 12;
}
