/* race: two threads set bit-fields that share a byte; members of their own would not */
#include <pthread.h>

static struct {
#ifdef RIGHT
    char open, busy;
#else
    unsigned char open : 1, busy : 1;
#endif
} state;

static void *open_it(void *unused)
{
    state.open = 1; //!
    return unused;
}

static void *use_it(void *unused)
{
    state.busy = 1; //!
    return unused;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, open_it, NULL);
    pthread_create(&other, NULL, use_it, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return !state.open || !state.busy;
}
