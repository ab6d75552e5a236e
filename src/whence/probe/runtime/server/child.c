/* One job: a run of the program in a forked child, with the folder, the streams and the limits that the job names. */
#define _GNU_SOURCE
#include "alter/session.h"
#include "base/base.h"
#include "record/record.h"
#include "record/trace.h"
#include "server/job.h"
#include "suppress/suppress.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

extern char **environ;

/* The name that assert and err print. */
static void name_program(char *name)
{
    char *slash = strrchr(name, '/');
    program_invocation_name = name;
    program_invocation_short_name = slash ? slash + 1 : name;
}

static enum whence_keep kept_by(const struct job *job)
{
    if (job->flags & JOB_RING)
        return WHENCE_KEEP_LAST;
    return job->flags & JOB_END_AT_LIMIT ? WHENCE_END_AT_LIMIT : WHENCE_KEEP_FIRST;
}

static uint64_t open_session(const struct whence_server *server)
{
    size_t size = whence_session_open(server->pointers[SESSION]);
    if (!size)
        whence_fail(server, AT_SESSION);
    return size;
}

/* The set-up is over, and nothing else may be told for it: a program that writes where it should not, as altered runs do,
   crashes there. */
static void close_failure(const struct whence_server *server)
{
    if (mprotect((void *)server->failure, sizeof *server->failure, PROT_NONE))
        whence_fail(server, AT_LIMITS);
}

void whence_run_child(const struct whence_server *server)
{
    const struct job *job = server->job;
    char **texts = server->pointers, **arguments = texts + TEXTS;
    whence_set_up(server);
    environ = arguments + job->arguments + 1;
    name_program(arguments[0]);
    if (*texts[SCHEDULE] && whence_schedule_start(texts[SCHEDULE]))
        whence_fail(server, AT_SCHEDULE);
    if (*texts[TRACE] && whence_record_start(texts[TRACE], job->trace_limit, kept_by(job)))
        whence_fail(server, AT_TRACE);
    whence_note_given(arguments, environ);
    uint64_t suppression = *texts[SESSION] ? whence_suppression_open(texts[SESSION], 0) : 0;
    int is_session = *texts[SESSION] && !suppression;
    whence_set_limits(server, is_session ? open_session(server) : suppression, 0);
    if ((job->flags & JOB_CONFINED) && whence_confine(texts[WORK], !is_session))
        whence_fail(server, AT_LIMITS);
    close_failure(server);
    whence_restore_signals(server);
    whence_take_pattern();
    errno = 0; /* as a program starts; waiting for the run before has left its own */
    if (is_session)
        whence_session_run(server->entry, (int)job->arguments, arguments, environ);
    whence_note_stack(STACK_PLACE, STACK_BYTES);
    if (*texts[TRACE])
        whence_run_as_session(server->entry, (int)job->arguments, arguments, environ);
    whence_fill_stack();
    exit(server->entry((int)job->arguments, arguments, environ));
}
