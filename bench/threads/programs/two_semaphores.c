/* deadlock: two semaphores are taken in opposite order */
#include <pthread.h>
#include <semaphore.h>

static sem_t paper, ink;

static void *print(void *unused)
{
#ifdef RIGHT
    sem_wait(&paper);
    sem_wait(&ink);
#else
    sem_wait(&ink); //!
    sem_wait(&paper); //!
#endif
    sem_post(&ink);
    sem_post(&paper);
    return unused;
}

int main(void)
{
    pthread_t thread;
    sem_init(&paper, 0, 1);
    sem_init(&ink, 0, 1);
    pthread_create(&thread, NULL, print, NULL);
    sem_wait(&paper); //!
    sem_wait(&ink); //!
    sem_post(&ink);
    sem_post(&paper);
    pthread_join(thread, NULL);
    return 0;
}
