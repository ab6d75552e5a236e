/* Turns: they end with a slice of the trace, or where a thread waits for something. */
#define _GNU_SOURCE
#include "record/baton.h"

#include <errno.h>
#include <linux/futex.h>

enum { SLICE_MIN = 8192, SLICE_SPREAD_BITS = 14, SLICE_US = 64 };

static uint64_t tickets, slice_seed;

void whence_end_slice(void)
{
    sigset_t mask;
    if (whence_self && !whence_scheduling)
        return;
    if (!whence_enter_schedule(&mask) && !whence_is_scheduled()) {
        whence_time_us += SLICE_US;
        whence_pass_on(&mask, AT_PAUSE);
    }
    whence_leave_schedule(&mask);
}

/* Instrumented code is at a step at which it was to stop. */
void whence_step(uint32_t segment)
{
    int saved = errno;
    sigset_t mask;
    if (!whence_is_scheduled() || !whence_scheduling || !whence_self)
        return;
    if (whence_holder == whence_self && !whence_considers(whence_steps(whence_self), segment, whence_wakes)) {
        whence_go_on();
        return;
    }
    if (!whence_enter_schedule(&mask))
        whence_reach_step(segment);
    whence_leave_schedule(&mask);
    errno = saved;
}

void whence_hold_baton(void)
{
    sigset_t mask;
    if (!whence_scheduling || whence_holder == whence_self)
        return;
    int saved = errno;
    whence_enter_schedule(&mask);
    whence_leave_schedule(&mask);
    errno = saved;
}

uint32_t *whence_slice(uint32_t *cursor, uint32_t *limit)
{
    if (!whence_scheduling || whence_is_scheduled())
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
    whence_enter_schedule(&mask);
    if (patience != WHENCE_INSIST)
        whence_rests = 0; /* something was done since all waited */
    whence_self->object = object;
    whence_self->patience = patience;
    whence_self->until = until;
    whence_self->ticket = ++tickets;
    whence_self->woken = 0;
    whence_self->state = BLOCKED;
    whence_time_us++;
    whence_pass_on(&mask, object ? AT_WAIT : AT_PAUSE);
    int in_time = whence_self->woken || until > whence_time_us;
    whence_leave_schedule(&mask);
    errno = saved;
    return in_time;
}

int whence_wake(const void *object)
{
    int saved = errno;
    sigset_t mask;
    whence_enter_schedule(&mask);
    int insisting = whence_wake_all(object);
    whence_leave_schedule(&mask);
    errno = saved;
    return insisting;
}

int whence_wake_first(const void *object)
{
    int saved = errno;
    sigset_t mask;
    struct whence_thread *first = NULL;
    whence_enter_schedule(&mask);
    for (struct whence_thread *thread = whence_threads; thread < whence_threads + whence_slots; thread++)
        if (thread->state == BLOCKED && thread->object == object && (!first || thread->ticket < first->ticket))
            first = thread;
    int insisting = first && whence_wake_one(first);
    whence_leave_schedule(&mask);
    errno = saved;
    return insisting;
}

int whence_yield(void)
{
    int saved = errno;
    sigset_t mask;
    whence_enter_schedule(&mask);
    whence_time_us++;
    int others = whence_pass_on(&mask, AT_PAUSE);
    whence_leave_schedule(&mask);
    errno = saved;
    return others;
}

uint64_t whence_clock(void) { return whence_time_us; }

int whence_nap(uint64_t us)
{
    const struct timespec pause = whence_span(us * 1000);
    whence_self->inside = 1; /* this sleep is meant: nobody is to take the baton, unless he asks */
    int interrupted = whence_futex(&whence_returned, FUTEX_WAIT, 0, &pause) && errno == EINTR;
    whence_self->inside = 0;
    if (whence_returned)
        whence_yield();
    return interrupted;
}
