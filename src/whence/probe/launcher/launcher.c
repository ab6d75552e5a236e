/* The fork server for programs that hold none: plain executables, and the commands of test suites. It is that of
   instrumented programs (runtime/server), linked with this file: a run is an exec of the program. */
#define _GNU_SOURCE
#include "base/base.h"
#include "record/coverage.h"
#include "server/job.h"

#include <stdlib.h>
#include <unistd.h>

enum { TRACE_HEADER = 4096 }; /* bytes before the events, which an instrumented program of a suite writes too */

static const char *executable;

void whence_run_child(const struct whence_server *server)
{
    const struct job *job = server->job;
    char **arguments = server->pointers + TEXTS;
    whence_set_up(server);
    whence_set_limits(server, 0, job->trace_limit + TRACE_HEADER);
    if ((job->flags & JOB_CONFINED) && whence_confine(server->pointers[WORK], 1))
        whence_fail(server, AT_LIMITS);
    whence_restore_signals(server);
    execve(executable, arguments, arguments + job->arguments + 1);
    whence_fail(server, AT_PROGRAM);
}

/* Programs that hold no server count nothing for it. */
uint32_t *whence_coverage(size_t *sites)
{
    *sites = 0;
    return NULL;
}

/* launcher CONTROL EXECUTABLE */
int main(int argc, char **argv)
{
    if (argc != 3)
        return WHENCE_START_FAILED;
    whence_default_signals();
    executable = argv[2];
    return whence_serve(atoi(argv[1]), NULL);
}
