/* What each run of a program begins with, however it goes on: its folder, its streams and its limits (child.c, and the
   launcher for programs that hold no server). */
#define _GNU_SOURCE
#include "base/base.h"
#include "server/job.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

void whence_stop(const char *what, const char *path)
{
    dprintf(STDERR_FILENO, "whence: cannot %s %s: %s\n", what, path, strerror(errno));
    _exit(WHENCE_START_FAILED);
}

void whence_default_signals(void)
{
    struct sigaction now;
    for (int number = 1; number < NSIG; number++)
        if (!sigaction(number, NULL, &now) && now.sa_handler == SIG_IGN)
            signal(number, SIG_DFL);
}

void whence_fail(const struct whence_server *server, enum stage stage)
{
    server->failure->error = errno;
    server->failure->stage = stage;
    _exit(WHENCE_START_FAILED);
}

static void redirect(const struct whence_server *server, int target, enum text path, int flags, enum stage stage)
{
    int fd = open(server->pointers[path], flags, 0600);
    if (fd < 0 || (fd != target && dup2(fd, target) < 0))
        whence_fail(server, stage);
    if (fd != target)
        close(fd);
}

void whence_set_up(const struct whence_server *server)
{
    char **texts = server->pointers;
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(server->control);
    if (chdir(texts[WORK]) || (*texts[START] && chdir(texts[START])))
        whence_fail(server, AT_FOLDER);
    redirect(server, STDIN_FILENO, INPUT, O_RDONLY, AT_INPUT);
    redirect(server, STDOUT_FILENO, OUTPUT, O_WRONLY | O_CREAT | O_TRUNC, AT_OUTPUT);
    redirect(server, STDERR_FILENO, ERRORS, O_WRONLY | O_CREAT | O_TRUNC, AT_ERRORS);
}

static void limit(const struct whence_server *server, int resource, uint64_t value)
{
    struct rlimit bounds;
    if (!value)
        return;
    if (getrlimit(resource, &bounds))
        whence_fail(server, AT_LIMITS);
    if (value < bounds.rlim_max)
        bounds.rlim_max = value;
    bounds.rlim_cur = bounds.rlim_max;
    if (setrlimit(resource, &bounds))
        whence_fail(server, AT_LIMITS);
}

void whence_set_limits(const struct whence_server *server, uint64_t own_memory, uint64_t own_file)
{
    const struct job *job = server->job;
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    limit(server, RLIMIT_CPU, job->cpu_s);
    limit(server, RLIMIT_FSIZE, job->output && job->output < own_file ? own_file : job->output);
    if (job->memory)
        limit(server, RLIMIT_AS, job->memory + OWN_MEMORY + own_memory);
}

void whence_restore_signals(const struct whence_server *server)
{
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_SETMASK, &server->unblocked, NULL);
}
