/* memory: the first thread hands over a task with a number where its pointer should be */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

struct task {
    int *result;
    int number;
};

static void *work(void *given)
{
    struct task *task = given;
    *task->result = 2 * task->number;
    return NULL;
}

int main(void)
{
    pthread_t worker;
    int result = 0;
    struct task *task = malloc(sizeof *task);
    task->number = 21;
    task->result = (int *)(intptr_t)(task->number * 3); //!
    pthread_create(&worker, NULL, work, task);
    pthread_join(worker, NULL);
    return result != 42;
}
