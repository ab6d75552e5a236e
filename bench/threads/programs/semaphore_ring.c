/* race: the ring has one slot less than the semaphore of its free slots says */
#include <pthread.h>
#include <semaphore.h>

#ifdef RIGHT
enum { SLOTS = 4 };
#else
enum { SLOTS = 3 };
#endif

static sem_t vacant, filled;
static int ring[SLOTS];

static void *produce(void *unused)
{
    for (int i = 0; i < 20; i++) {
        sem_wait(&vacant);
        ring[i % SLOTS] = i; //!
        sem_post(&filled);
    }
    return unused;
}

int main(void)
{
    pthread_t thread;
    int sum = 0;
    sem_init(&vacant, 0, 4);
    sem_init(&filled, 0, 0);
    pthread_create(&thread, NULL, produce, NULL);
    for (int i = 0; i < 20; i++) {
        sem_wait(&filled);
        sum += ring[i % SLOTS]; //!
        sem_post(&vacant);
    }
    pthread_join(thread, NULL);
    return sum != 190;
}
