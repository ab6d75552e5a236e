/* harmless: both threads set the same limit, which is wrong */
#include <pthread.h>
#include <sched.h>
#include <stddef.h>

static int number;
static int *table[16] = {&number, &number, &number, &number};
static int limit;

static void *look_up(void *unused)
{
    limit = 12; //!
    sched_yield();
    *table[limit - 1] += 1;
    return unused;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, look_up, NULL);
    pthread_create(&other, NULL, look_up, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}
