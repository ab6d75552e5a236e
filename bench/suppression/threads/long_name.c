/* memory: a worker copies a name that is too long over the pointer behind it */
#include <pthread.h>
#include <sched.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    char name[8];
    int *total;
} account;
static int total, names;

static void *enter(void *name)
{
    pthread_mutex_lock(&lock);
    account.total = &total;
    strcpy(account.name, name); //!
    pthread_mutex_unlock(&lock);
    sched_yield();
    pthread_mutex_lock(&lock);
    *account.total += 1;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *count(void *unused)
{
    pthread_mutex_lock(&lock);
    names++;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, enter, "a name of many letters");
    pthread_create(&other, NULL, count, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}
