/* race: a static buffer serves all threads, where each should have its own */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_key_t key;

static char *buffer(void)
{
#ifdef RIGHT
    char *own = pthread_getspecific(key);
    if (own == NULL) {
        own = malloc(16);
        pthread_setspecific(key, own);
    }
    return own;
#else
    static char shared[16];
    return shared;
#endif
}

static void *show(void *number)
{
    char *text = buffer();
    sprintf(text, "%d", (int)(long)number); //!
    return (void *)(long)(atoi(text) != (int)(long)number); //!
}

int main(void)
{
    pthread_t threads[2];
    void *wrong;
    int all = 0;
    pthread_key_create(&key, free);
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, show, (void *)(i + 10));
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], &wrong);
        all |= wrong != NULL;
    }
    return all;
}
