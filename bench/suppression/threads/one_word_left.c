/* race: two threads see that one word is left, and both take it */
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>

static const char *words[] = {"last", NULL};
static const char **next = words;
static size_t lengths[2];

static void *take(void *where)
{
    if (*next != NULL) { //!
        sched_yield();
        *(size_t *)where = strlen(*next); //!
        next++; //!
    }
    return where;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, take, &lengths[0]);
    pthread_create(&other, NULL, take, &lengths[1]);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return lengths[0] + lengths[1] != 4;
}
