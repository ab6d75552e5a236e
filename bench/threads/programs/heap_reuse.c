/* race: blocks are shared through a static pointer; with one of each thread's own, only their places are used again */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static char *scratch;

static void *fill(void *letter)
{
    long wrong = 0;
    for (int i = 0; i < 4; i++) {
#ifdef RIGHT
        char *block = malloc(32);
#else
        char *block = scratch;
#endif
        if (!block)
            return letter;
        memset(block, *(char *)letter, 32); //!
        wrong += block[7] != *(char *)letter; //!
#ifdef RIGHT
        free(block);
#endif
    }
    return (void *)wrong;
}

int main(void)
{
    pthread_t one, other;
    char a = 'a', b = 'b';
    void *wrong, *more;
    scratch = malloc(32);
    pthread_create(&one, NULL, fill, &a);
    pthread_create(&other, NULL, fill, &b);
    pthread_join(one, &wrong);
    pthread_join(other, &more);
    free(scratch);
    return wrong != NULL || more != NULL;
}
