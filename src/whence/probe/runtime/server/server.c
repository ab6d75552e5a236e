/* The fork server of an instrumented program.

   A program started with WHENCE_CONTROL=fd serves jobs from that socket: each job is one run of the program, made by
   a fork of this process, which has loaded and linked everything but has not run the program's own main. The protocol is
   described in run/protocol.py. In the launcher for programs that hold none (probe/launcher) a run is an exec of them.

   The server allocates nothing and uses no stream of the C library: what a child inherits is the state in which the
   program would have started by itself. */
#define _GNU_SOURCE
#include "base/base.h"
#include "record/coverage.h"
#include "record/trace.h"
#include "server/job.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MESSAGE_MAX = 4 << 20, POINTERS_MAX = 1 << 16 };

static struct whence_server server;

/* ---- A job ---------------------------------------------------------------------------------------------------- */

/* The working folder has the same path in every run: an empty folder, which a prepared one replaces. */
static void enter_folder(const struct job *job)
{
    if ((job->flags & JOB_PREPARED) && rename(server.pointers[SPARE], server.pointers[WORK])) {
        server.failure->error = errno;
        server.failure->stage = AT_FOLDER;
    }
}

static int is_link(const char *path)
{
    struct stat about;
    return !lstat(path, &about) && S_ISLNK(about.st_mode);
}

/* Leaves an empty working folder for the next run; what this one wrote goes to the spare folder. */
static uint32_t leave_folder(const struct job *job)
{
    const char *work = server.pointers[WORK], *spare = server.pointers[SPARE];
    uint32_t flags = 0;
    if ((job->flags & JOB_PREPARED) || rmdir(work)) {
        if (!is_link(work))
            chmod(work, 0700);
        if (!rename(work, spare))
            flags = SPARE_USED;
    }
    if (mkdir(work, 0700)) {
        server.failure->error = errno;
        server.failure->stage = AT_FOLDER;
    }
    return flags;
}

static void save_coverage(const struct job *job, struct reply *reply)
{
    size_t size = server.sites * sizeof *server.counters;
    if (!size)
        return;
    if (job->row >= 0) {
        int fd = open(server.pointers[MATRIX], O_WRONLY | O_CLOEXEC);
        if (fd < 0 || pwrite(fd, server.counters, size, job->row * (off_t)size) != (ssize_t)size) {
            reply->error = errno;
            reply->stage = AT_MATRIX;
        }
        if (fd >= 0)
            close(fd);
    }
    memset(server.counters, 0, size);
}

static void run_program(struct reply *reply)
{
    int status = 0;
    struct rusage usage;
    int64_t start = whence_now_us();
    pid_t pid = fork();
    if (pid < 0) {
        reply->error = errno;
        reply->stage = AT_FORK;
        return;
    }
    if (pid == 0)
        whence_run_child(&server);
    reply->flags |= whence_await_end(pid, &server);
    reply->wall_us = (uint64_t)(whence_now_us() - start);
    whence_kill_group(pid);
    wait4(pid, &status, 0, &usage);
    whence_reap_orphans();
    reply->max_rss_kb = (uint64_t)usage.ru_maxrss;
    if (WIFSIGNALED(status) && WTERMSIG(status) == WHENCE_DEADLOCK)
        reply->flags |= TIMED_OUT | DEADLOCKED;
    if (WIFSIGNALED(status))
        reply->signal = WTERMSIG(status);
    else
        reply->status = WEXITSTATUS(status);
}

static struct reply run_job(const struct job *job)
{
    struct reply reply = {.id = job->id};
    server.failure->error = 0;
    server.failure->stage = 0;
    enter_folder(job);
    if (!server.failure->stage) {
        run_program(&reply);
        reply.flags |= leave_folder(job);
        save_coverage(job, &reply);
    }
    if (server.failure->stage) {
        reply.error = server.failure->error;
        reply.stage = server.failure->stage;
    }
    return reply;
}

/* ---- The socket ----------------------------------------------------------------------------------------------- */

static void receive(void *target, size_t size)
{
    for (char *at = target; size;) {
        ssize_t got = read(server.control, at, size);
        if (got <= 0 && !(got < 0 && errno == EINTR))
            _exit(0);
        if (got > 0) {
            at += got;
            size -= (size_t)got;
        }
    }
}

static void answer(const void *data, size_t size)
{
    if (send(server.control, data, size, MSG_NOSIGNAL) != (ssize_t)size)
        _exit(0);
}

/* Points at the job's strings. A message that does not hold as many as it says is refused. */
static int split_strings(struct job *job)
{
    char *at = (char *)(job + 1), *end = (char *)job + job->length;
    char **pointer = server.pointers;
    uint32_t left = TEXTS + job->arguments + job->variables;
    if (job->arguments == 0 || left + 2 > POINTERS_MAX || end[-1] != 0)
        return -1;
    for (uint32_t i = 0; left; i++, left--) {
        if (at >= end)
            return -1;
        if (i == TEXTS + job->arguments)
            *pointer++ = NULL;
        *pointer++ = at;
        at += strlen(at) + 1;
    }
    if (!job->variables)
        *pointer++ = NULL;
    *pointer = NULL;
    return 0;
}

/* The next job in its place, where every job lies at the same addresses; null when its strings cannot be used. */
static struct job *receive_job(void)
{
    struct job *job = server.job;
    receive(job, sizeof *job);
    if (job->length <= sizeof *job || job->length > MESSAGE_MAX)
        _exit(1);
    receive(job + 1, job->length - sizeof *job);
    return split_strings(job) ? NULL : job;
}

/* Pages outside the heap. Private ones are the child's own copy: a program may write into its arguments. */
static void *map_pages(size_t size, int sharing)
{
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        whence_stop("map memory for", "the fork server");
    return pages;
}

static void ignore(int signal)
{
    (void)signal;
}

/* SIGCHLD is let in while the server waits in ppoll only, so none is lost. */
static void block_signals(void)
{
    struct sigaction action = {.sa_handler = ignore};
    sigset_t child;
    sigaction(SIGCHLD, &action, NULL);
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, &server.unblocked);
}

/* Goes on in a child, the server. A program may kill or stop that, its parent; this process, which it does not know, is
   there to end what has been left behind then, and to let it go on. */
static void supervise(int control)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    int status;
    pid_t child = fork(), waited;
    if (child == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (child <= 0)
        return;
    close(control);
    while ((waited = waitpid(child, &status, WUNTRACED)) == child ? WIFSTOPPED(status) : errno == EINTR) {
        if (waited == child)
            kill(child, SIGCONT);
    }
    whence_reap_orphans();
    _exit(0);
}

int whence_serve(int control, whence_entry entry)
{
    struct hello hello = {{'W', 'H', 'N', 'C', 'S', 'R', 'V', '1'}, 4, 0, 0};
    supervise(control);
    server.control = control;
    server.entry = entry;
    server.job = map_pages(MESSAGE_MAX, MAP_PRIVATE);
    server.pointers = map_pages(POINTERS_MAX * sizeof *server.pointers, MAP_PRIVATE);
    server.failure = map_pages(sizeof *server.failure, MAP_SHARED);
    server.counters = whence_coverage(&server.sites);
    if (server.counters)
        memset(server.counters, 0, server.sites * sizeof *server.counters);
    fcntl(control, F_SETFD, FD_CLOEXEC);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    /* Where it is allowed: the server must get its turn among thousands of a fork bomb's processes. */
    sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &(struct sched_param){.sched_priority = 1});
    block_signals();
    hello.sites = server.sites;
    answer(&hello, sizeof hello);
    for (;;) {
        struct job *job = receive_job();
        struct reply reply = {.id = server.job->id, .error = E2BIG, .stage = AT_MESSAGE};
        if (job)
            reply = run_job(job);
        answer(&reply, sizeof reply);
    }
}
