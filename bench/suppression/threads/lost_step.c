/* race: a step is computed from a number that the other thread changes before it is added */
#include <pthread.h>
#include <sched.h>
#include <stddef.h>

struct cell {
    int content;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct cell cell;
static struct cell *cells[8] = {[3] = &cell, [7] = &cell}, *others[8] = {[3] = &cell, [7] = &cell};
static int position = 1, chosen, sum;

static int step_from(int place)
{
    return place == 1 ? 2 : 4;
}

static void *go(void *unused)
{
    int step = step_from(position); //!
    sched_yield();
    position = position + step; //!
    pthread_mutex_lock(&lock);
    chosen = position + 0;
    sum += cells[chosen]->content;
    pthread_mutex_unlock(&lock);
    sum += others[position]->content; //!
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
