/* race: a pointer is looked at, and taken away before it is used */
#include <pthread.h>
#include <sched.h>
#include <stddef.h>

struct session {
    int requests;
};

static struct session first;
static struct session *current = &first;

static void *serve(void *unused)
{
    if (current) { //!
        sched_yield();
        current->requests++; //!
    }
    return unused;
}

static void *hang_up(void *unused)
{
    current = NULL; //!
    return unused;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, serve, NULL);
    pthread_create(&other, NULL, hang_up, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}
