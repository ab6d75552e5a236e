/* race: threads are given the address of the variable that the loop goes on changing */
#include <pthread.h>

static int seen[3];

static void *note(void *number)
{
    seen[*(int *)number % 3]++; //!
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    int numbers[3];
    for (int i = 0; i < 3; i++) { //!
        numbers[i] = i;
#ifdef RIGHT
        pthread_create(&threads[i], NULL, note, &numbers[i]);
#else
        pthread_create(&threads[i], NULL, note, &i);
#endif
    }
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return seen[0] != 1 || seen[1] != 1 || seen[2] != 1;
}
