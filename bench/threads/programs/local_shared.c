/* race: a thread writes to a local of the function that started it, which goes on meanwhile */
#include <pthread.h>

static void *answer(void *to)
{
    *(int *)to = 42; //!
    return NULL;
}

static int ask(void)
{
    pthread_t thread;
    int found = 0;
    pthread_create(&thread, NULL, answer, &found);
#ifdef RIGHT
    pthread_join(thread, NULL);
    return found;
#else
    int seen = found; //!
    pthread_join(thread, NULL);
    return seen;
#endif
}

int main(void)
{
    return ask() != 42;
}
