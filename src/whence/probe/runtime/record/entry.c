/* Threads that come and go: every call into the schedule begins and ends here, and so do threads. */
#define _GNU_SOURCE
#include "record/baton.h"

#include <limits.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_key_t ending; /* its destructor tells of a thread's end */

struct whence_thread *whence_free_slot(void)
{
    for (unsigned i = 0; i < THREADS_MAX; i++)
        if (whence_threads[i].state == UNUSED)
            return &whence_threads[i];
    return NULL;
}

void whence_occupy(struct whence_thread *thread)
{
    memset(thread, 0, sizeof *thread);
    thread->state = READY;
    thread->inside = 1;
    if (thread - whence_threads >= (ptrdiff_t)whence_slots)
        whence_slots = (unsigned)(thread - whence_threads) + 1;
    if (whence_scheduling)
        whence_note_threads(whence_slots);
    whence_tell_threads(whence_slots);
}

void whence_register(struct whence_thread *thread)
{
    whence_self = thread;
    whence_thread = (unsigned)(thread - whence_threads);
    thread->id = (pid_t)syscall(SYS_gettid);
    thread->handle = pthread_self();
    thread->cursor = &__whence_cursor;
    thread->end = &__whence_end;
    thread->left = &__whence_left;
    pthread_getcpuclockid(thread->handle, &thread->clock);
}

static void end_thread(void *rounds);

/* One thread runs at a time: the turn is passed on far faster where the next one need not be woken on another processor. */
static void stay_on_one_processor(void)
{
    cpu_set_t one;
    int here = sched_getcpu();
    CPU_ZERO(&one);
    if (here < 0 || here >= CPU_SETSIZE)
        return;
    CPU_SET(here, &one);
    sched_setaffinity(0, sizeof one, &one);
}

void whence_start_scheduling(void)
{
    if (whence_scheduling)
        return;
    pthread_key_create(&ending, end_thread);
    whence_scheduling = 1;
    whence_note_threads(whence_slots);
    if (whence_is_scheduled())
        stay_on_one_processor();
    if (whence_holder == whence_self)
        whence_take_turn();
}

/* A thread that some library started runs code of the program. */
static void adopt(void)
{
    struct whence_thread *slot;
    const struct timespec pause = whence_span(REST_NS);
    pthread_mutex_lock(&whence_guard);
    while (!(slot = whence_free_slot())) {
        pthread_mutex_unlock(&whence_guard);
        syscall(SYS_nanosleep, &pause, NULL);
        pthread_mutex_lock(&whence_guard);
    }
    whence_occupy(slot);
    slot->detached = 1;
    whence_register(slot);
    whence_start_scheduling();
    whence_notice_end();
    if (whence_holder)
        *whence_holder->end = NULL; /* a thread that was alone had no slices */
    pthread_mutex_unlock(&whence_guard);
}

int whence_enter_schedule(sigset_t *mask)
{
    whence_defer_signals(mask);
    if (!whence_self)
        adopt();
    whence_self->inside = 1;
    pthread_mutex_lock(&whence_guard);
    if (whence_holder == whence_self)
        return 0;
    whence_come_back();
    return 1;
}

void whence_leave_schedule(const sigset_t *mask)
{
    pthread_mutex_unlock(&whence_guard);
    whence_self->inside = 0;
    pthread_sigmask(SIG_SETMASK, mask, NULL);
}

int whence_wake_one(struct whence_thread *thread)
{
    thread->state = READY;
    thread->woken = 1;
    whence_wakes++;
    return thread->patience == WHENCE_INSIST;
}

int whence_wake_all(const void *object)
{
    int insisting = 0;
    for (unsigned i = 0; i < whence_slots; i++)
        if (whence_threads[i].state == BLOCKED && whence_threads[i].object == object)
            insisting |= whence_wake_one(&whence_threads[i]);
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
    whence_enter_schedule(&mask);
    if (whence_self != whence_threads)
        whence_signal_stack(0);
    whence_self->state = whence_self->detached ? UNUSED : ENDED;
    whence_wake_all(whence_self);
    struct whence_thread *next;
    while (!(next = whence_choose(whence_self, AT_WAIT)) && whence_alive())
        whence_rest(&mask);
    whence_stops[whence_self - whence_threads] = whence_steps(whence_self);
    whence_self->left = NULL;
    whence_tail = __whence_cursor;
    whence_leaving = whence_self->id;
    if (next)
        whence_give(next);
    else
        whence_holder = NULL;
    whence_self = NULL;
    __whence_cursor = __whence_end = NULL;
    pthread_mutex_unlock(&whence_guard); /* signals wait for ever: whoever they come to would be another thread */
}

void whence_notice_end(void) { pthread_setspecific(ending, (void *)1); }

/* ---- The first thread ------------------------------------------------------------------------------------------- */

static void before_fork(void) { pthread_mutex_lock(&whence_guard); }
static void after_fork(void)
{
    whence_has_forked = 1;
    pthread_mutex_unlock(&whence_guard);
}

/* A forked child has one thread, and is not recorded. */
static void after_fork_in_child(void)
{
    whence_scheduling = 0;
    pthread_mutex_unlock(&whence_guard);
}

void whence_threads_start(void)
{
    whence_occupy(whence_threads);
    whence_register(whence_threads);
    whence_threads->inside = 0;
    whence_holder = whence_threads;
    pthread_atfork(before_fork, after_fork, after_fork_in_child);
}
