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

/* Address space for the server and the recorder, beside what the program may use. */
#define OWN_MEMORY (UINT64_C(128) << 20)

static volatile struct failure *failure;

static void fail(enum stage stage)
{
    failure->error = errno;
    failure->stage = stage;
    _exit(WHENCE_START_FAILED);
}

static void redirect(int target, const char *path, int flags, enum stage stage)
{
    int fd = open(path, flags, 0600);
    if (fd < 0 || (fd != target && dup2(fd, target) < 0))
        fail(stage);
    if (fd != target)
        close(fd);
}

static void limit(int resource, uint64_t value)
{
    struct rlimit bounds;
    if (!value)
        return;
    if (getrlimit(resource, &bounds))
        fail(AT_LIMITS);
    if (value < bounds.rlim_max)
        bounds.rlim_max = value;
    bounds.rlim_cur = bounds.rlim_max;
    if (setrlimit(resource, &bounds))
        fail(AT_LIMITS);
}

static void set_limits(const struct job *job, uint64_t own_memory)
{
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    limit(RLIMIT_CPU, job->cpu_s);
    limit(RLIMIT_FSIZE, job->output);
    if (job->memory)
        limit(RLIMIT_AS, job->memory + own_memory);
}

/* The name that assert and err print. */
static void name_program(char *name)
{
    char *slash = strrchr(name, '/');
    program_invocation_name = name;
    program_invocation_short_name = slash ? slash + 1 : name;
}

static void restore_signals(const sigset_t *unblocked)
{
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_SETMASK, unblocked, NULL);
}

static enum whence_keep kept_by(const struct job *job)
{
    if (job->flags & JOB_RING)
        return WHENCE_KEEP_LAST;
    return job->flags & JOB_END_AT_LIMIT ? WHENCE_END_AT_LIMIT : WHENCE_KEEP_FIRST;
}

static uint64_t open_session(const char *text)
{
    size_t size = whence_session_open(text);
    if (!size)
        fail(AT_SESSION);
    return size;
}

/* The set-up is over, and nothing else may be told for it: a program that writes where it should not, as altered runs do,
   crashes there. */
static void close_failure(void)
{
    if (mprotect((void *)failure, sizeof *failure, PROT_NONE))
        fail(AT_LIMITS);
}

void whence_run_child(const struct whence_server *server)
{
    const struct job *job = server->job;
    char **texts = server->pointers, **arguments = texts + TEXTS;
    failure = server->failure;
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(server->control);
    if (chdir(texts[WORK]) || (*texts[START] && chdir(texts[START])))
        fail(AT_FOLDER);
    redirect(STDIN_FILENO, texts[INPUT], O_RDONLY, AT_INPUT);
    redirect(STDOUT_FILENO, texts[OUTPUT], O_WRONLY | O_CREAT | O_TRUNC, AT_OUTPUT);
    redirect(STDERR_FILENO, texts[ERRORS], O_WRONLY | O_CREAT | O_TRUNC, AT_ERRORS);
    environ = arguments + job->arguments + 1;
    name_program(arguments[0]);
    if (*texts[SCHEDULE] && whence_schedule_start(texts[SCHEDULE]))
        fail(AT_SCHEDULE);
    if (*texts[TRACE] && whence_record_start(texts[TRACE], job->trace_limit, kept_by(job)))
        fail(AT_TRACE);
    whence_note_given(arguments, environ);
    uint64_t suppression = *texts[SESSION] ? whence_suppression_open(texts[SESSION], 0) : 0;
    int is_session = *texts[SESSION] && !suppression;
    set_limits(job, OWN_MEMORY + (is_session ? open_session(texts[SESSION]) : suppression));
    if ((job->flags & JOB_CONFINED) && whence_confine(texts[WORK], !is_session))
        fail(AT_LIMITS);
    close_failure();
    restore_signals(&server->unblocked);
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
