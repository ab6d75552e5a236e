/* order: the third stage of three may run before the second, since it only asks whether the first is done */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int stage, result;

static void *second(void *unused)
{
    if (stage == 1) {
        result = result + 10; //!
        stage = 2; //!
    }
    return unused;
}

static void *third(void *unused)
{
#ifdef RIGHT
    if (stage >= 2)
#else
    if (stage >= 1) //!
#endif
        result = result * 2; //!
    return unused;
}

int main(void)
{
    pthread_t one, other;
    result = 1;
    stage = 1;
    pthread_create(&one, NULL, second, NULL);
    pthread_create(&other, NULL, third, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return result != 22 && result != 11;
}
