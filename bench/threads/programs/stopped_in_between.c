/* atomicity: the device is stopped between the check and the entry */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int stopping, pending = 1, stopped;
static int enter(void)
{
#ifdef RIGHT
    atomic_fetch_add(&pending, 1);
    if (stopping) {
        atomic_fetch_sub(&pending, 1);
        return -1;
    }
#else
    if (stopping) //!
        return -1;
    atomic_fetch_add(&pending, 1); //!
#endif
    return 0;
}
static void leave(void)
{
    if (atomic_fetch_sub(&pending, 1) == 1)
        stopped = 1; //!
}
static void *stop(void *unused)
{
    stopping = 1; //!
    leave();
    return unused;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, stop, NULL);
    if (enter() == 0) {
        assert(!stopped);
        leave();
    }
    pthread_join(thread, NULL);
    return 0;
}
