/* assertion: the state comes to its forbidden end only if the two threads take turns three times */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int state;

static void step(int from, int to)
{
    pthread_mutex_lock(&lock);
    if (state == from) //!
        state = to; //!
    pthread_mutex_unlock(&lock);
}

static void *ask(void *unused)
{
    step(0, 1);
    step(2, 3);
    return unused;
}

static void *answer(void *unused)
{
    step(1, 2);
#ifndef RIGHT
    step(3, 4);
#endif
    return unused;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&other, NULL, answer, NULL);
    pthread_create(&one, NULL, ask, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    step(-1, 0);
    assert(state != 4);
    return 0;
}
