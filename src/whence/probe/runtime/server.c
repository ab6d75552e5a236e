/* The start of an instrumented program, and its fork server.

   A program started with WHENCE_CONTROL=fd serves jobs from that socket: each job is one run of the program, made by
   a fork of this process, which has loaded and linked everything but has not run the program's own main. Without it
   the program runs once, recording or counting as the other variables say. The protocol is described in
   run/protocol.py, and run/launcher.py is this file's twin for programs that hold no server.

   The server allocates nothing and uses no stream of the C library: what a child inherits is the state in which the
   program would have started by itself. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "alter.h"
#include "server.h"
#include "whence.h"

extern char **environ;

enum { MESSAGE_MAX = 4 << 20, POINTERS_MAX = 1 << 16, DEAD_STACK = 32 << 10, PATTERN_STACK = 512 << 10, WATCH_MS = 20, REAP_TRIES = 1000,
       MOST_WAITING = 4 /* times the time limit */, SLEEPING = 20 /* a run with less than one part of so many computes nothing */ };

/* Address space for the server and the recorder, beside what the program may use. */
#define OWN_MEMORY (UINT64_C(128) << 20)

/* A job as run/protocol.py packs it; `length` counts everything from this header on. */
struct job {
    uint32_t length, id;
    uint32_t wall_ms, cpu_s;
    uint64_t memory, output;
    uint32_t processes, flags;
    uint64_t trace_limit;
    int64_t row;
    uint32_t arguments, variables;
};
enum { JOB_PREPARED = 1, JOB_RING = 2, JOB_END_AT_LIMIT = 4 };
enum text { WORK, SPARE, INPUT, OUTPUT, ERRORS, TRACE, MATRIX, SESSION, TEXTS };

struct reply {
    uint32_t id, flags;
    int32_t status, signal;
    int32_t error;
    uint32_t stage;
    uint64_t wall_us, max_rss_kb;
};
enum { TIMED_OUT = 1, SPARE_USED = 2, TOO_MANY_PROCESSES = 4 };
enum stage { AT_FOLDER = 1, AT_INPUT, AT_OUTPUT, AT_ERRORS, AT_TRACE, AT_LIMITS, AT_PROGRAM, AT_FORK, AT_MESSAGE, AT_MATRIX, AT_SESSION };

struct hello {
    char magic[8];
    uint32_t version, reserved;
    uint64_t sites;
};

/* What a child tells about a set-up that failed, in memory shared with the server. */
struct failure {
    int32_t error;
    uint32_t stage;
};

static struct {
    int control;
    whence_entry entry;
    sigset_t unblocked;
    uint32_t *counters;
    size_t sites;
    struct job *job;
    char **pointers; /* the job's strings: TEXTS paths, arguments, null, variables, null */
    volatile struct failure *failure;
    int pattern; /* of fresh memory */
} server;

/* ---- Starting without a server -------------------------------------------------------------------------------- */

/* Takes NAME=value out of the environment, in place, and returns the value, or null. */
static char *take_setting(const char *name)
{
    size_t length = strlen(name);
    char *value = NULL;
    char **kept = environ;
    if (!environ)
        return NULL;
    for (char **variable = environ; *variable; variable++) {
        if (!strncmp(*variable, name, length) && (*variable)[length] == '=')
            value = *variable + length + 1;
        else
            *kept++ = *variable;
    }
    *kept = NULL;
    return value;
}

static void stop(const char *what, const char *path)
{
    dprintf(STDERR_FILENO, "whence: cannot %s %s: %s\n", what, path, strerror(errno));
    _exit(WHENCE_START_FAILED);
}

static void start_recording(const char *path, const char *limit, const char *ring)
{
    size_t length = strlen(path);
    int (*start)(const char *, uint64_t, enum whence_keep) =
        length && path[length - 1] == '/' ? whence_record_in_folder : whence_record_start;
    if (start(path, limit ? strtoull(limit, NULL, 10) : 0, ring && *ring == '1' ? WHENCE_KEEP_LAST : WHENCE_KEEP_FIRST))
        stop("record into", path);
}

int whence_start(void)
{
    char *control = take_setting("WHENCE_CONTROL");
    char *coverage = take_setting("WHENCE_COVERAGE");
    char *trace = take_setting("WHENCE_TRACE");
    char *limit = take_setting("WHENCE_TRACE_LIMIT");
    char *ring = take_setting("WHENCE_RING");
    if (coverage && whence_coverage_start(coverage))
        stop("count into", coverage);
    if (control)
        return atoi(control);
    if (trace)
        start_recording(trace, limit, ring);
    return -1;
}

/* A program whose main was not captured has no server; it starts here, before its other constructors. */
extern const char whence_main_captured[] __attribute__((weak));

__attribute__((constructor(101))) static void start_without_main(void)
{
    if (!whence_main_captured)
        whence_start();
}

/* ---- The child ------------------------------------------------------------------------------------------------ */

static void fail(enum stage stage)
{
    server.failure->error = errno;
    server.failure->stage = stage;
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

/* MALLOC_PERTURB_ makes the C library fill what it allocates with the complement of a byte (0: it does not). This process
   has started long ago, so the C library is told of it here; the stack is filled in the same way. */
static void take_pattern(void)
{
    const char *text = getenv("MALLOC_PERTURB_");
    int setting = text ? (int)strtol(text, NULL, 0) & 255 : 0;
    server.pattern = setting ? ~setting & 255 : 0;
#ifdef M_PERTURB
    if (setting)
        mallopt(M_PERTURB, setting);
#endif
}

/* What the server left below the stack pointer must not be what the program reads from uninitialised variables. */
__attribute__((noinline)) void whence_fill_stack(void)
{
    char area[server.pattern ? PATTERN_STACK : DEAD_STACK];
    memset(area, server.pattern, sizeof area);
    __asm__ volatile("" : : "r"(area) : "memory");
}

/* The name that assert and err print. */
static void name_program(char *name)
{
    char *slash = strrchr(name, '/');
    program_invocation_name = name;
    program_invocation_short_name = slash ? slash + 1 : name;
}

static void restore_signals(void)
{
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_SETMASK, &server.unblocked, NULL);
}

static enum whence_keep kept_by(const struct job *job)
{
    if (job->flags & JOB_RING)
        return WHENCE_KEEP_LAST;
    return job->flags & JOB_END_AT_LIMIT ? WHENCE_END_AT_LIMIT : WHENCE_KEEP_FIRST;
}

static uint64_t open_session(const char *text)
{
    size_t size = *text ? whence_session_open(text) : 0;
    if (*text && !size)
        fail(AT_SESSION);
    return size;
}

/* The set-up is over, and nothing else may be told for it: a program that writes where it should not, as altered runs do,
   crashes there. */
static void close_failure(void)
{
    if (mprotect((void *)server.failure, sizeof *server.failure, PROT_NONE))
        fail(AT_LIMITS);
}

static void run_child(const struct job *job)
{
    char **texts = server.pointers, **arguments = texts + TEXTS;
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(server.control);
    if (chdir(texts[WORK]))
        fail(AT_FOLDER);
    redirect(STDIN_FILENO, texts[INPUT], O_RDONLY, AT_INPUT);
    redirect(STDOUT_FILENO, texts[OUTPUT], O_WRONLY | O_CREAT | O_TRUNC, AT_OUTPUT);
    redirect(STDERR_FILENO, texts[ERRORS], O_WRONLY | O_CREAT | O_TRUNC, AT_ERRORS);
    environ = arguments + job->arguments + 1;
    name_program(arguments[0]);
    if (*texts[TRACE] && whence_record_start(texts[TRACE], job->trace_limit, kept_by(job)))
        fail(AT_TRACE);
    set_limits(job, OWN_MEMORY + open_session(texts[SESSION]));
    close_failure();
    restore_signals();
    take_pattern();
    errno = 0; /* as a program starts; waiting for the run before has left its own */
    if (*texts[SESSION])
        whence_session_run(server.entry, (int)job->arguments, arguments, environ);
    if (*texts[TRACE])
        whence_run_as_session(server.entry, (int)job->arguments, arguments, environ);
    whence_fill_stack();
    exit(server.entry((int)job->arguments, arguments, environ));
}

/* ---- Waiting -------------------------------------------------------------------------------------------------- */

static int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000) + t.tv_nsec / 1000;
}

static void kill_group(pid_t pid)
{
    kill(-pid, SIGKILL);
    kill(pid, SIGKILL);
}

/* The number in field `field` (1: the parent, 2: the group, 3: the session) after the name in /proc/PID/stat, or -1. */
static long process_field(const char *pid, int field)
{
    char path[64], text[512], *at;
    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    text[length > 0 ? length : 0] = 0;
    at = strrchr(text, ')');
    if (!at)
        return -1;
    for (at += 2; field > 0 && *at; at++)
        field -= *at == ' ';
    return strtol(at, NULL, 10);
}

/* Counts the processes whose field of /proc/PID/stat has this value, and kills them when asked. Reads the folder by
   the system call, since opendir allocates. */
static unsigned count_processes(int field, long value, int kill_them)
{
    struct entry {
        uint64_t inode, offset;
        unsigned short length;
        unsigned char type;
        char name[];
    };
    char buffer[4096] __attribute__((aligned(8)));
    unsigned count = 0;
    long length;
    int folder = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (folder >= 0 && (length = syscall(SYS_getdents64, folder, buffer, sizeof buffer)) > 0) {
        for (long at = 0; at < length; at += ((struct entry *)(buffer + at))->length) {
            const char *name = ((struct entry *)(buffer + at))->name;
            if (*name < '1' || *name > '9' || process_field(name, field) != value)
                continue;
            count++;
            if (kill_them)
                kill((pid_t)strtol(name, NULL, 10), SIGKILL);
        }
    }
    if (folder >= 0)
        close(folder);
    return count;
}

static unsigned tasks_of_system(void)
{
    struct sysinfo info;
    return sysinfo(&info) ? 0 : info.procs;
}

/* RLIMIT_NPROC counts all processes of a user and does not bind root, so the run's own session is counted; the
   system's count tells cheaply whether that is worth while. */
static int too_many_processes(pid_t pid, const struct job *job, unsigned tasks_before)
{
    unsigned tasks = tasks_of_system();
    return job->processes && tasks > tasks_before && tasks - tasks_before > job->processes &&
           count_processes(3, pid, 0) > job->processes;
}

static int has_ended(pid_t pid)
{
    siginfo_t info;
    info.si_pid = 0;
    return !waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid == pid;
}

/* Ends and collects whatever the run left behind: orphans come to this process, which is their subreaper. */
static void reap_orphans(void)
{
    for (int tries = 0; tries < REAP_TRIES; tries++) {
        pid_t pid;
        while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
            continue;
        if (pid < 0)
            return;
        if (tries && !count_processes(1, getpid(), 1))
            return;
        usleep(200);
    }
}

/* Whether a run whose time is over has had too little of it, since the machine does other things: it computes, but got
   less than three quarters of its time limit as processor time, and not four times the limit has passed. */
static int was_kept_waiting(pid_t pid, const struct job *job, int64_t start)
{
    int64_t limit = job->wall_ms * INT64_C(1000), passed = now_us() - start;
    clockid_t clock;
    struct timespec used;
    if (passed >= MOST_WAITING * limit || clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &used))
        return 0;
    int64_t computed = used.tv_sec * INT64_C(1000000) + used.tv_nsec / 1000;
    return computed * SLEEPING >= passed && computed * 4 < limit * 3;
}

/* Waits until the child has ended, or ends it; the child stays a zombie, so that its group can be addressed. When
   the other side of the socket is gone, there is nobody to serve. */
static uint32_t await_end(pid_t pid, const struct job *job)
{
    int64_t start = now_us(), deadline = start + job->wall_ms * INT64_C(1000);
    unsigned tasks = tasks_of_system();
    uint32_t flags = 0;
    while (!has_ended(pid)) {
        int64_t left = deadline - now_us();
        struct timespec pause = {0, WATCH_MS * 1000000L};
        struct pollfd control = {server.control, POLLRDHUP, 0};
        if (!flags && left <= 0 && was_kept_waiting(pid, job, start)) {
            left = WATCH_MS * 1000;
            deadline = now_us() + left;
        } else if (!flags && left <= 0)
            flags = TIMED_OUT;
        else if (!flags && too_many_processes(pid, job, tasks))
            flags = TOO_MANY_PROCESSES;
        if (flags)
            kill_group(pid);
        else if (left < WATCH_MS * 1000)
            pause.tv_nsec = left * 1000;
        if (ppoll(&control, 1, &pause, &server.unblocked) > 0) {
            kill_group(pid);
            reap_orphans();
            _exit(1);
        }
    }
    return flags;
}

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

static void run_program(const struct job *job, struct reply *reply)
{
    int status = 0;
    struct rusage usage;
    int64_t start = now_us();
    pid_t pid = fork();
    if (pid < 0) {
        reply->error = errno;
        reply->stage = AT_FORK;
        return;
    }
    if (pid == 0)
        run_child(job);
    reply->flags |= await_end(pid, job);
    reply->wall_us = (uint64_t)(now_us() - start);
    kill_group(pid);
    wait4(pid, &status, 0, &usage);
    reap_orphans();
    reply->max_rss_kb = (uint64_t)usage.ru_maxrss;
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
        run_program(job, &reply);
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
        stop("map memory for", "the fork server");
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

/* Goes on in a child, the server. A program may kill that, its parent; this process, which it does not know, is there to end
   what has been left behind then. */
static void supervise(int control)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t child = fork();
    if (child == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (child <= 0)
        return;
    close(control);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
    reap_orphans();
    _exit(0);
}

int whence_serve(int control, whence_entry entry)
{
    struct hello hello = {{'W', 'H', 'N', 'C', 'S', 'R', 'V', '1'}, 2, 0, 0};
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
