/* What the files of the schedule share: baton.c passes the turn, entry.c lets threads come and go, turns.c lets them wait and
   wake, threads.c starts and joins them. */
#ifndef WHENCE_BATON_H
#define WHENCE_BATON_H

#include "record/choices.h"
#include "record/schedule.h"

#include <signal.h>

enum { THREADS_MAX = 4096, REST_NS = 5000000 };

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
    uint64_t *left;           /* its steps until the next stop */
    pthread_t handle;
    pid_t id;
    clockid_t clock; /* of its processor time */
    whence_routine *routine;
    void *argument;
    uint8_t note; /* of its argument */
    sigset_t mask; /* it begins with this one; until then signals wait */
};

#pragma GCC visibility push(hidden)

extern struct whence_thread whence_threads[THREADS_MAX];
extern unsigned whence_slots; /* that were ever taken */
extern uint64_t whence_stops[THREADS_MAX]; /* number of the step at which a thread stops; numbers go on where its place is taken again */
extern struct whence_thread *_Atomic whence_holder;
extern __thread struct whence_thread *whence_self;
extern uint64_t whence_wakes; /* how often a thread could go on that could not before */
extern unsigned whence_rests; /* since a thread last did something */
extern int whence_has_forked;
extern uint32_t *whence_tail; /* where the trace goes on when the baton changes hands */
extern uint64_t whence_time_us;
extern pid_t whence_leaving; /* the thread that gave the baton away to end */
extern _Atomic uint32_t whence_returned; /* a thread that was away wants the baton */
extern pthread_mutex_t whence_guard;

int whence_futex(_Atomic uint32_t *word, int operation, uint32_t value, const struct timespec *timeout);
struct timespec whence_span(uint64_t ns);

/* ---- baton.c: with the guard held ------------------------------------------------------------------------------- */

/* The next thread behind `from` that can go on, `from` itself last; else the first that wakes, to whose time the clock
   jumps; else null. */
struct whence_thread *whence_choose(const struct whence_thread *from, enum why why);
unsigned whence_alive(void);
/* How many steps a thread has begun, with all that had its place before. */
uint64_t whence_steps(const struct whence_thread *thread);
/* The calling thread's turn begins: it stops where the schedule wants to be asked. */
void whence_take_turn(void);
/* It goes on, within its turn, to the next such place. */
void whence_go_on(void);
/* It is at a step at which another one may have to go on first. */
void whence_reach_step(uint32_t segment);
void whence_give(struct whence_thread *next);
void whence_await_baton(void);
/* All are waiting, for each other or for something outside: be there for signals, then let those that can look again. Ends the
   run where nothing comes of that. */
void whence_rest(const sigset_t *mask);
/* Returns when it is this thread's turn (again), and whether others had one. A signal handler that ran meanwhile, in
   whence_rest, left the state at READY: then the wait is over early, which callers expect. */
int whence_pass_on(const sigset_t *mask, enum why why);
void whence_come_back(void);

/* ---- entry.c ---------------------------------------------------------------------------------------------------- */

/* Returns with the baton and the guard; whether it had to be waited for. */
int whence_enter_schedule(sigset_t *mask);
void whence_leave_schedule(const sigset_t *mask);
/* Wakes a thread, or all that wait for an object; returns whether one has been woken in vain before. */
int whence_wake_one(struct whence_thread *thread);
int whence_wake_all(const void *object);
/* A place for another thread, or null; taking it; and who is in it. */
struct whence_thread *whence_free_slot(void);
void whence_occupy(struct whence_thread *thread);
void whence_register(struct whence_thread *thread);
/* From now on there are several threads. */
void whence_start_scheduling(void);
/* The calling thread's end is to be noticed. */
void whence_notice_end(void);

#pragma GCC visibility pop

#endif
