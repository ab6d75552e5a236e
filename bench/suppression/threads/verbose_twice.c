/* harmless: both threads set a flag to the same; one of them uses an index that is too large */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

static struct {
    int slots[3];
    int shift;
    int *count;
} board;
static int verbose, count;

static void *play(void *unused)
{
    int last = 4;
    verbose = 1;
    sched_yield();
    for (int i = 0; i <= last; i++)
        board.slots[i] = verbose + 64; //!
    *board.count += 1;
    return unused;
}

static void *watch(void *unused)
{
    verbose = 1;
    return unused;
}

int main(void)
{
    pthread_t one, other;
    board.count = &count;
    pthread_create(&one, NULL, play, NULL);
    pthread_create(&other, NULL, watch, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return count != 1;
}
