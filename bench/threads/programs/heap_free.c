/* race: a block is given back while the thread that uses it may still run */
#include <pthread.h>
#include <stdlib.h>

static int sum;

static void *use(void *block)
{
    int *numbers = block;
    for (int i = 0; i < 8; i++)
        sum += numbers[i]; //!
    return NULL;
}

int main(void)
{
    pthread_t thread;
    int *numbers = malloc(8 * sizeof *numbers);
    if (!numbers)
        return 1;
    for (int i = 0; i < 8; i++)
        numbers[i] = i;
    pthread_create(&thread, NULL, use, numbers);
#ifdef RIGHT
    pthread_join(thread, NULL);
    free(numbers);
#else
    free(numbers); //!
    pthread_join(thread, NULL);
#endif
    return sum != 28;
}
