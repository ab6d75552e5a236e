/* race: the semaphore is raised before the item is there */
#include <pthread.h>
#include <semaphore.h>

static sem_t items;
static int item;

static void *produce(void *unused)
{
#ifdef RIGHT
    item = 9;
    sem_post(&items);
#else
    sem_post(&items);
    item = 9; //!
#endif
    return unused;
}

int main(void)
{
    pthread_t thread;
    sem_init(&items, 0, 0);
    pthread_create(&thread, NULL, produce, NULL);
    sem_wait(&items);
    int found = item; //!
    pthread_join(thread, NULL);
    return found != 9;
}
