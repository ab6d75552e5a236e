/* account: two clerks pay into one account; what they paid must be what it holds. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static int balance;

static void *clerk(void *sum)
{
    int held = balance;
    held += *(int *)sum;
    balance = held;
    return NULL;
}

int main(void)
{
    pthread_t first, second;
    int ten = 10, five = 5;
    pthread_create(&first, NULL, clerk, &ten);
    pthread_create(&second, NULL, clerk, &five);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    assert(balance == ten + five);
    printf("balance %d\n", balance);
    return 0;
}
