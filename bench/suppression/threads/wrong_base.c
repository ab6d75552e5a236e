/* harmless: both threads begin at a wrong base, and add nothing to it without a lock */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>

struct cell {
    int content;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct cell cell;
static struct cell *cells[8] = {[2] = &cell}, *others[8] = {[2] = &cell};
static int base, position, chosen, sum;

static int step_from(int place)
{
    return place == 1 ? 2 : 0;
}

static void *go(void *unused)
{
    base = 3; //!
    position = 2 * base;
    int step = step_from(position);
    sched_yield();
    position = position + step;
    pthread_mutex_lock(&lock);
    chosen = position + 0;
    sum += cells[chosen]->content;
    pthread_mutex_unlock(&lock);
    sum += others[position]->content;
    assert(base == 1);
    return unused;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, go, NULL);
    pthread_create(&other, NULL, go, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}
