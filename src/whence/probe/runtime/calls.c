/* The system calls of a program in a session. Every one comes here first.

   Standard input is read from memory and standard output and error are compared in memory, so what was read and written
   is part of the subject's state. A continuation may read files and ask for memory, which is taken back at its end. What
   cannot be taken back (writing files, starting processes) makes it give up: another way is tried, in the end a run from
   the start. The unaltered run may do it, as long as continuations stay possible. */
#define _GNU_SOURCE
#include "alter.h"
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/ioctl.h>
#include <ucontext.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_ON 1
#endif

struct whence_streams whence_streams;

/* What the subject believes about signals; the kernel has only the session's own handlers. */
struct action {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};
static struct action actions[65];
static uint64_t blocked;
static stack_t other_stack;

struct call {
    long number, a, b, c, d, e, f;
};

int whence_has_handler(int number)
{
    return actions[number].handler != SIG_DFL && actions[number].handler != SIG_IGN;
}

static int in_continuation(void) { return whence_state.doing == DOING_CONTINUATION; }

static int in_snapshot(void) { return in_continuation() && !whence_is_child; }

static long pass(const struct call *call)
{
    return whence_call(call->number, call->a, call->b, call->c, call->d, call->e, call->f);
}

/* The kernel answers with EFAULT where it would have to write to a protected page. */
static long pass_writing(const struct call *call, long target, size_t length)
{
    whence_snapshot_touch((uintptr_t)target, length);
    return pass(call);
}

/* For the unaltered run only: what it does cannot be taken back. */
static long pass_unless_altered(const struct call *call)
{
    if (in_continuation())
        whence_give_up(call->number);
    return pass(call);
}

/* ---- Taking back ---------------------------------------------------------------------------------------------- */

static struct whence_undo *undo_entry(enum whence_undo_kind kind, long a)
{
    struct whence_undo_log *log = whence_control->undo;
    for (unsigned i = 0; i < log->count; i++) {
        if (log->entries[i].kind == kind && log->entries[i].a == a)
            return &log->entries[i];
    }
    return NULL;
}

static void note_undo(enum whence_undo_kind kind, long a, long b, long number)
{
    struct whence_undo_log *log = whence_control->undo;
    if (!in_continuation())
        return;
    if (log->count == UNDO_MAX)
        whence_give_up(number);
    log->entries[log->count++] = (struct whence_undo){kind, a, b};
}

static void forget_undo(struct whence_undo *entry)
{
    *entry = whence_control->undo->entries[--whence_control->undo->count];
}

/* In the process that goes on; a forked child's descriptors and mappings have ended with it, but offsets are shared. */
void whence_calls_undo(int was_here)
{
    struct whence_undo_log *log = whence_control->undo;
    while (log->count) {
        struct whence_undo entry = log->entries[--log->count];
        if (entry.kind == UNDO_OFFSET)
            whence_call(SYS_lseek, entry.a, entry.b, SEEK_SET, 0, 0, 0);
        else if (entry.kind == UNDO_OPENED && was_here)
            whence_call(SYS_close, entry.a, 0, 0, 0, 0, 0);
        else if (entry.kind == UNDO_MAPPED && was_here)
            whence_call(SYS_munmap, entry.a, entry.b, 0, 0, 0, 0);
    }
    if (was_here && (uintptr_t)whence_call(SYS_brk, 0, 0, 0, 0, 0, 0) != whence_control->heap_end)
        whence_call(SYS_brk, (long)whence_control->heap_end, 0, 0, 0, 0, 0);
}

/* ---- Standard streams ----------------------------------------------------------------------------------------- */

/* Copies between the subject and the session; a bad pointer of the subject gives -EFAULT. */
static long copied(void *target, const void *source, size_t length)
{
    if (__builtin_setjmp(whence_control->bad_pointer))
        return -EFAULT;
    whence_control->is_copying = 1;
    memcpy(target, source, length);
    whence_control->is_copying = 0;
    return (long)length;
}

static long take_input(char *target, uint64_t length, uint64_t at)
{
    uint64_t left = at < whence_control->input_length ? whence_control->input_length - at : 0;
    uint64_t taken = length < left ? length : left;
    return taken ? copied(target, whence_control->input + at, taken) : 0;
}

static long read_input(char *target, uint64_t length)
{
    long got = take_input(target, length, whence_streams.input_at);
    if (got > 0)
        whence_streams.input_at += (uint64_t)got;
    return got;
}

/* Where bytes written at `at` first differ from what is expected there, or NOWHERE. */
static uint64_t first_difference(const char *bytes, uint64_t length, uint64_t at, uint64_t expected, uint64_t size)
{
    const char *right = (const char *)whence_control->file + expected;
    uint64_t compared = at >= size ? 0 : size - at < length ? size - at : length;
    if (compared && memcmp(bytes, right + at, compared)) {
        while (*bytes == right[at])
            bytes++, at++;
        return at;
    }
    return compared < length ? at + compared : WHENCE_NOWHERE;
}

static void compare(int stream, const char *bytes, uint64_t length)
{
    const struct whence_session *file = whence_control->file;
    struct whence_streams *streams = &whence_streams;
    uint64_t at = streams->written[stream];
    if (stream == 1 && (file->flags & JUDGE_OUTPUT) && streams->first_wrong == WHENCE_NOWHERE)
        streams->first_wrong = first_difference(bytes, length, at, file->expected, file->expected_length);
    if (stream == 2 && (file->flags & JUDGE_ERROR) && streams->first_wrong_error == WHENCE_NOWHERE)
        streams->first_wrong_error = first_difference(bytes, length, at, file->expected_error, file->expected_error_length);
}

static int is_wrong_already(void)
{
    return whence_streams.first_wrong != WHENCE_NOWHERE || whence_streams.first_wrong_error != WHENCE_NOWHERE;
}

/* A continuation ends at its first wrong byte, unless its output is kept: then where no more of it is. */
static void end_where_wrong(void)
{
    int keeps = (whence_control->file->flags & KEEP_OUTPUT) != 0;
    int too_much = whence_streams.written[1] > CAPTURE || whence_streams.written[2] > CAPTURE;
    if (in_continuation() && (keeps ? too_much : is_wrong_already()))
        whence_end((struct whence_ending){VERDICT_WRONG_OUTPUT, 0, 0});
}

static long write_output(int stream, const char *bytes, uint64_t length)
{
    char page[4096];
    uint64_t done = 0;
    if (whence_streams.is_closed[stream])
        return -EBADF;
    while (done < length) {
        uint64_t part = length - done < sizeof page ? length - done : sizeof page;
        if (copied(page, bytes + done, part) < 0)
            return done ? (long)done : -EFAULT;
        compare(stream, page, part);
        if (whence_control->file->flags & KEEP_OUTPUT)
            whence_keep_output(stream, whence_streams.written[stream], page, part);
        whence_streams.written[stream] += part;
        done += part;
        end_where_wrong();
    }
    return (long)length;
}

static long each_part(const struct call *call)
{
    const struct iovec *parts = (const struct iovec *)call->b;
    long sum = 0;
    for (long i = 0; i < call->c; i++) {
        long done = call->a ? write_output((int)call->a, parts[i].iov_base, parts[i].iov_len)
                            : read_input(parts[i].iov_base, parts[i].iov_len);
        if (done < 0)
            return sum ? sum : done;
        sum += done;
        if ((size_t)done < parts[i].iov_len)
            break;
    }
    return sum;
}

static long seek_stream(const struct call *call)
{
    uint64_t *at = call->a ? &whence_streams.written[call->a] : &whence_streams.input_at;
    long end = call->a ? (long)*at : (long)whence_control->input_length;
    long target = call->b + (call->c == SEEK_SET ? 0 : call->c == SEEK_CUR ? (long)*at : end);
    if (call->c != SEEK_SET && call->c != SEEK_CUR && call->c != SEEK_END)
        return -EINVAL;
    if (target < 0)
        return -EINVAL;
    if (call->a && target != (long)*at)
        whence_give_up(call->number); /* writing over what was written */
    *at = (uint64_t)target;
    return target;
}

static long close_stream(const struct call *call)
{
    if (whence_streams.is_closed[call->a])
        return -EBADF;
    whence_streams.is_closed[call->a] = 1;
    return 0;
}

/* A call on descriptor 0, 1 or 2. */
static long on_stream(const struct call *call)
{
    int stream = (int)call->a;
    switch (call->number) {
    case SYS_read: return stream ? -EBADF : read_input((char *)call->b, (uint64_t)call->c);
    case SYS_pread64: return stream ? -EBADF : take_input((char *)call->b, (uint64_t)call->c, (uint64_t)call->d);
    case SYS_write: return stream ? write_output(stream, (const char *)call->b, (uint64_t)call->c) : -EBADF;
    case SYS_writev: return stream ? each_part(call) : -EBADF;
    case SYS_readv: return stream ? -EBADF : each_part(call);
    case SYS_lseek: return seek_stream(call);
    case SYS_close: return close_stream(call);
    case SYS_fstat: return pass_writing(call, call->b, sizeof(struct stat));
    case SYS_fsync:
    case SYS_fdatasync:
    case SYS_fadvise64: return 0;
    case SYS_ioctl: return call->b == TCGETS || call->b == TIOCGWINSZ ? -ENOTTY : (whence_give_up(call->number), 0);
    case SYS_fcntl:
        if (call->b == F_GETFD || call->b == F_GETFL)
            return pass(call);
        break;
    default: break;
    }
    whence_give_up(call->number); /* it duplicates a stream, or does something else that is not followed here */
}

/* ---- Files ---------------------------------------------------------------------------------------------------- */

/* What reading moves is taken back at the end; a descriptor of the continuation's own needs no care. */
static void keep_offset(const struct call *call)
{
    if (!in_continuation() || undo_entry(UNDO_OPENED, call->a) || undo_entry(UNDO_OFFSET, call->a))
        return;
    long offset = whence_call(SYS_lseek, call->a, 0, SEEK_CUR, 0, 0, 0);
    if (offset < 0)
        whence_give_up(call->number); /* a pipe, a device: what is read from it is gone */
    note_undo(UNDO_OFFSET, call->a, offset, call->number);
}

static long read_file(const struct call *call)
{
    keep_offset(call);
    if (call->number == SYS_readv) {
        const struct iovec *parts = (const struct iovec *)call->b;
        for (long i = 0; i < call->c; i++)
            whence_snapshot_touch((uintptr_t)parts[i].iov_base, parts[i].iov_len);
        return pass(call);
    }
    return call->number == SYS_lseek ? pass(call) : pass_writing(call, call->b, (size_t)call->c);
}

static long open_file(const struct call *call)
{
    long flags = call->number == SYS_openat ? call->c : call->b;
    if (flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC))
        return pass_unless_altered(call);
    long fd = pass(call);
    if (fd >= 0)
        note_undo(UNDO_OPENED, fd, 0, call->number);
    return fd;
}

static long close_file(const struct call *call)
{
    struct whence_undo *own = undo_entry(UNDO_OPENED, call->a);
    if (in_snapshot() && !own)
        whence_give_up(call->number);
    if (own && in_continuation())
        forget_undo(own);
    return pass(call);
}

static long control_file(const struct call *call)
{
    if (call->b == F_GETFD || call->b == F_GETFL || (call->b == F_SETFD && undo_entry(UNDO_OPENED, call->a)))
        return pass(call);
    return pass_unless_altered(call);
}

/* ---- Memory --------------------------------------------------------------------------------------------------- */

static long move_break(const struct call *call)
{
    if (in_snapshot() && call->a && (uintptr_t)call->a < whence_control->heap_end)
        whence_give_up(call->number);
    if (!in_continuation())
        whence_snapshot_layout_changed();
    return pass(call);
}

static long map_memory(const struct call *call)
{
    int is_private = (call->d & MAP_PRIVATE) || !(call->c & PROT_WRITE);
    if (in_continuation() && (!is_private || (in_snapshot() && (call->d & MAP_FIXED))))
        whence_give_up(call->number);
    if (!in_continuation())
        whence_snapshot_layout_changed();
    long got = pass(call);
    if (got >= 0 || got < -4095)
        note_undo(UNDO_MAPPED, got, call->b, call->number);
    return got;
}

static long unmap_memory(const struct call *call)
{
    struct whence_undo *own = undo_entry(UNDO_MAPPED, call->a);
    if (in_snapshot() && (!own || own->b != call->b))
        whence_give_up(call->number);
    if (!in_continuation())
        whence_snapshot_layout_changed();
    else if (own)
        forget_undo(own);
    return pass(call);
}

static long change_mappings(const struct call *call)
{
    if (in_snapshot())
        whence_give_up(call->number);
    if (!in_continuation())
        whence_snapshot_layout_changed();
    return pass(call);
}

static long advise(const struct call *call)
{
    if (call->c == MADV_DONTNEED || call->c == MADV_FREE)
        return change_mappings(call);
    return 0;
}

/* ---- Signals -------------------------------------------------------------------------------------------------- */

static long set_action(const struct call *call)
{
    if (call->a < 1 || call->a > 64 || call->a == SIGKILL || call->a == SIGSTOP)
        return -EINVAL;
    if (call->c && copied((void *)call->c, &actions[call->a], sizeof(struct action)) < 0)
        return -EFAULT;
    return call->b && copied(&actions[call->a], (void *)call->b, sizeof(struct action)) < 0 ? -EFAULT : 0;
}

static long set_mask(const struct call *call)
{
    uint64_t new = 0, old = blocked;
    if (call->b && copied(&new, (void *)call->b, sizeof new) < 0)
        return -EFAULT;
    if (call->b)
        blocked = call->a == SIG_BLOCK ? blocked | new : call->a == SIG_UNBLOCK ? blocked & ~new : new;
    return call->c && copied((void *)call->c, &old, sizeof old) < 0 ? -EFAULT : 0;
}

static long set_stack(const struct call *call)
{
    if (call->b && copied((void *)call->b, &other_stack, sizeof other_stack) < 0)
        return -EFAULT;
    return call->a && copied(&other_stack, (void *)call->a, sizeof other_stack) < 0 ? -EFAULT : 0;
}

static int ends_process(int number)
{
    return number != SIGCHLD && number != SIGCONT && number != SIGURG && number != SIGWINCH;
}

/* A signal that the subject sends to itself; `number` 0 asks whether it could. */
static long send_signal(const struct call *call, int number, int to_self)
{
    if (!to_self)
        whence_give_up(call->number);
    if (number < 0 || number > 64)
        return -EINVAL;
    if (number == 0 || actions[number].handler == SIG_IGN)
        return 0;
    if (whence_has_handler(number) || (blocked >> (number - 1) & 1))
        whence_give_up(call->number);
    if (!ends_process(number))
        return 0;
    whence_end((struct whence_ending){VERDICT_UNJUDGED, 0, number});
}

static long send(const struct call *call)
{
    long own = whence_call(SYS_getpid, 0, 0, 0, 0, 0, 0), thread = whence_call(SYS_gettid, 0, 0, 0, 0, 0, 0);
    if (call->number == SYS_tgkill)
        return send_signal(call, (int)call->c, call->b == thread);
    if (call->number == SYS_tkill)
        return send_signal(call, (int)call->b, call->a == thread);
    return send_signal(call, (int)call->b, call->a == own || call->a == 0 || call->a == -own);
}

/* ---- All calls ------------------------------------------------------------------------------------------------ */

static void end_by_exit(const struct call *call)
{
    whence_end((struct whence_ending){VERDICT_UNJUDGED, (int)(call->a & 255), 0});
}

/* Calls that tell something and change nothing: `target` is where they write up to `length` bytes. */
static long ask(const struct call *call)
{
    enum { SOME = 1024 };
    switch (call->number) {
    case SYS_getrandom: return pass_writing(call, call->a, (size_t)call->b);
    case SYS_getcwd: return pass_writing(call, call->a, (size_t)call->b);
    case SYS_uname:
    case SYS_sysinfo:
    case SYS_times:
    case SYS_time: return pass_writing(call, call->a, call->a ? SOME : 0);
    case SYS_gettimeofday: return pass_writing(call, call->a, call->a ? 16 : 0);
    case SYS_clock_gettime:
    case SYS_clock_getres:
    case SYS_getrusage:
    case SYS_stat:
    case SYS_lstat:
    case SYS_fstat:
    case SYS_statfs:
    case SYS_fstatfs: return pass_writing(call, call->b, call->b ? SOME : 0);
    case SYS_newfstatat: return pass_writing(call, call->c, SOME);
    case SYS_readlink: return pass_writing(call, call->b, (size_t)call->c);
    case SYS_readlinkat: return pass_writing(call, call->c, (size_t)call->d);
    case SYS_statx: return pass_writing(call, call->e, SOME);
    case SYS_sched_getaffinity: return pass_writing(call, call->c, (size_t)call->b);
    case SYS_getrlimit: return pass_writing(call, call->b, SOME);
    case SYS_prlimit64: return call->c ? pass_unless_altered(call) : pass_writing(call, call->d, SOME);
    default: return pass(call);
    }
}

static long handle(const struct call *call)
{
    switch (call->number) {
    case SYS_exit:
    case SYS_exit_group: end_by_exit(call); return 0;
    case SYS_read:
    case SYS_readv:
    case SYS_pread64:
    case SYS_lseek:
    case SYS_getdents64: return (unsigned long)call->a < 3 ? on_stream(call) : read_file(call);
    case SYS_write:
    case SYS_writev: return (unsigned long)call->a < 3 ? on_stream(call) : pass_unless_altered(call);
    case SYS_open:
    case SYS_openat: return open_file(call);
    case SYS_close: return (unsigned long)call->a < 3 ? on_stream(call) : close_file(call);
    case SYS_fcntl: return (unsigned long)call->a < 3 ? on_stream(call) : control_file(call);
    case SYS_fstat: return (unsigned long)call->a < 3 ? on_stream(call) : ask(call);
    case SYS_ioctl: return (unsigned long)call->a < 3 ? on_stream(call) : pass_unless_altered(call);
    case SYS_fsync:
    case SYS_fdatasync:
    case SYS_fadvise64: return (unsigned long)call->a < 3 ? on_stream(call) : 0;
    case SYS_brk: return move_break(call);
    case SYS_mmap: return map_memory(call);
    case SYS_munmap: return unmap_memory(call);
    case SYS_mremap:
    case SYS_mprotect: return change_mappings(call);
    case SYS_madvise: return advise(call);
    case SYS_rt_sigaction: return set_action(call);
    case SYS_rt_sigprocmask: return set_mask(call);
    case SYS_sigaltstack: return set_stack(call);
    case SYS_kill:
    case SYS_tkill:
    case SYS_tgkill: return send(call);
    case SYS_alarm:
    case SYS_setitimer:
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
    case SYS_sched_yield: return 0; /* time passes, and no timer ever comes */
    case SYS_futex: return (call->b & 127) == FUTEX_WAKE ? 0 : (whence_give_up(call->number), 0);
    case SYS_getrandom: case SYS_getcwd: case SYS_uname: case SYS_sysinfo: case SYS_times: case SYS_time:
    case SYS_gettimeofday: case SYS_clock_gettime: case SYS_clock_getres: case SYS_getrusage: case SYS_stat: case SYS_lstat:
    case SYS_statfs: case SYS_fstatfs: case SYS_newfstatat: case SYS_readlink: case SYS_readlinkat: case SYS_statx:
    case SYS_sched_getaffinity: case SYS_getrlimit: case SYS_prlimit64: case SYS_access: case SYS_faccessat: case SYS_faccessat2:
    case SYS_getpid: case SYS_gettid: case SYS_getppid: case SYS_getuid: case SYS_geteuid: case SYS_getgid: case SYS_getegid:
    case SYS_getpgrp: case SYS_getpgid: case SYS_getsid: return ask(call);
    case SYS_dup:
    case SYS_dup2:
    case SYS_dup3:
        if ((unsigned long)call->a < 3 || (call->number != SYS_dup && (unsigned long)call->b < 3))
            whence_give_up(call->number);
        return pass_unless_altered(call);
    case SYS_clone: case SYS_clone3: case SYS_fork: case SYS_vfork: case SYS_execve: case SYS_execveat: case SYS_pause:
    case SYS_rt_sigsuspend: case SYS_timer_create: case SYS_socket: case SYS_prctl: case SYS_arch_prctl: whence_give_up(call->number);
    default: return pass_unless_altered(call);
    }
}

static void on_call(int number, siginfo_t *info, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    struct call call = {info->si_syscall,       registers[REG_RDI], registers[REG_RSI], registers[REG_RDX],
                        registers[REG_R10],     registers[REG_R8],  registers[REG_R9]};
    (void)number;
    registers[REG_RAX] = handle(&call);
}

/* ---- Starting ------------------------------------------------------------------------------------------------- */

static void on_fault(int number, siginfo_t *info, void *context)
{
    if (number == SIGSEGV && whence_snapshot_fault((uintptr_t)info->si_addr))
        return;
    if (whence_control->is_copying) {
        whence_control->is_copying = 0;
        __builtin_longjmp(whence_control->bad_pointer, 1);
    }
    whence_on_fault(number, info, context);
}

static void install(int number, void (*handler)(int, siginfo_t *, void *), uint64_t mask)
{
    struct action action = {(void (*)(int))(void *)handler, SA_SIGINFO | SA_ONSTACK | SA_RESTART | SA_NODEFER | 0x04000000,
                            whence_restorer, mask};
    whence_call(SYS_rt_sigaction, number, (long)&action, 0, sizeof action.mask, 0, 0);
}

static void map_input(void)
{
    struct stat about;
    void *got = MAP_FAILED;
    if (!fstat(0, &about) && S_ISREG(about.st_mode) && about.st_size)
        got = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_SHARED, 0, 0);
    whence_control->input = got == MAP_FAILED ? NULL : got;
    whence_control->input_length = got == MAP_FAILED ? 0 : (uint64_t)about.st_size;
}

int whence_calls_again(void)
{
    long start = (long)whence_call_start, length = whence_call_end - whence_call_start;
    return (int)whence_call(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, start, length, 0, 0);
}

int whence_calls_start(void)
{
    stack_t stack = {.ss_sp = whence_control->signal_stack, .ss_size = sizeof whence_control->signal_stack};
    uint64_t tick = UINT64_C(1) << (SIGALRM - 1);
    map_input();
    sigaltstack(&stack, NULL);
    install(SIGSYS, on_call, tick);
    install(SIGALRM, whence_on_tick, 0);
    for (const int *fatal = (const int[]){SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, 0}; *fatal; fatal++)
        install(*fatal, on_fault, tick);
    return whence_calls_again();
}
