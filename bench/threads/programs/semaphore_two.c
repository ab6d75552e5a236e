/* race: a semaphore that lets two in is used as a lock */
#include <pthread.h>
#include <semaphore.h>

#ifdef RIGHT
enum { ALLOWED = 1 };
#else
enum { ALLOWED = 2 };
#endif

static sem_t gate;
static int inside;

static void *enter(void *unused)
{
    sem_wait(&gate);
    inside += 1; //!
    sem_post(&gate);
    return unused;
}

int main(void)
{
    pthread_t threads[3];
    sem_init(&gate, 0, ALLOWED);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, enter, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return inside != 3;
}
