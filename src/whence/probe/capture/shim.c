/* Stands in for a program while a test suite runs: starts it, and keeps what it was given, what it read and what came of it.

   The system tells of each call of the program that names a file, and of reads and writes of the standard streams, before it
   makes it (seccomp's user notification): so a file is copied as it was before the program changed it, standard input is
   what the program took of it, and nothing between the program and the suite is in the way. What is kept is a folder for each
   invocation: `about` (items "key value", each ended by a NUL), `stdin`, `stdout`, `stderr`, and copies of files by number. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "notify.h"
#include "touched.h"

extern char **environ;

/* Written into the executable by the one who puts it in the program's place. */
volatile struct settings settings = {.mark = "##WHENCE-CAPTURE-SHIM##"};

static pid_t child;
static FILE *about;
static int kept; /* the folder of this invocation */

static void note(const char *key, const char *value)
{
    fprintf(about, "%s %s", key, value);
    fputc(0, about);
}

static void note_number(const char *key, long value)
{
    char text[24];
    snprintf(text, sizeof text, "%ld", value);
    note(key, text);
}

/* ---- What it is given ------------------------------------------------------------------------------------------------ */

static int open_folder(void)
{
    struct timespec now;
    char path[2 * PATH_MAX];
    clock_gettime(CLOCK_MONOTONIC, &now);
    snprintf(path, sizeof path, "%s/%012ld%09ld-%d", (const char *)settings.kept, (long)now.tv_sec, now.tv_nsec, getpid());
    if (mkdir(path, 0700))
        return -1;
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* What the test is told instead of what this invocation gives, where it begins as number N: `instead.N` holds a status, and
   `instead.N.out` the output; each is its own where the file is not there. */
static int told_status = -1, told_output = -1, sink = -1;

static long begun_so_far(void)
{
    long begun = 0;
    DIR *folder = opendir((const char *)settings.kept);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        begun += entry->d_type == DT_DIR && entry->d_name[0] != '.';
    if (folder)
        closedir(folder);
    return begun;
}

static void read_told(void)
{
    char path[2 * PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/instead.%ld", (const char *)settings.kept, begun_so_far());
    FILE *file = fopen(path, "r");
    if (file) {
        if (fscanf(file, "%d", &told_status) != 1)
            told_status = -1;
        fclose(file);
    }
    snprintf(path + length, sizeof path - (size_t)length, ".out");
    told_output = open(path, O_RDONLY | O_CLOEXEC);
    if (told_output >= 0)
        sink = open("/dev/null", O_WRONLY | O_CLOEXEC);
}

static void tell_output(void)
{
    char part[1 << 12];
    for (ssize_t size; told_output >= 0 && (size = read(told_output, part, sizeof part)) > 0;)
        for (ssize_t at = 0, put; at < size; at += put)
            if ((put = write(STDOUT_FILENO, part + at, (size_t)(size - at))) <= 0)
                return;
}

static int same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Keeps the rest of a file on standard input, which stays where it is. */
static void keep_rest(void)
{
    off_t at = lseek(STDIN_FILENO, 0, SEEK_CUR);
    if (at < 0 || copy_bytes(STDIN_FILENO, kept, "stdin", at, settings.most) < 0)
        note("stdin-is", "large");
}

static int note_stdin(void)
{
    struct stat is;
    if (fstat(STDIN_FILENO, &is)) {
        note("stdin-is", "closed");
        return 0;
    }
    if (S_ISREG(is.st_mode))
        keep_rest();
    else if (S_ISFIFO(is.st_mode) && !(fcntl(STDIN_FILENO, F_GETFL) & O_NONBLOCK))
        return 1;
    else if (!S_ISCHR(is.st_mode) || is.st_rdev != NULL_DEVICE)
        note("stdin-is", "special");
    return 0;
}

/* Where in a file standard output begins: a test may compare the file later. Or that nobody looks at it. */
static void note_output(void)
{
    char path[PATH_MAX];
    struct stat is;
    ssize_t length = readlink("/proc/self/fd/1", path, sizeof path - 1);
    if (length < 0 || fstat(STDOUT_FILENO, &is))
        return;
    if (S_ISCHR(is.st_mode) && is.st_rdev == NULL_DEVICE)
        note("discarded", "output");
    if (!S_ISREG(is.st_mode))
        return;
    path[length] = 0;
    note("output", path);
    note_number("offset", fcntl(STDOUT_FILENO, F_GETFL) & O_APPEND ? is.st_size : lseek(STDOUT_FILENO, 0, SEEK_CUR));
}

static void note_start(char **argv)
{
    char folder[PATH_MAX];
    note("folder", getcwd(folder, sizeof folder) ? folder : "");
    for (char **word = argv; *word; word++)
        note("word", *word);
    for (char **variable = environ; variable && *variable; variable++)
        note("variable", *variable);
}

/* ---- The calls that the system tells of ------------------------------------------------------------------------------- */

static struct stat streams[3];
static int has_stream[3];
static int input = -1; /* a pipe on standard input */
static struct seccomp_notif waiting; /* a read of it that waits for data */
static int is_waiting;

static int is_stream(pid_t pid, int fd)
{
    char path[64];
    struct stat is;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, fd);
    return has_stream[fd] && !stat(path, &is) && same_file(&is, &streams[fd]);
}

static void keep_output(int fd, const void *data, size_t size)
{
    static int files[3] = {-1, -1, -1};
    static uint64_t written[3];
    static const char *const names[] = {"", "stdout", "stderr"};
    if (files[fd] < 0)
        files[fd] = openat(kept, names[fd], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    written[fd] += size;
    if (written[fd] > settings.most || files[fd] < 0 || write(files[fd], data, size) != (ssize_t)size)
        note("large", names[fd]);
}

static void keep_remote(pid_t pid, int fd, uint64_t address, uint64_t size)
{
    static char buffer[1 << 16];
    while (size) {
        size_t part = size < sizeof buffer ? size : sizeof buffer;
        ssize_t got = read_remote(pid, address, buffer, part);
        if (got <= 0)
            return;
        keep_output(fd, buffer, (size_t)got);
        address += (uint64_t)got;
        size -= (uint64_t)got;
    }
}

static void keep_write(const struct seccomp_notif *call)
{
    int fd = (int)call->data.args[0];
    if (!is_stream((pid_t)call->pid, fd))
        return;
    if (call->data.nr == SYS_write) {
        keep_remote((pid_t)call->pid, fd, call->data.args[1], call->data.args[2]);
        return;
    }
    for (uint64_t i = 0; i < call->data.args[2]; i++) {
        struct iovec part;
        if (read_remote((pid_t)call->pid, call->data.args[1] + i * sizeof part, &part, sizeof part) == sizeof part)
            keep_remote((pid_t)call->pid, fd, (uint64_t)(uintptr_t)part.iov_base, part.iov_len);
    }
}

/* Makes a read of the pipe in the program's place, once there is something to read: what it took is known then. */
static void make_read(int listener)
{
    static char buffer[1 << 16];
    static int file = -1;
    size_t size = waiting.data.args[2] < sizeof buffer ? waiting.data.args[2] : sizeof buffer;
    is_waiting = 0;
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &waiting.id))
        return; /* a signal came between */
    ssize_t got = read(input, buffer, size);
    int error = got < 0 ? errno : 0;
    if (file < 0)
        file = openat(kept, "stdin", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (got > 0 && write(file, buffer, (size_t)got) != got)
        note("unclear", "its standard input");
    if (got > 0 && write_remote((pid_t)waiting.pid, waiting.data.args[1], buffer, (size_t)got) != got)
        error = EFAULT;
    answer(listener, waiting.id, error ? 0 : got, error);
}

static void take_call(int listener)
{
    struct seccomp_notif call;
    memset(&call, 0, sizeof call);
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call))
        return;
    if (call.data.nr == SYS_read && input >= 0 && !is_waiting && is_stream((pid_t)call.pid, STDIN_FILENO)) {
        waiting = call;
        is_waiting = 1;
        return;
    }
    if (call.data.nr == SYS_write || call.data.nr == SYS_writev)
        keep_write(&call);
    else if (call.data.nr != SYS_read)
        touch_files(&call);
    go_on(listener, call.id);
}

/* Serves until the program has ended, or with `process` -1 until nothing that it started runs any more. */
static void serve(int listener, int process)
{
    for (;;) {
        struct pollfd on[] = {{listener, POLLIN, 0}, {process, POLLIN, 0}, {is_waiting ? input : -1, POLLIN, 0}};
        if (poll(on, 3, -1) < 0)
            continue;
        if (on[0].revents & POLLIN)
            take_call(listener);
        else if (on[2].revents)
            make_read(listener);
        else if (on[1].revents || on[0].revents)
            return;
    }
}

/* ---- The program ------------------------------------------------------------------------------------------------------ */

static void pass_on(int number)
{
    kill(child, number);
}

static void pass_signals_on(void)
{
    static const int passed[] = {SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGTERM, SIGCONT, SIGWINCH};
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++)
        if (signal(passed[i], pass_on) == SIG_IGN)
            signal(passed[i], SIG_IGN);
}

static _Noreturn void start(char **argv)
{
    execv((const char *)settings.program, argv);
    dprintf(STDERR_FILENO, "whence: cannot start %s: %s\n", (const char *)settings.program, strerror(errno));
    _exit(125);
}

static _Noreturn void run_child(char **argv, int channel)
{
    if (sink >= 0)
        dup2(sink, STDOUT_FILENO);
    int listener = listen_to_calls(input >= 0);
    send_descriptor(channel, listener);
    close(channel);
    if (listener >= 0)
        close(listener);
    start(argv);
}

static _Noreturn void end_like(int status)
{
    if (WIFSIGNALED(status)) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        signal(WTERMSIG(status), SIG_DFL);
        kill(getpid(), WTERMSIG(status));
    }
    _exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

static int wait_for_child(void)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

static void note_end(int status)
{
    keep_written();
    note_number("signal", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    note_number("status", WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
    fclose(about);
}

static int has_users(int listener)
{
    struct pollfd on = {listener, 0, 0};
    return listener >= 0 && poll(&on, 1, 0) == 0;
}

int main(int argc, char **argv)
{
    (void)argc;
    kept = open_folder();
    int file = kept < 0 ? -1 : openat(kept, "about", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    about = file < 0 ? NULL : fdopen(file, "w");
    if (!about)
        start(argv);
    read_told();
    for (int fd = 0; fd < 3; fd++)
        has_stream[fd] = !fstat(fd == STDOUT_FILENO && sink >= 0 ? sink : fd, &streams[fd]);
    note_start(argv);
    note_output();
    if (note_stdin())
        input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 10);
    begin_touching(kept, about);
    fflush(about);
    int channel[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel))
        start(argv);
    child = fork();
    if (child == 0)
        run_child(argv, channel[1]);
    close(channel[1]);
    pass_signals_on();
    signal(SIGPIPE, SIG_IGN);
    tell_output();
    for (int fd = 0; fd < 3; fd++)
        close(fd);
    int listener = receive_descriptor(channel[0]);
    if (listener >= 0)
        serve(listener, (int)syscall(SYS_pidfd_open, child, 0));
    else
        note("unclear", listener == LISTENED_TO ? "nested" : "what it read: the system does not tell");
    int status = wait_for_child();
    note_end(status);
    if (has_users(listener) && fork() == 0) {
        about = fopen("/dev/null", "w");
        serve(listener, -1);
        _exit(0);
    }
    if (told_status >= 0)
        _exit(told_status);
    end_like(status);
}
