/* deadlock: a thread spins for a flag that was up for a short time only */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int open, seen;

static void *pass(void *unused)
{
#ifdef RIGHT
    while (!open && !seen)
#else
    while (!open) //!
#endif
        ;
    seen = 1;
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, pass, NULL);
    open = 1; //!
    for (int i = 0; i < 3 && !seen; i++)
        sched_yield();
#ifdef RIGHT
    seen = 1;
#endif
    open = 0; //!
    pthread_join(thread, NULL);
    return 0;
}
