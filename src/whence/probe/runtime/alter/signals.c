/* Signals of a program in a session. The kernel has the session's handlers only; what the subject asks for is noted, and
   a run in which a handler of its own would be called, or a timer would come, is refused. */
#define _GNU_SOURCE
#include "alter/calls.h"

#include <errno.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* What the subject believes about signals: as the kernel has it. */
struct action {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};
static WHENCE_HOT struct action actions[65] = {{0}};
static WHENCE_HOT uint64_t blocked = 0, pending = 0, timers = 0; /* sets of signals */
static WHENCE_HOT stack_t other_stack = {0};
static WHENCE_HOT uint64_t slept = 0; /* microseconds */

enum { RESTORER = 0x04000000 };
static const int fatal_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, 0};

static uint64_t set_of(int number) { return UINT64_C(1) << (number - 1); }

static int has_handler(int number)
{
    return actions[number].handler != SIG_DFL && actions[number].handler != SIG_IGN;
}

/* ---- What the subject asks for -------------------------------------------------------------------------------- */

long whence_set_action(const struct whence_call *call)
{
    int number = (int)call->a;
    if (call->a < 1 || call->a > 64 || (call->b && (number == SIGKILL || number == SIGSTOP)))
        return -EINVAL;
    struct action new, old = actions[number];
    if (call->b && whence_copy(&new, (void *)call->b, sizeof new) < 0)
        return -EFAULT;
    if (call->b)
        actions[number] = new;
    if (has_handler(number) && (timers & set_of(number)))
        whence_refuse(call->number);
    return call->c && whence_copy((void *)call->c, &old, sizeof old) < 0 ? -EFAULT : 0;
}

static void meet_pending(int number)
{
    pending &= ~set_of(number);
    whence_meet_signal(number);
}

long whence_set_mask(const struct whence_call *call)
{
    uint64_t new = 0, old = blocked, never = set_of(SIGKILL) | set_of(SIGSTOP);
    if (call->b && whence_copy(&new, (void *)call->b, sizeof new) < 0)
        return -EFAULT;
    if (call->b && (call->a < SIG_BLOCK || call->a > SIG_SETMASK))
        return -EINVAL;
    if (call->b)
        blocked = (call->a == SIG_BLOCK ? blocked | new : call->a == SIG_UNBLOCK ? blocked & ~new : new) & ~never;
    while (pending & ~blocked)
        meet_pending(__builtin_ctzll(pending & ~blocked) + 1);
    return call->c && whence_copy((void *)call->c, &old, sizeof old) < 0 ? -EFAULT : 0;
}

long whence_set_stack(const struct whence_call *call)
{
    stack_t old = other_stack;
    if (call->a && whence_copy(&other_stack, (void *)call->a, sizeof other_stack) < 0)
        return -EFAULT;
    return call->b && whence_copy((void *)call->b, &old, sizeof old) < 0 ? -EFAULT : 0;
}

/* No timer ever comes. Where one would only end the program, that is what the session's own limits are for. */
long whence_set_timer(const struct whence_call *call)
{
    static const int signals[] = {SIGALRM, SIGVTALRM, SIGPROF};
    int which = call->number == SYS_alarm ? 0 : (int)call->a;
    if (which < 0 || which > 2)
        return -EINVAL;
    if (call->number == SYS_setitimer && (call->c || !call->b))
        whence_refuse(call->number);
    if (call->number == SYS_alarm && !call->a) {
        timers &= ~set_of(SIGALRM);
        return 0;
    }
    timers |= set_of(signals[which]);
    if (has_handler(signals[which]))
        whence_refuse(call->number);
    return 0;
}

/* Time passes, but nobody waits for it. What would sleep beyond the time limit is cut off. */
long whence_pass_time(const struct whence_call *call)
{
    struct timespec time;
    int has_clock = call->number == SYS_clock_nanosleep;
    if (has_clock && call->b)
        whence_refuse(call->number); /* until a certain time */
    if (whence_copy(&time, (void *)(has_clock ? call->c : call->a), sizeof time) < 0)
        return -EFAULT;
    if (time.tv_sec < 0 || time.tv_nsec < 0 || time.tv_nsec > 999999999)
        return -EINVAL;
    slept += time.tv_sec < UINT32_MAX ? (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000 : UINT64_MAX / 2;
    if (whence_control->file->time_limit && slept > whence_control->file->time_limit * 1000)
        whence_end((struct whence_ending){VERDICT_TIMEOUT, 0, 0});
    return 0;
}

/* ---- Signals that come ---------------------------------------------------------------------------------------- */

static int ends_process(int number)
{
    return number != SIGCHLD && number != SIGCONT && number != SIGURG && number != SIGWINCH;
}

void whence_meet_signal(int number)
{
    if (actions[number].handler == SIG_IGN)
        return;
    if (blocked & set_of(number)) {
        pending |= set_of(number);
        return;
    }
    if (has_handler(number))
        whence_refuse(SYS_rt_sigaction);
    if (number == SIGSTOP || number == SIGTSTP || number == SIGTTIN || number == SIGTTOU)
        whence_refuse(SYS_pause);
    if (ends_process(number))
        whence_end((struct whence_ending){VERDICT_UNJUDGED, 0, number});
}

/* A signal that the subject sends; number 0 asks whether it could. */
static long sent(const struct whence_call *call, int number, int to_self)
{
    if (!to_self)
        whence_refuse(call->number);
    if (number < 0 || number > 64)
        return -EINVAL;
    if (number)
        whence_meet_signal(number);
    return 0;
}

long whence_send_signal(const struct whence_call *call)
{
    long own = whence_call(SYS_getpid, 0, 0, 0, 0, 0, 0), thread = whence_call(SYS_gettid, 0, 0, 0, 0, 0, 0);
    if (call->number == SYS_tgkill)
        return sent(call, (int)call->c, call->b == thread);
    if (call->number == SYS_tkill)
        return sent(call, (int)call->b, call->a == thread);
    return sent(call, (int)call->b, call->a == own || call->a == 0 || call->a == -own);
}

/* A fault of the subject; its program counter cannot go on, so ignoring it does not help. */
static void fault(int number)
{
    if (has_handler(number) && !(blocked & set_of(number)))
        whence_refuse(SYS_rt_sigaction);
    whence_end((struct whence_ending){VERDICT_UNJUDGED, 0, number});
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    int before = whence_control->is_in_signal;
    (void)context;
    whence_control->is_in_signal = 1;
    if (number != SIGSEGV || !whence_let_write((uintptr_t)info->si_addr)) {
        if (whence_control->is_copying) {
            whence_unblock_signals();
            whence_control->is_in_signal = before;
            whence_bad_pointer();
        }
        fault(number);
    }
    whence_control->is_in_signal = before;
}

/* ---- Time limits ---------------------------------------------------------------------------------------------- */

static void cut(void)
{
    whence_control->patience = 0; /* once: a child that is killed may take more than a tick to end */
    if (whence_control->child) {
        whence_call(SYS_kill, whence_control->child, SIGKILL, 0, 0, 0, 0);
        whence_control->child = 0;
    } else if (whence_control->is_calling) {
        whence_control->is_late = 1; /* calls.c ends it */
    } else {
        whence_control->is_in_signal = 1;
        whence_end((struct whence_ending){VERDICT_TIMEOUT, 0, 0});
    }
}

/* Milliseconds of a processor that what runs has had: the child that is waited for, or this process. */
static int64_t computed_ms(void)
{
    long child = whence_control->child, clock = child ? ~child * 8 + 2 : CLOCK_PROCESS_CPUTIME_ID; /* as clock_getcpuclockid */
    struct timespec had = {0, 0};
    whence_call(SYS_clock_gettime, clock, (long)&had, 0, 0, 0, 0);
    return had.tv_sec * 1000 + had.tv_nsec / 1000000;
}

static int is_over(void)
{
    int64_t passed = (int64_t)whence_control->ticks, limit = (int64_t)whence_control->patience;
    return limit && passed > limit && !whence_was_kept_waiting(passed, computed_ms() - whence_control->computed, limit);
}

/* What comes to no hook and no system call has a limit too. */
static void on_tick(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info, (void)context;
    whence_control->ticks += TICK_MS;
    if (whence_control->ticks == TICK_MS)
        whence_control->computed = computed_ms();
    if (is_over())
        cut();
}

/* ---- Starting ------------------------------------------------------------------------------------------------- */

static int install(int number, void (*handler)(int, siginfo_t *, void *))
{
    struct action action = {(void (*)(int))(void *)handler, SA_SIGINFO | SA_ONSTACK | SA_RESTART | SA_NODEFER | RESTORER,
                            whence_restorer, number == SIGALRM ? 0 : set_of(SIGALRM)};
    return (int)whence_call(SYS_rt_sigaction, number, (long)&action, 0, sizeof action.mask, 0, 0);
}

/* After an end within a handler, what the handler blocks is let in again. */
void whence_unblock_signals(void)
{
    uint64_t none = 0;
    whence_control->is_in_signal = 0;
    whence_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&none, 0, sizeof none, 0, 0);
}

int whence_signals_start(void (*on_call)(int, siginfo_t *, void *))
{
    stack_t stack = {.ss_sp = whence_control->signal_stack, .ss_size = SIGNAL_STACK_BYTES};
    int failed = sigaltstack(&stack, NULL) || install(SIGSYS, on_call) || install(SIGALRM, on_tick);
    for (const int *fatal = fatal_signals; *fatal; fatal++)
        failed |= install(*fatal, on_fault);
    whence_unblock_signals();
    return failed ? -1 : 0;
}
