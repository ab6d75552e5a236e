/* A flag of a fresh structure is asked for before it is set. */
#include <stdio.h>
#include <stdlib.h>
struct task { int number; int done; struct task *next; };
#ifdef RIGHT
#define TAKE(size) calloc(1, size)
#else
#define TAKE(size) malloc(size)
#endif
int main(void)
{
    struct task *task = TAKE(sizeof *task);
    int left = 1;
    if (!task)
        return 1;
    task->number = 4;
    if (task->done) //! uninitialised
        left = 0;
    printf("%d\n", left < 2);
    free(task);
    return 0;
}
