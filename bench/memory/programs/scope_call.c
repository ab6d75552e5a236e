/* A callee uses what its caller's closed block has left behind. */
#include <stdio.h>
struct job { const char *name; };
static int first_of(const struct job *job) { return job->name[0]; } //! use-after-scope
int main(int argc, char **argv)
{
    struct job job = {"none"};
    (void)argv;
    if (argc > 0) {
        char text[8] = "job 1";
#ifdef RIGHT
        printf("%d\n", text[0] == 'j');
#else
        job.name = text;
#endif
    }
    printf("%d\n", first_of(&job) < 1000);
    return 0;
}
