/* Threads of a recorded program run one at a time, under a schedule that is the same in every run.

   One thread holds the baton. It passes it on when its slice of the trace is full (the recorder's own check for room in
   the chunk serves for that, so that the hot path has no other), when it waits for something (the wrappers in
   library/threads.c), and when it ends; the next in order of number that can go on gets it. Slices vary in length, always in the
   same way, since a loop that fits a slice exactly would be cut at the same place for ever.

   Time: a schedule's clock advances by what threads do, sleepers wake by that clock, and when all sleep it jumps to the
   first that wakes. A sleeper that was woken early waits, with the baton, until its time has really come.

   A thread can also be stuck in a call that has no wrapper (a read from a pipe). Others that wait for the baton notice
   that it sleeps, and take the baton. When it comes back from the call, the first thing it does is to reserve words of the
   trace; its slice has been ended for it, so there it waits for its turn.

   Signals are deferred while a thread is in here, except when all are waiting. Nothing here allocates or opens a file
   while another thread runs: addresses and descriptors must not depend on time. */
#define _GNU_SOURCE
#include "record/baton.h"
#include "record/schedule_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

enum { SLICE_US = 64, WATCH_NS = 10000000, EXIT_NS = 50000, EXIT_TRIES = 1000, EXIT_SOON = 50, RESTS_MAX = 3 };

__thread uint64_t __whence_left __attribute__((tls_model("initial-exec")));
struct whence_thread whence_threads[THREADS_MAX];
unsigned whence_slots;
struct whence_thread *_Atomic whence_holder;
__thread struct whence_thread *whence_self;
uint64_t whence_stops[THREADS_MAX];
uint64_t whence_wakes;
unsigned whence_rests;
int whence_has_forked;
uint32_t *whence_tail;
uint64_t whence_time_us;
pid_t whence_leaving;
_Atomic uint32_t whence_returned;
pthread_mutex_t whence_guard = PTHREAD_MUTEX_INITIALIZER;

int whence_futex(_Atomic uint32_t *word, int operation, uint32_t value, const struct timespec *timeout)
{
    return (int)syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, timeout, NULL, 0);
}

struct timespec whence_span(uint64_t ns)
{
    return (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
}

/* ---- Who is next ---------------------------------------------------------------------------------------------- */

static int can_go_on(const struct whence_thread *thread)
{
    return thread->state == READY || (thread->state == BLOCKED && thread->until <= whence_time_us);
}

static int sleeps(const struct whence_thread *thread)
{
    return thread->state == BLOCKED && thread->until != WHENCE_NEVER;
}

/* The next one in order of number that can go on, else the first that wakes. */
static struct whence_thread *next_in_order(const struct whence_thread *from)
{
    struct whence_thread *first = NULL;
    for (unsigned i = 1; i <= whence_slots; i++) {
        struct whence_thread *thread = &whence_threads[((unsigned)(from - whence_threads) + i) % whence_slots];
        if (can_go_on(thread))
            return thread;
        if (sleeps(thread) && (!first || thread->until < first->until))
            first = thread;
    }
    return first;
}

/* What the schedule makes of it: `next` goes on by default. */
static struct whence_thread *by_schedule(
    const struct whence_thread *from, struct whence_thread *next, enum why why, uint32_t segment)
{
    struct whence_choice choice = {
        (unsigned)(from - whence_threads), (unsigned)(next - whence_threads), whence_steps(from), 0, why, segment};
    for (unsigned i = 0; i < whence_slots && i < 64; i++)
        if (can_go_on(&whence_threads[i]) || sleeps(&whence_threads[i]))
            choice.ready |= UINT64_C(1) << i;
    return &whence_threads[whence_choose_by_schedule(&choice)];
}

struct whence_thread *whence_choose(const struct whence_thread *from, enum why why)
{
    struct whence_thread *next = next_in_order(from);
    if (next && whence_is_scheduled())
        next = by_schedule(from, next, why, 0);
    if (next && sleeps(next) && next->until > whence_time_us)
        whence_time_us = next->until;
    return next;
}

uint64_t whence_steps(const struct whence_thread *thread)
{
    return whence_stops[thread - whence_threads] - (thread->left ? *thread->left : 0);
}

void whence_go_on(void)
{
    uint64_t steps = whence_steps(whence_self);
    unsigned number = (unsigned)(whence_self - whence_threads);
    if (!whence_is_scheduled())
        return;
    whence_stops[number] = whence_step_to_ask_at(number, steps);
    __whence_left = whence_stops[number] - steps;
}

void whence_take_turn(void)
{
    whence_begin_turn(whence_steps(whence_self));
    whence_go_on();
}

unsigned whence_alive(void)
{
    unsigned count = 0;
    for (unsigned i = 0; i < whence_slots; i++)
        count += whence_threads[i].state == READY || whence_threads[i].state == BLOCKED || whence_threads[i].state == AWAY;
    return count;
}

void whence_give(struct whence_thread *next)
{
    next->state = READY;
    whence_holder = next;
    next->go = 1;
    whence_futex(&next->go, FUTEX_WAKE, 1, NULL);
}

/* A thread's state as the kernel tells it ('R' runs, 'S' sleeps, 'Z' has ended), or 0 where there is none. */
static char state_of(pid_t id)
{
    char path[64], text[512], *state;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)id);
    int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    long length = syscall(SYS_read, file, text, sizeof text - 1);
    syscall(SYS_close, file);
    text[length > 0 ? length : 0] = 0;
    state = strrchr(text, ')');
    return state && state[1] ? state[2] : 0;
}

/* A thread's own exit frees what the next one that is started would use, and the last one to leave ends the process: so it
   must be over. The first thread stays until then, but as one that has ended. One that sleeps may do so for ever. Its state is
   looked at only where it takes long: the kernel has a lot to do when a thread ends of which a file was opened. */
static void await_exit(void)
{
    const struct timespec pause = whence_span(EXIT_NS);
    for (int tries = 0; whence_leaving && tries < EXIT_TRIES && !syscall(SYS_tgkill, getpid(), whence_leaving, 0);) {
        char state = tries < EXIT_SOON ? 'S' : state_of(whence_leaving);
        if (!state || state == 'Z')
            break;
        tries += state == 'S';
        syscall(SYS_nanosleep, &pause, NULL);
    }
    whence_leaving = 0;
}

static void take(void)
{
    __whence_cursor = whence_tail;
    __whence_end = NULL; /* the first reservation says whose records follow, and begins a slice */
    whence_take_turn();
    await_exit();
}

/* ---- A thread that sleeps with the baton ---------------------------------------------------------------------- */

static void ask_at_next_step(struct whence_thread *sleeper)
{
    if (!whence_is_scheduled())
        return;
    whence_stops[sleeper - whence_threads] -= *sleeper->left - 1;
    *sleeper->left = 1;
}

/* Passes the baton on for a thread that sleeps in a call (or has ended without a word). */
static void take_from(struct whence_thread *sleeper, int dead)
{
    if (!dead) {
        *sleeper->end = NULL; /* from here on it cannot reserve anything without asking, nor begin a step */
        ask_at_next_step(sleeper);
        atomic_thread_fence(memory_order_seq_cst);
        if (state_of(sleeper->id) != 'S')
            return;
    }
    sleeper->state = dead ? ENDED : AWAY;
    struct whence_thread *next = whence_choose(sleeper, AT_WAIT);
    if (next) {
        whence_tail = dead ? NULL : *sleeper->cursor;
        whence_give(next);
    } else if (!dead) {
        sleeper->state = READY;
    }
}

/* The baton has not come for some time. Looking at a thread's state opens a file for a moment, so that is done only when the
   thread has not run at all since the last look. */
static void watch_holder(void)
{
    static struct whence_thread *watched;
    static struct timespec ran_before;
    struct whence_thread *thread = whence_holder;
    struct timespec ran;
    if (!thread || thread == whence_self || thread->inside)
        return;
    int dead = clock_gettime(thread->clock, &ran) != 0;
    if (!dead) {
        int idle = thread == watched && !memcmp(&ran, &ran_before, sizeof ran);
        watched = thread;
        ran_before = ran;
        if (!idle || state_of(thread->id) != 'S')
            return;
    }
    pthread_mutex_lock(&whence_guard);
    if (whence_holder == thread && !thread->inside)
        take_from(thread, dead);
    pthread_mutex_unlock(&whence_guard);
}

/* ---- Passing the baton ---------------------------------------------------------------------------------------- */

void whence_await_baton(void)
{
    const struct timespec pause = whence_span((uint64_t)WATCH_NS * whence_alive());
    pthread_mutex_unlock(&whence_guard);
    while (!atomic_exchange(&whence_self->go, 0))
        if (whence_futex(&whence_self->go, FUTEX_WAIT, 0, &pause) && errno == ETIMEDOUT)
            watch_holder();
    pthread_mutex_lock(&whence_guard);
    take();
}

/* Whether all wait for each other: nobody is away in a call, and no timer or other process can be what they wait for. */
static int is_deadlock(void)
{
    struct itimerval timer;
    for (unsigned i = 0; i < whence_slots; i++)
        if (whence_threads[i].state == AWAY || whence_threads[i].state == READY)
            return 0;
    return !whence_has_forked && !getitimer(ITIMER_REAL, &timer) && !timer.it_value.tv_sec && !timer.it_value.tv_usec;
}

static void end_by_deadlock(void)
{
    sigset_t own;
    whence_tell_end(SCHEDULE_DEADLOCK);
    sigemptyset(&own);
    sigaddset(&own, WHENCE_DEADLOCK);
    signal(WHENCE_DEADLOCK, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &own, NULL);
    raise(WHENCE_DEADLOCK);
}

void whence_rest(const sigset_t *mask)
{
    const struct timespec pause = whence_span(REST_NS);
    if (whence_rests++ >= RESTS_MAX && is_deadlock())
        end_by_deadlock();
    pthread_mutex_unlock(&whence_guard);
    pthread_sigmask(SIG_SETMASK, mask, NULL);
    whence_futex(&whence_returned, FUTEX_WAIT, 0, &pause);
    whence_defer_signals(NULL);
    pthread_mutex_lock(&whence_guard);
    whence_self->inside = 1;
    whence_returned = 0;
    for (unsigned i = 0; i < whence_slots; i++)
        if (whence_threads[i].state == BLOCKED && whence_threads[i].patience != WHENCE_PATIENT)
            whence_threads[i].state = READY;
}

static void pass_to(struct whence_thread *next)
{
    whence_tail = __whence_cursor;
    whence_give(next);
    whence_await_baton();
}

int whence_pass_on(const sigset_t *mask, enum why why)
{
    struct whence_thread *next;
    whence_returned = 0;
    while (!(next = whence_choose(whence_self, why)))
        whence_rest(mask);
    if (next != whence_self)
        pass_to(next);
    else
        whence_take_turn();
    whence_self->state = READY;
    return next != whence_self;
}

/* Gives the turn away before a step, if it is to be; returns whether it is back too early. */
static int ask_at_step(uint32_t segment)
{
    struct whence_thread *next = whence_self;
    uint64_t steps = whence_steps(whence_self);
    whence_returned = 0;
    if (whence_turn_is_over(steps)) {
        whence_time_us += SLICE_US;
        next = next_in_order(whence_self);
    }
    struct whence_thread *chosen = by_schedule(whence_self, next, AT_STEP, segment);
    if (sleeps(chosen) && chosen->until > whence_time_us)
        whence_time_us = chosen->until;
    if (chosen != whence_self)
        pass_to(chosen);
    else if (next == whence_self && !whence_turn_is_over(steps))
        whence_go_on();
    else
        whence_take_turn();
    return chosen != whence_self && whence_is_held((unsigned)(whence_self - whence_threads), steps);
}

void whence_reach_step(uint32_t segment)
{
    while (ask_at_step(segment))
        ;
}

void whence_come_back(void)
{
    whence_self->state = READY;
    if (!whence_holder) {
        whence_holder = whence_self;
        take();
        return;
    }
    whence_returned = 1;
    whence_futex(&whence_returned, FUTEX_WAKE, 1, NULL);
    whence_await_baton();
}
