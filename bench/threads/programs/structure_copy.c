/* race: a structure is assigned while another thread reads its members */
#include <pthread.h>

struct point {
    int x, y, z, sum;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct point position;

static void *move(void *unused)
{
    struct point to = {1, 2, 3, 6};
    pthread_mutex_lock(&lock);
    position = to; //!
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, move, NULL);
#ifdef RIGHT
    pthread_mutex_lock(&lock);
    struct point seen = position;
    pthread_mutex_unlock(&lock);
#else
    struct point seen = position; //!
#endif
    pthread_join(thread, NULL);
    return seen.x + seen.y + seen.z != seen.sum;
}
