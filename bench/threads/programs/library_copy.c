/* race: a library function reads text that another thread is writing */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static char *title;

static void *rename_it(void *unused)
{
    pthread_rwlock_wrlock(&lock);
    strcpy(title, "second"); //!
    pthread_rwlock_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t thread;
    char copy[16];
    title = calloc(16, 1);
    if (!title)
        return 1;
    strcpy(title, "first");
    pthread_create(&thread, NULL, rename_it, NULL);
#ifdef RIGHT
    pthread_rwlock_rdlock(&lock);
    memcpy(copy, title, 16);
    pthread_rwlock_unlock(&lock);
#else
    memcpy(copy, title, 16); //!
#endif
    pthread_join(thread, NULL);
    free(title);
    return copy[0] != 'f' && copy[0] != 's';
}
