/* The processes of a run: waiting for its end within its limits, and ending what it leaves behind. */
#define _GNU_SOURCE
#include "base/base.h"
#include "server/job.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WATCH_MS = 20, REAP_TRIES = 1000 };

void whence_kill_group(pid_t pid)
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

void whence_reap_orphans(void)
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

/* Whether a run whose time is over has had too little of a processor. */
static int was_kept_waiting(pid_t pid, const struct job *job, int64_t start)
{
    clockid_t clock;
    struct timespec used;
    if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &used))
        return 0;
    int64_t computed = used.tv_sec * INT64_C(1000000) + used.tv_nsec / 1000;
    return whence_was_kept_waiting(whence_now_us() - start, computed, job->wall_ms * INT64_C(1000));
}

uint32_t whence_await_end(pid_t pid, const struct whence_server *server)
{
    const struct job *job = server->job;
    int64_t start = whence_now_us(), deadline = start + job->wall_ms * INT64_C(1000);
    unsigned tasks = tasks_of_system();
    uint32_t flags = 0;
    while (!has_ended(pid)) {
        int64_t left = deadline - whence_now_us();
        struct timespec pause = {0, WATCH_MS * 1000000L};
        struct pollfd control = {server->control, POLLRDHUP, 0};
        if (!flags && left <= 0 && was_kept_waiting(pid, job, start)) {
            left = WATCH_MS * 1000;
            deadline = whence_now_us() + left;
        } else if (!flags && left <= 0)
            flags = TIMED_OUT;
        else if (!flags && too_many_processes(pid, job, tasks))
            flags = TOO_MANY_PROCESSES;
        if (flags)
            whence_kill_group(pid);
        else if (left < WATCH_MS * 1000)
            pause.tv_nsec = left * 1000;
        if (ppoll(&control, 1, &pause, &server->unblocked) > 0) {
            whence_kill_group(pid);
            whence_reap_orphans();
            _exit(1);
        }
    }
    return flags;
}
