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
#include "record/schedule.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS_MAX = 4096, SLICE_MIN = 8192, SLICE_SPREAD_BITS = 14, SLICE_US = 64 };
enum { WATCH_NS = 10000000, REST_NS = 5000000, EXIT_NS = 50000, EXIT_TRIES = 1000 };

enum state {
    UNUSED,
    READY,
    BLOCKED, /* waits for `object`, or until `until` */
    AWAY,    /* sleeps in a call; it lost the baton */
    ENDED    /* not joined yet */
};

struct whence_thread {
    enum state state;
    enum whence_patience patience;
    int woken, detached;
    const void *object;
    uint64_t until, ticket;
    _Atomic uint32_t go;  /* it was given the baton */
    _Atomic uint32_t inside; /* it executes code of this file (or of none yet) */
    uint32_t **cursor, **end; /* its two variables of the recorder */
    pthread_t handle;
    pid_t id;
    clockid_t clock; /* of its processor time */
    whence_routine *routine;
    void *argument;
};

int whence_scheduling;
__thread unsigned whence_thread;

extern __thread uint32_t *__whence_cursor __attribute__((tls_model("initial-exec")));
extern __thread uint32_t *__whence_end __attribute__((tls_model("initial-exec")));

static struct whence_thread threads[THREADS_MAX];
static unsigned used; /* slots that were ever taken */
static struct whence_thread *_Atomic holder;
static __thread struct whence_thread *self;
static uint32_t *tail; /* where the trace goes on when the baton changes hands */
static uint64_t clock_us, tickets, slice_seed;
static pid_t leaving; /* the thread that gave the baton away to end */
static _Atomic uint32_t returned; /* a thread that was away wants the baton */
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t ending;
static sigset_t deferred;

static int futex(_Atomic uint32_t *word, int operation, uint32_t value, const struct timespec *timeout)
{
    return (int)syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, timeout, NULL, 0);
}

static struct timespec span(uint64_t ns)
{
    return (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
}

/* ---- Who is next ---------------------------------------------------------------------------------------------- */

static int can_go_on(const struct whence_thread *thread)
{
    return thread->state == READY || (thread->state == BLOCKED && thread->until <= clock_us);
}

/* The next thread behind `from` that can go on, `from` itself last; else the first that wakes, to whose time the clock
   jumps; else null. */
static struct whence_thread *choose(const struct whence_thread *from)
{
    struct whence_thread *first = NULL;
    for (unsigned i = 1; i <= used; i++) {
        struct whence_thread *thread = &threads[((unsigned)(from - threads) + i) % used];
        if (can_go_on(thread))
            return thread;
        if (thread->state == BLOCKED && thread->until != WHENCE_NEVER && (!first || thread->until < first->until))
            first = thread;
    }
    if (first)
        clock_us = first->until;
    return first;
}

static unsigned alive(void)
{
    unsigned count = 0;
    for (unsigned i = 0; i < used; i++)
        count += threads[i].state == READY || threads[i].state == BLOCKED || threads[i].state == AWAY;
    return count;
}

static void give(struct whence_thread *next)
{
    next->state = READY;
    holder = next;
    next->go = 1;
    futex(&next->go, FUTEX_WAKE, 1, NULL);
}

/* A thread's own exit frees what the next one that is started would use, so that must be over. */
static void await_exit(void)
{
    const struct timespec pause = span(EXIT_NS);
    for (int tries = 0; leaving && tries < EXIT_TRIES && !syscall(SYS_tgkill, getpid(), leaving, 0); tries++)
        syscall(SYS_nanosleep, &pause, NULL);
    leaving = 0;
}

static void take(void)
{
    __whence_cursor = tail;
    __whence_end = NULL; /* the first reservation says whose records follow, and begins a slice */
    await_exit();
}

/* ---- A thread that sleeps with the baton ---------------------------------------------------------------------- */

static int is_asleep(pid_t id)
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
    return state && state[1] && state[2] == 'S';
}

/* Passes the baton on for a thread that sleeps in a call (or has ended without a word). */
static void take_from(struct whence_thread *sleeper, int dead)
{
    if (!dead) {
        *sleeper->end = NULL; /* from here on it cannot reserve anything without asking */
        atomic_thread_fence(memory_order_seq_cst);
        if (!is_asleep(sleeper->id))
            return;
    }
    sleeper->state = dead ? ENDED : AWAY;
    struct whence_thread *next = choose(sleeper);
    if (next) {
        tail = dead ? NULL : *sleeper->cursor;
        give(next);
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
    struct whence_thread *thread = holder;
    struct timespec ran;
    if (!thread || thread == self || thread->inside)
        return;
    int dead = clock_gettime(thread->clock, &ran) != 0;
    if (!dead) {
        int idle = thread == watched && !memcmp(&ran, &ran_before, sizeof ran);
        watched = thread;
        ran_before = ran;
        if (!idle || !is_asleep(thread->id))
            return;
    }
    pthread_mutex_lock(&guard);
    if (holder == thread && !thread->inside)
        take_from(thread, dead);
    pthread_mutex_unlock(&guard);
}

/* ---- Passing the baton ---------------------------------------------------------------------------------------- */

static void await_baton(void)
{
    const struct timespec pause = span((uint64_t)WATCH_NS * alive());
    pthread_mutex_unlock(&guard);
    while (!atomic_exchange(&self->go, 0))
        if (futex(&self->go, FUTEX_WAIT, 0, &pause) && errno == ETIMEDOUT)
            watch_holder();
    pthread_mutex_lock(&guard);
    take();
}

/* All are waiting, for each other or for something outside: be there for signals, then let those that can look again. */
static void rest(const sigset_t *mask)
{
    const struct timespec pause = span(REST_NS);
    pthread_mutex_unlock(&guard);
    pthread_sigmask(SIG_SETMASK, mask, NULL);
    futex(&returned, FUTEX_WAIT, 0, &pause);
    pthread_sigmask(SIG_BLOCK, &deferred, NULL);
    pthread_mutex_lock(&guard);
    self->inside = 1;
    returned = 0;
    for (unsigned i = 0; i < used; i++)
        if (threads[i].state == BLOCKED && threads[i].patience != WHENCE_PATIENT)
            threads[i].state = READY;
}

/* Returns when it is this thread's turn (again), and whether others had one. A signal handler that ran meanwhile, in rest,
   left the state at READY: then the wait is over early, which callers expect. */
static int pass_on(const sigset_t *mask)
{
    struct whence_thread *next;
    returned = 0;
    while (!(next = choose(self)))
        rest(mask);
    if (next != self) {
        tail = __whence_cursor;
        give(next);
        await_baton();
    }
    self->state = READY;
    return next != self;
}

static void come_back(void)
{
    self->state = READY;
    if (!holder) {
        holder = self;
        take();
        return;
    }
    returned = 1;
    futex(&returned, FUTEX_WAKE, 1, NULL);
    await_baton();
}

/* ---- Coming and going ----------------------------------------------------------------------------------------- */

static struct whence_thread *free_slot(void)
{
    for (unsigned i = 0; i < THREADS_MAX; i++)
        if (threads[i].state == UNUSED)
            return &threads[i];
    return NULL;
}

static void occupy(struct whence_thread *thread)
{
    memset(thread, 0, sizeof *thread);
    thread->state = READY;
    thread->inside = 1;
    if (thread - threads >= (ptrdiff_t)used)
        used = (unsigned)(thread - threads) + 1;
    if (whence_scheduling)
        whence_note_threads(used);
}

static void register_self(struct whence_thread *thread)
{
    self = thread;
    whence_thread = (unsigned)(thread - threads);
    thread->id = (pid_t)syscall(SYS_gettid);
    thread->handle = pthread_self();
    thread->cursor = &__whence_cursor;
    thread->end = &__whence_end;
    pthread_getcpuclockid(thread->handle, &thread->clock);
}

static void end_thread(void *rounds);

static void start_scheduling(void)
{
    if (whence_scheduling)
        return;
    pthread_key_create(&ending, end_thread);
    whence_scheduling = 1;
    whence_note_threads(used);
}

/* A thread that some library started runs code of the program. */
static void adopt(void)
{
    struct whence_thread *slot;
    const struct timespec pause = span(REST_NS);
    pthread_mutex_lock(&guard);
    while (!(slot = free_slot())) {
        pthread_mutex_unlock(&guard);
        syscall(SYS_nanosleep, &pause, NULL);
        pthread_mutex_lock(&guard);
    }
    occupy(slot);
    slot->detached = 1;
    register_self(slot);
    start_scheduling();
    pthread_setspecific(ending, (void *)1);
    if (holder)
        *holder->end = NULL; /* a thread that was alone had no slices */
    pthread_mutex_unlock(&guard);
}

/* Returns with the baton; whether it had to be waited for. */
static int enter(sigset_t *mask)
{
    pthread_sigmask(SIG_BLOCK, &deferred, mask);
    if (!self)
        adopt();
    self->inside = 1;
    pthread_mutex_lock(&guard);
    if (holder == self)
        return 0;
    come_back();
    return 1;
}

static void leave(const sigset_t *mask)
{
    pthread_mutex_unlock(&guard);
    self->inside = 0;
    pthread_sigmask(SIG_SETMASK, mask, NULL);
}

/* Returns whether the thread has been woken in vain before. */
static int wake_one(struct whence_thread *thread)
{
    thread->state = READY;
    thread->woken = 1;
    return thread->patience == WHENCE_INSIST;
}

static int wake(const void *object)
{
    int insisting = 0;
    for (unsigned i = 0; i < used; i++)
        if (threads[i].state == BLOCKED && threads[i].object == object)
            insisting |= wake_one(&threads[i]);
    return insisting;
}

/* The destructor of a key's value: it runs however a thread ends, and asks to be run in the last of the rounds, so that the
   program's own destructors have been run before. */
static void end_thread(void *rounds)
{
    sigset_t mask;
    if (!whence_scheduling)
        return;
    if ((intptr_t)rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
        pthread_setspecific(ending, (char *)rounds + 1);
        return;
    }
    enter(&mask);
    if (self != threads)
        whence_signal_stack(0);
    self->state = self->detached ? UNUSED : ENDED;
    wake(self);
    struct whence_thread *next;
    while (!(next = choose(self)) && alive())
        rest(&mask);
    tail = __whence_cursor;
    leaving = self == threads ? 0 : self->id; /* the first thread stays until the process ends */
    if (next)
        give(next);
    else
        holder = NULL;
    self = NULL;
    __whence_cursor = __whence_end = NULL;
    pthread_mutex_unlock(&guard);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

/* ---- The recorder's side -------------------------------------------------------------------------------------- */

static void before_fork(void) { pthread_mutex_lock(&guard); }
static void after_fork(void) { pthread_mutex_unlock(&guard); }

/* A forked child has one thread, and is not recorded. */
static void after_fork_in_child(void)
{
    whence_scheduling = 0;
    pthread_mutex_unlock(&guard);
}

void whence_threads_start(void)
{
    static const int kept[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    sigfillset(&deferred);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        sigdelset(&deferred, kept[i]);
    occupy(threads);
    register_self(threads);
    threads->inside = 0;
    holder = threads;
    pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

void whence_end_slice(void)
{
    sigset_t mask;
    if (self && !whence_scheduling)
        return;
    if (!enter(&mask)) {
        clock_us += SLICE_US;
        pass_on(&mask);
    }
    leave(&mask);
}

void whence_hold_baton(void)
{
    sigset_t mask;
    if (!whence_scheduling || holder == self)
        return;
    int saved = errno;
    enter(&mask);
    leave(&mask);
    errno = saved;
}

uint32_t *whence_slice(uint32_t *cursor, uint32_t *limit)
{
    if (!whence_scheduling)
        return limit;
    slice_seed = slice_seed * 6364136223846793005u + 1442695040888963407u;
    ptrdiff_t length = SLICE_MIN + (ptrdiff_t)(slice_seed >> (64 - SLICE_SPREAD_BITS));
    return limit - cursor < length ? limit : cursor + length;
}

/* ---- Waiting -------------------------------------------------------------------------------------------------- */

int whence_wait(const void *object, enum whence_patience patience, uint64_t until)
{
    int saved = errno;
    sigset_t mask;
    enter(&mask);
    self->object = object;
    self->patience = patience;
    self->until = until;
    self->ticket = ++tickets;
    self->woken = 0;
    self->state = BLOCKED;
    clock_us++;
    pass_on(&mask);
    int in_time = self->woken || until > clock_us;
    leave(&mask);
    errno = saved;
    return in_time;
}

int whence_wake(const void *object)
{
    int saved = errno;
    sigset_t mask;
    enter(&mask);
    int insisting = wake(object);
    leave(&mask);
    errno = saved;
    return insisting;
}

int whence_wake_first(const void *object)
{
    int saved = errno;
    sigset_t mask;
    struct whence_thread *first = NULL;
    enter(&mask);
    for (unsigned i = 0; i < used; i++)
        if (threads[i].state == BLOCKED && threads[i].object == object && (!first || threads[i].ticket < first->ticket))
            first = &threads[i];
    int insisting = first && wake_one(first);
    leave(&mask);
    errno = saved;
    return insisting;
}

int whence_yield(void)
{
    int saved = errno;
    sigset_t mask;
    enter(&mask);
    clock_us++;
    int others = pass_on(&mask);
    leave(&mask);
    errno = saved;
    return others;
}

uint64_t whence_clock(void) { return clock_us; }

int whence_nap(uint64_t us)
{
    const struct timespec pause = span(us * 1000);
    self->inside = 1; /* this sleep is meant: nobody is to take the baton, unless he asks */
    int interrupted = futex(&returned, FUTEX_WAIT, 0, &pause) && errno == EINTR;
    self->inside = 0;
    if (returned)
        whence_yield();
    return interrupted;
}

/* ---- Threads -------------------------------------------------------------------------------------------------- */

struct whence_thread *whence_thread_new(whence_routine *routine, void *argument, int detached)
{
    sigset_t mask;
    start_scheduling();
    if (self == threads)
        pthread_setspecific(ending, (void *)1);
    enter(&mask);
    struct whence_thread *slot = free_slot();
    if (slot) {
        occupy(slot);
        slot->state = BLOCKED; /* until whence_thread_made */
        slot->until = WHENCE_NEVER;
        slot->patience = WHENCE_PATIENT;
        slot->object = slot;
        slot->routine = routine;
        slot->argument = argument;
        slot->detached = detached;
    }
    leave(&mask);
    return slot;
}

void whence_thread_made(struct whence_thread *thread, pthread_t handle, int failed)
{
    sigset_t mask;
    enter(&mask);
    thread->handle = handle;
    thread->state = failed ? UNUSED : READY;
    leave(&mask);
    if (!failed)
        whence_note_start((unsigned)(thread - threads));
    if (__whence_end)
        __whence_end = whence_slice(__whence_cursor, __whence_end);
}

whence_routine *whence_thread_begin(struct whence_thread *thread, void **argument)
{
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, &deferred, &mask);
    register_self(thread);
    pthread_mutex_lock(&guard);
    await_baton();
    leave(&mask);
    pthread_setspecific(ending, (void *)1);
    whence_signal_stack(1);
    *argument = thread->argument;
    return thread->routine;
}

static struct whence_thread *find(pthread_t handle)
{
    for (unsigned i = 0; i < used; i++)
        if (threads[i].state != UNUSED && pthread_equal(threads[i].handle, handle))
            return &threads[i];
    return NULL;
}

unsigned whence_thread_await(pthread_t handle)
{
    struct whence_thread *thread = find(handle);
    if (!thread || thread == self || thread->detached)
        return 0;
    while (thread->state != ENDED) {
        whence_wait(thread, WHENCE_PATIENT, WHENCE_NEVER);
        pthread_testcancel();
    }
    return (unsigned)(thread - threads);
}

void whence_thread_release(pthread_t handle)
{
    struct whence_thread *thread = find(handle);
    if (!thread)
        return;
    thread->detached = 1;
    if (thread->state == ENDED)
        thread->state = UNUSED;
}

void whence_thread_disturb(pthread_t handle)
{
    sigset_t mask;
    struct whence_thread *thread = find(handle);
    enter(&mask);
    if (thread && thread->state == BLOCKED)
        wake_one(thread);
    leave(&mask);
}
