/* The block goes through a table of functions before it is written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef RIGHT
#define SIZE 40
#else
#define SIZE 30
#endif
typedef void sink(char *to);
static void fill(char *to)
{
    memset(to, 'a', 39); //! out-of-bounds
    to[5] = 0;
}
static void clear(char *to) { *to = 0; }
static sink *const sinks[] = {clear, fill};
struct job { sink *run; char *to; };
static void work(const struct job *job) { job->run(job->to); }
int main(void)
{
    struct job job = {sinks[1], malloc(SIZE)};
    if (!job.to)
        return 1;
    work(&job);
    puts(job.to);
    free(job.to);
    return 0;
}
