/* The system calls of a program in a session. Every one comes here first.

   What a continuation does has to be taken back at its end, files that it writes too (backups.c). Where that is not possible
   (starting processes), it is refused here, and run from the start by itself. The unaltered run may do it, as long as continuations stay
   possible; calls that are not known here are refused to both. */
#define _GNU_SOURCE
#include "alter/calls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <ucontext.h>

static long end_by_exit(const struct whence_call *call)
{
    whence_end((struct whence_ending){VERDICT_UNJUDGED, (int)(call->a & 255), 0});
}

/* ---- Calls that tell something and change nothing ------------------------------------------------------------- */

enum { SOME = 1024 }; /* bytes, at most, of what is told in a structure */

static long ask(const struct whence_call *call)
{
    switch (call->number) {
    case SYS_getrandom:
    case SYS_getcwd: return whence_pass_writing(call, call->a, (size_t)call->b);
    case SYS_uname:
    case SYS_sysinfo:
    case SYS_times:
    case SYS_time:
    case SYS_gettimeofday: return whence_pass_writing(call, call->a, call->a ? SOME : 0);
    case SYS_clock_gettime:
    case SYS_clock_getres:
    case SYS_getrusage:
    case SYS_stat:
    case SYS_lstat:
    case SYS_fstat:
    case SYS_statfs:
    case SYS_fstatfs:
    case SYS_getrlimit: return whence_pass_writing(call, call->b, call->b ? SOME : 0);
    case SYS_newfstatat:
        if ((call->d & AT_EMPTY_PATH) && whence_is_closed(call->a))
            return -EBADF;
        return whence_pass_writing(call, call->c, SOME);
    case SYS_readlink: return whence_pass_writing(call, call->b, (size_t)call->c);
    case SYS_readlinkat: return whence_pass_writing(call, call->c, (size_t)call->d);
    case SYS_statx: return whence_pass_writing(call, call->e, SOME);
    case SYS_sched_getaffinity: return whence_pass_writing(call, call->c, (size_t)call->b);
    case SYS_mincore: return whence_pass_writing(call, call->c, (size_t)call->b / 4096 + 1);
    default: return whence_pass(call);
    }
}

static int asks(long number)
{
    switch (number) {
    case SYS_getrandom: case SYS_getcwd: case SYS_uname: case SYS_sysinfo: case SYS_times: case SYS_time:
    case SYS_gettimeofday: case SYS_clock_gettime: case SYS_clock_getres: case SYS_getrusage: case SYS_stat: case SYS_lstat:
    case SYS_fstat: case SYS_statfs: case SYS_fstatfs: case SYS_newfstatat: case SYS_readlink: case SYS_readlinkat:
    case SYS_statx: case SYS_sched_getaffinity: case SYS_getrlimit: case SYS_access: case SYS_faccessat: case SYS_faccessat2:
    case SYS_getpid: case SYS_gettid: case SYS_getppid: case SYS_getuid: case SYS_geteuid: case SYS_getgid: case SYS_getegid:
    case SYS_getpgrp: case SYS_getpgid: case SYS_getsid: case SYS_getpriority: case SYS_mincore: return 1;
    default: return 0;
    }
}

/* ---- Calls that the unaltered run may make -------------------------------------------------------------------- */

/* What concerns files and folders, and waiting for them. */
static int is_allowed_once(const struct whence_call *call)
{
    switch (call->number) {
    case SYS_pwrite64: case SYS_ftruncate: case SYS_fallocate: case SYS_flock: case SYS_fchmod: case SYS_fchown:
    case SYS_preadv: case SYS_pwritev: case SYS_copy_file_range: case SYS_dup: case SYS_fchdir:
        return (unsigned long)call->a > 2;
    case SYS_sendfile: case SYS_dup2: case SYS_dup3:
        return (unsigned long)call->a > 2 && (unsigned long)call->b > 2;
    case SYS_truncate: case SYS_unlink: case SYS_unlinkat: case SYS_rename: case SYS_renameat: case SYS_renameat2:
    case SYS_mkdir: case SYS_mkdirat: case SYS_rmdir: case SYS_link: case SYS_linkat: case SYS_symlink: case SYS_symlinkat:
    case SYS_chmod: case SYS_fchmodat: case SYS_chown: case SYS_lchown: case SYS_fchownat: case SYS_utime: case SYS_utimes:
    case SYS_utimensat: case SYS_futimesat: case SYS_chdir: case SYS_umask: case SYS_mknod: case SYS_mknodat: case SYS_creat:
    case SYS_sync: case SYS_syncfs: case SYS_pipe: case SYS_pipe2: case SYS_eventfd: case SYS_eventfd2: case SYS_memfd_create:
    case SYS_poll: case SYS_ppoll: case SYS_select: case SYS_pselect6: case SYS_epoll_create: case SYS_epoll_create1:
    case SYS_epoll_ctl: case SYS_epoll_wait: case SYS_epoll_pwait: case SYS_prlimit64: case SYS_setrlimit: case SYS_setpriority:
    case SYS_getxattr: case SYS_lgetxattr: case SYS_fgetxattr: case SYS_set_robust_list: case SYS_rseq: case SYS_getitimer:
        return 1;
    default: return 0;
    }
}

static long do_once(const struct whence_call *call)
{
    if (!is_allowed_once(call))
        whence_refuse(call->number);
    return whence_pass_unless_altered(call);
}

/* ---- All calls ------------------------------------------------------------------------------------------------ */

static long on_descriptor(const struct whence_call *call)
{
    if (whence_is_closed(call->a))
        return -EBADF;
    if ((unsigned long)call->a < 3)
        return whence_on_stream(call);
    if (whence_is_second(call->a) && (call->number == SYS_write || call->number == SYS_writev || call->number == SYS_lseek))
        return whence_on_second(call);
    switch (call->number) {
    case SYS_write:
    case SYS_writev: return whence_pass_unless_altered(call);
    case SYS_dup: return whence_copy_descriptor(call);
    case SYS_ioctl:
        if (call->b == TCGETS || call->b == TIOCGWINSZ)
            return whence_pass_writing(call, call->c, SOME);
        return whence_pass_unless_altered(call);
    case SYS_close: return whence_close_file(call);
    case SYS_fcntl: return whence_control_file(call);
    case SYS_fstat: return ask(call);
    case SYS_fsync:
    case SYS_fdatasync:
    case SYS_fadvise64: return 0;
    default: return whence_read_file(call);
    }
}

static long handle(const struct whence_call *call)
{
    switch (call->number) {
    case SYS_exit:
    case SYS_exit_group: return end_by_exit(call);
    case SYS_read: case SYS_readv: case SYS_pread64: case SYS_lseek: case SYS_getdents64: case SYS_write: case SYS_writev:
    case SYS_close: case SYS_fcntl: case SYS_fstat: case SYS_ioctl: case SYS_fsync: case SYS_fdatasync: case SYS_fadvise64:
    case SYS_dup:
        return on_descriptor(call);
    case SYS_open:
    case SYS_openat: return whence_open_file(call);
    case SYS_socket: return call->a == AF_UNIX ? whence_open_socket(call) : do_once(call);
    case SYS_connect: return whence_is_to_nobody(call) ? -ENOENT : do_once(call);
    case SYS_brk: return whence_move_break(call);
    case SYS_mmap: return whence_map_memory(call);
    case SYS_munmap: return whence_unmap_memory(call);
    case SYS_mremap:
    case SYS_mprotect:
    case SYS_madvise: return whence_change_mappings(call);
    case SYS_rt_sigaction: return whence_set_action(call);
    case SYS_rt_sigprocmask: return whence_set_mask(call);
    case SYS_sigaltstack: return whence_set_stack(call);
    case SYS_kill:
    case SYS_tkill:
    case SYS_tgkill: return whence_send_signal(call);
    case SYS_alarm:
    case SYS_setitimer: return whence_set_timer(call);
    case SYS_nanosleep:
    case SYS_clock_nanosleep: return whence_pass_time(call);
    case SYS_sched_yield: return 0;
    case SYS_futex: return (call->b & 127) == FUTEX_WAKE ? 0 : do_once(call);
    case SYS_prlimit64: return call->c ? do_once(call) : whence_pass_writing(call, call->d, SOME);
    default: return asks(call->number) ? ask(call) : do_once(call);
    }
}

static long handle_in_time(const struct whence_call *call)
{
    whence_control->is_calling = 1;
    long result = handle(call);
    whence_control->is_calling = 0;
    if (whence_control->is_late)
        whence_end((struct whence_ending){VERDICT_TIMEOUT, 0, 0});
    return result;
}

/* By a shortcut. */
__attribute__((used)) long whence_on_shortcut(const struct whence_call *call) { return handle_in_time(call); }

static void on_call(int number, siginfo_t *info, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    struct whence_call call = {info->si_syscall,   registers[REG_RDI], registers[REG_RSI], registers[REG_RDX],
                               registers[REG_R10], registers[REG_R8],  registers[REG_R9]};
    (void)number;
    whence_control->is_in_signal = 1;
    whence_found_call((char *)registers[REG_RIP]);
    registers[REG_RAX] = handle_in_time(&call);
    whence_control->is_in_signal = 0;
}

/* ---- Starting --------------------------------------------------------------------------------------------------- */

void whence_enter_call(void);

__asm__(
    ".text\n"
    /* A system call by a shortcut: the kernel keeps all registers but rax, rcx and r11, and so does this. It has the
       hooks' stack, since it is within none. */
    ".globl whence_enter_call\n"
    ".hidden whence_enter_call\n"
    "whence_enter_call:\n"
    "    mov %rsp, %r11\n"
    "    mov whence_hook_stack(%rip), %rsp\n"
    "    push %rcx\n    push %r11\n"
    "    push %r9\n    push %r8\n    push %r10\n    push %rdx\n    push %rsi\n    push %rdi\n    push %rax\n"
    "    mov %rsp, %rdi\n"
    "    sub $520, %rsp\n"
    "    fxsave64 (%rsp)\n"
    "    cld\n"
    "    call whence_on_shortcut\n"
    "    fxrstor64 (%rsp)\n"
    "    add $528, %rsp\n" /* rax is the answer */
    "    pop %rdi\n    pop %rsi\n    pop %rdx\n    pop %r10\n    pop %r8\n    pop %r9\n"
    "    pop %r11\n    pop %rcx\n"
    "    mov %r11, %rsp\n"
    "    jmp *%rcx\n");

int whence_calls_start(void)
{
    whence_control->enter_call = whence_enter_call;
    whence_streams_start();
    return whence_signals_start(on_call) ? -1 : whence_intercept_calls();
}
