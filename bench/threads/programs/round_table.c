/* deadlock: three guests each take the fork to the left first */
#include <pthread.h>

enum { GUESTS = 3 };

static pthread_mutex_t forks[GUESTS] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int meals[GUESTS];

static void *eat(void *seat)
{
    long left = (long)seat, right = (left + 1) % GUESTS;
#ifdef RIGHT
    if (left > right) {
        long kept = left;
        left = right;
        right = kept;
    }
#endif
    pthread_mutex_lock(&forks[left]); //!
    pthread_mutex_lock(&forks[right]); //!
    meals[(long)seat]++;
    pthread_mutex_unlock(&forks[right]);
    pthread_mutex_unlock(&forks[left]);
    return NULL;
}

int main(void)
{
    pthread_t guests[GUESTS];
    for (long i = 0; i < GUESTS; i++)
        pthread_create(&guests[i], NULL, eat, (void *)i);
    for (long i = 0; i < GUESTS; i++)
        pthread_join(guests[i], NULL);
    return 0;
}
