/* What runs that nobody asked for by themselves must not do to others, for the kernel to refuse: altered runs, edited programs,
   inputs that were made. */
#define _GNU_SOURCE
#include "server/job.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <string.h>
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
   younger than itself, and to its parent, never to all and never to older processes (those with lower numbers). In an
   altered run that fails; where it `ends` the run, no edit is praised for what would come of it. */
static int refuse_foreign_signals(int ends)
{
    uint32_t refusal = ends ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | EPERM;
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
        BPF_STMT(BPF_RET | BPF_K, refusal),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    return filter_calls(steps, sizeof steps / sizeof *steps);
}

/* No other machine is reached: sockets are refused. */
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

/* ---- Files (Landlock, whose numbers are the same on all machines) -------------------------------------------------- */

enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446, WHICH_VERSION = 1, BENEATH = 1 };
enum { WRITE_REMOVE_MAKE = 0x1ff2, MOVE = 1 << 13, CUT = 1 << 14 };

struct beneath {
    uint64_t allowed;
    int32_t folder;
} __attribute__((packed));

static int allow(int rules, const char *path, uint64_t allowed)
{
    struct beneath rule = {allowed, open(path, O_PATH | O_CLOEXEC)};
    if (rule.folder < 0)
        return 0; /* it is not there */
    int failed = syscall(ADD_RULE, rules, BENEATH, &rule, 0) != 0;
    close(rule.folder);
    return failed;
}

/* Files are written, made, moved and removed in the sandbox, among temporary files and devices, and nowhere else. */
static int refuse_foreign_files(const char *work)
{
    long version = syscall(CREATE_RULESET, NULL, 0, WHICH_VERSION);
    if (version < 1)
        return 0; /* a system without it */
    uint64_t refused = WRITE_REMOVE_MAKE | (version > 1 ? MOVE : 0) | (version > 2 ? CUT : 0);
    char sandbox[PATH_MAX];
    if (strlen(work) >= sizeof sandbox)
        return 1;
    strcpy(sandbox, work);
    *strrchr(sandbox, '/') = 0;
    int rules = (int)syscall(CREATE_RULESET, &refused, sizeof refused, 0);
    int failed = rules < 0 || allow(rules, sandbox, refused) || allow(rules, "/tmp", refused) || allow(rules, "/dev", refused);
    failed = failed || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(RESTRICT_SELF, rules, 0);
    close(rules);
    return failed;
}

int whence_confine(const char *work, int ends)
{
    return refuse_foreign_files(work) || refuse_sockets() || refuse_foreign_signals(ends);
}
