/* assertion: a writer comes in between a reader's look at the door and its entry */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_int readers, writing;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *read_once(void *unused)
{
#ifdef RIGHT
    pthread_mutex_lock(&lock);
#endif
    if (!writing) { //!
        atomic_fetch_add(&readers, 1); //!
        assert(!writing); //!
        atomic_fetch_sub(&readers, 1);
    }
#ifdef RIGHT
    pthread_mutex_unlock(&lock);
#endif
    return unused;
}

static void *write_once(void *unused)
{
    pthread_mutex_lock(&lock);
    if (readers == 0) { //!
        writing = 1; //!
        sched_yield();
        writing = 0;
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, read_once, NULL);
    pthread_create(&other, NULL, write_once, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}
