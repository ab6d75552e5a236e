/* memory: a worker writes over its own return address */
#include <pthread.h>
#include <string.h>

static char line[] = "a line that is longer than the row into which it is copied, by far, and over the end of the frame";
static int rows;

static void keep(const char *from)
{
    char row[8];
    strcpy(row, from); //!
    rows += row[0] != 0;
}

static void *work(void *from)
{
    keep(from);
    return NULL;
}

int main(void)
{
    pthread_t worker;
    pthread_create(&worker, NULL, work, line);
    pthread_join(worker, NULL);
    return rows != 1;
}
