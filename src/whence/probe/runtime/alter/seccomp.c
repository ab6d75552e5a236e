/* What altered runs must not do to others, for the kernel to refuse. */
#define _GNU_SOURCE
#include "alter/session.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static int filter_calls(struct sock_filter *steps, unsigned short count)
{
    struct sock_fprog filter = {count, steps};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

/* An altered number of a process must not end the user's programs: signals go to the run's own processes, which are
   younger than itself, and to its parent, never to all and never to older processes. */
static int refuse_foreign_signals(void)
{
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_kill, 0, 8),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, UINT32_MAX, 5, 0),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 1u << 31, 0, 1),
        BPF_STMT(BPF_ALU | BPF_NEG, 0), /* a group */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)getppid(), 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)getpid(), 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    return filter_calls(steps, sizeof steps / sizeof *steps);
}

/* Programs of altered runs reach no other machine: sockets are refused. */
static int refuse_sockets(void)
{
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    return filter_calls(steps, sizeof steps / sizeof *steps);
}

int whence_confine(void) { return refuse_sockets() || refuse_foreign_signals(); }
