/* race: a worker is started before what it uses has been set */
#include <pthread.h>
#include <sched.h>
#include <stddef.h>

struct settings {
    int level;
};

static struct settings usual = {5};
static struct settings *settings;
static int level;

static void *work(void *unused)
{
    level = settings->level; //!
    return unused;
}

int main(void)
{
    pthread_t worker;
    pthread_create(&worker, NULL, work, NULL);
    sched_yield();
    settings = &usual; //!
    pthread_join(worker, NULL);
    return level != 5;
}
