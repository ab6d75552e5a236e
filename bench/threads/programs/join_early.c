/* race: a result is read before the thread that makes it is waited for */
#include <pthread.h>

static int result;

static void *compute(void *unused)
{
    int sum = 0;
    for (int i = 1; i <= 10; i++)
        sum += i;
    result = sum; //!
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, compute, NULL);
#ifdef RIGHT
    pthread_join(thread, NULL);
    int found = result;
#else
    int found = result; //!
    pthread_join(thread, NULL);
#endif
    return found != 55;
}
