/* atomicity: a sum is read and written atomically, but not added to atomically */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int sum;

static void *add(void *unused)
{
    for (int i = 0; i < 3; i++) {
#ifdef RIGHT
        atomic_fetch_add(&sum, 1);
#else
        int old = atomic_load(&sum); //!
        atomic_store(&sum, old + 1); //!
#endif
    }
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, add, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", atomic_load(&sum));
    return atomic_load(&sum) != 6;
}
