/* The layer of the schedule: threads of a recorded run take turns. It stands on the trace, whose cursor goes from one to the
   next; the recorder and the wrappers of thread functions stand on it. */
#ifndef WHENCE_SCHEDULE_H
#define WHENCE_SCHEDULE_H

#include "record/trace.h"

#include <pthread.h>
#include <stdint.h>
#include <time.h>

/* As long as whence_scheduling (trace.h) is 0 there is one thread, and nothing below need be called. */

/* The steps that a thread still begins before it stops at one; instrumented code counts them (probe/layout.py). */
extern __thread uint64_t __whence_left __attribute__((tls_model("initial-exec")));

/* ---- choices.c -------------------------------------------------------------------------------------------------- */

/* From now on threads take turns as the schedule in a file says (schedule_file.h); 0, or -1 where it cannot be used. */
int whence_schedule_open(const char *path);
int whence_is_scheduled(void);

/* ---- turns.c, entry.c: for the recorder ------------------------------------------------------------------------- */

/* The calling thread is the first one of a run that is recorded. */
void whence_threads_start(void);
/* Returns when it is the calling thread's turn: at the end of a slice the others come first. */
void whence_end_slice(void);
/* Returns when it is the calling thread's turn: at once, unless a call that slept let others go on. */
void whence_hold_baton(void);
/* Where the slice that begins at `cursor` ends, at most at `limit`. */
uint32_t *whence_slice(uint32_t *cursor, uint32_t *limit);

/* ---- turns.c: for the wrappers, while whence_scheduling --------------------------------------------------------- */

#define WHENCE_NEVER UINT64_MAX
enum whence_patience {
    WHENCE_PATIENT, /* only whence_wake ends the wait */
    WHENCE_RETRY,   /* the real object may change unseen (other processes, code that is not recorded): look again at times */
    WHENCE_INSIST   /* the same, and a wait for the object before was in vain: whoever wakes this thread is to let it go on */
};

/* Lets others go on until `object` is woken or the schedule's clock comes to `until`. Returns 0 when time ended it. It
   may return early, so callers look again whether what they wait for is there. Keeps errno, as all functions here do. */
int whence_wait(const void *object, enum whence_patience patience, uint64_t until);
/* Wakes all that wait for `object`, or the one that waits longest; returns whether one insists. */
int whence_wake(const void *object);
int whence_wake_first(const void *object);
/* Lets each other thread that can go on have a turn; returns whether there was one. */
int whence_yield(void);
/* The schedule's clock in µs: it advances with what threads do, and jumps when all sleep. */
uint64_t whence_clock(void);
/* Sleeps really, with the turn kept, but for threads that come back from elsewhere; returns whether a signal came. */
int whence_nap(uint64_t us);

/* ---- pauses.c --------------------------------------------------------------------------------------------------- */

/* What the schedule's clock will show at an absolute time of the real or the monotonic clock. */
uint64_t whence_deadline(const struct timespec *absolute);
/* Waits, with the turn kept, until that time has really come. */
void whence_rest_until(const struct timespec *absolute);
/* Sleeps, in the schedule and then really; returns the µs left when it was ended early. */
uint64_t whence_sleep(uint64_t us);
/* Lets others go on until a descriptor is ready for `events` of poll, or would not block anyway. */
void whence_await_descriptor(int descriptor, short events);

/* ---- threads.c: a new one waits for its first turn in whence_thread_begin, and its starter's signals wait until it is made ---- */

struct whence_thread;
typedef void whence_routine(void);
/* `note` is what the thread is told of its argument. */
struct whence_thread *whence_thread_new(whence_routine *routine, void *argument, uint8_t note, int detached);
void whence_thread_made(struct whence_thread *thread, pthread_t handle, int failed);
whence_routine *whence_thread_begin(struct whence_thread *thread, void **argument, uint8_t *note);
/* Waits until a thread has ended; returns its number, or 0 where it is unknown. */
unsigned whence_thread_await(pthread_t handle);
/* The handle is not used any more. */
void whence_thread_release(pthread_t handle);
/* Lets a thread look whether it is to be cancelled. */
void whence_thread_disturb(pthread_t handle);

#endif
