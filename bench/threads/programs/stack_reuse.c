/* race: workers of two managers count together; with locals only, a worker has the stack of one that has ended */
#include <pthread.h>
#include <string.h>

#ifndef RIGHT
static char letters[64];
#endif

static void *work(void *letter)
{
#ifdef RIGHT
    char letters[64];
#endif
    memset(letters, *(char *)letter, sizeof letters); //!
    return letters[40] == *(char *)letter ? NULL : letter; //!
}

static void *manage(void *letter)
{
    pthread_t worker;
    void *wrong, *all = NULL;
    for (int i = 0; i < 3; i++) {
        pthread_create(&worker, NULL, work, letter);
        pthread_join(worker, &wrong);
        all = wrong ? wrong : all;
    }
    return all;
}

int main(void)
{
    pthread_t one, other;
    char a = 'a', b = 'b';
    void *wrong, *more;
    pthread_create(&one, NULL, manage, &a);
    pthread_create(&other, NULL, manage, &b);
    pthread_join(one, &wrong);
    pthread_join(other, &more);
    return wrong != NULL || more != NULL;
}
