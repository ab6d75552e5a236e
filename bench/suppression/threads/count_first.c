/* race: the number of entries is told before the entries are there */
#include <pthread.h>
#include <sched.h>
#include <stddef.h>

static int first = 3, second = 4;
static int *entries[2];
static int count, last;

static void *read_last(void *unused)
{
    if (count > 0) //!
        last = *entries[count - 1]; //!
    return unused;
}

int main(void)
{
    pthread_t reader;
    pthread_create(&reader, NULL, read_last, NULL);
    count = 2; //!
    sched_yield();
    entries[0] = &first;
    entries[1] = &second;
    pthread_join(reader, NULL);
    return last != 4;
}
