/* race: a depth that each thread should count for itself is shared */
#include <pthread.h>

#ifdef RIGHT
static _Thread_local int depth;
#else
static int depth;
#endif

static int walk(int levels)
{
    depth++; //!
    int deepest = levels ? walk(levels - 1) : depth; //!
    depth--; //!
    return deepest;
}

static void *work(void *unused)
{
    return walk(5) == 6 ? NULL : &unused;
}

int main(void)
{
    pthread_t threads[2];
    void *wrong;
    int all = 0;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], &wrong);
        all |= wrong != NULL;
    }
    return all;
}
