/* memory: a field of what a worker is given was never set */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct job {
    const char *text, *heading;
};

static size_t width;

static void *format(void *given)
{
    struct job *job = given;
    width = strlen(job->text) + strlen(job->heading);
    return NULL;
}

int main(void)
{
    pthread_t worker;
    struct job *job = calloc(1, sizeof *job); //!
    job->text = "text";
    pthread_create(&worker, NULL, format, job);
    pthread_join(worker, NULL);
    return width != 4;
}
