/* race: two numbers belong together, set by many and checked by one */
#include <assert.h>
#include <pthread.h>
#define N 6
static int a, b;
#ifdef RIGHT
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#define LOCK pthread_mutex_lock(&lock)
#define UNLOCK pthread_mutex_unlock(&lock)
#else
#define LOCK (void)0
#define UNLOCK (void)0
#endif
static void *set(void *unused)
{
    LOCK;
    a = 1; //!
    b = -1; //!
    UNLOCK;
    return unused;
}
static void *check(void *unused)
{
    LOCK;
    int x = a, y = b; //!
    UNLOCK;
    assert((x == 0 && y == 0) || (x == 1 && y == -1));
    return unused;
}
int main(void)
{
    pthread_t t[N], c;
    for (int i = 0; i < N; i++)
        pthread_create(&t[i], NULL, set, NULL);
    pthread_create(&c, NULL, check, NULL);
    for (int i = 0; i < N; i++)
        pthread_join(t[i], NULL);
    pthread_join(c, NULL);
    return 0;
}
