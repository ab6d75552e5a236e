/* Altered runs: what alter.c (changes), session.c (points and continuations), snapshot.c and calls.c share, and the
   session file, which alter/session.py writes. Layouts are those of alter/changes.py. */
#ifndef WHENCE_ALTER_H
#define WHENCE_ALTER_H

#include <stddef.h>
#include <stdint.h>

#define WHENCE_EVERY UINT64_MAX
#define WHENCE_NOWHERE UINT64_MAX

enum whence_op {
    OP_SET = 1,
    OP_ADD,
    OP_NEGATE,
    OP_NOT,
    OP_KEEP,
    OP_OPERATOR,
    OP_LEFT_ADD,
    OP_RIGHT_ADD,
    OP_LEFT_SET,
    OP_RIGHT_SET,
    OP_SKIP,
    OP_POKE,
    OP_VARIABLE
};
enum whence_change_flag { CHANGE_GUARDED = 1, CHANGE_MEMORY = 2 };
enum whence_form { FORM_INTEGER, FORM_FLOAT, FORM_POINTER };

struct whence_change {
    uint64_t clock, value, guard, address;
    uint32_t site, block;
    uint8_t op, flags, width, form, operation, size;
    uint16_t spare;
};

enum whence_verdict {
    VERDICT_NOT_RUN,
    VERDICT_RUNNING,
    VERDICT_PASS,
    VERDICT_WRONG_OUTPUT,
    VERDICT_WRONG_STATUS,
    VERDICT_CRASH,
    VERDICT_TIMEOUT,
    VERDICT_NOT_REACHED,
    VERDICT_LOST,
    VERDICT_UNJUDGED,
    VERDICT_REFUSED
};
enum whence_way { WAY_AUTO, WAY_SNAPSHOT, WAY_FORK, WAY_RESTART };

struct whence_result {
    uint64_t length, first_wrong, output;
    uint32_t output_length, error_length, applied;
    int32_t status;
    uint8_t verdict, way, signal, spare;
    uint32_t microseconds;
};

struct whence_event {
    uint64_t clock, value;
    uint32_t site, spare;
};

/* Where a continuation makes a change. */
struct whence_place {
    uint64_t clock;
    uint32_t site, continuation;
};

/* In a session (OBSERVE, RUN), or once and as the program runs by itself (APPLY a continuation, WATCH all sites). */
enum whence_session_mode { SESSION_OBSERVE = 1, SESSION_RUN, SESSION_APPLY, SESSION_WATCH };
enum whence_session_flag { JUDGE_OUTPUT = 1, JUDGE_ERROR = 2, JUDGE_STATUS = 4, KEEP_OUTPUT = 8, HAS_THREADS = 16 };

/* The head of a session file, all words of 64 bits. Offsets count from the file's start, in bytes. */
struct whence_session {
    char magic[8];
    uint64_t mode, way, flags;
    uint64_t continuations, changes, offsets, results;
    uint64_t order, order_count; /* whence_place: all changes by clock and site */
    uint64_t expected, expected_length, expected_error, expected_error_length;
    int64_t expected_status;
    uint64_t budget;   /* clock ticks that a continuation may take; 0: any number */
    uint64_t endless;  /* 0, or clock ticks after which the unaltered run counts as one that does not end */
    uint64_t patience; /* milliseconds that a continuation may take, however few hooks it meets */
    uint64_t unaltered_patience; /* the same of the unaltered run, between two points of change */
    uint64_t events, events_limit, outputs, outputs_limit;
    uint64_t capture;      /* bytes that are kept of a stream; a continuation that writes more is ended */
    uint64_t output_limit; /* bytes that a stream may have: RLIMIT_FSIZE; 0: any number */
    uint64_t time_limit;   /* milliseconds that a run may sleep; 0: any number */
    uint64_t stops, stop_count;   /* clocks of all changes at one instance, in order, each once */
    uint64_t blocks, block_count; /* blocks (u32) of all changes at every instance */
    /* written by the runtime */
    uint64_t stop; /* by the parent: end after the continuation at hand */
    uint64_t done, events_count, outputs_used;
    uint64_t refusal, refusal_clock; /* the system call (+ 1) for which the unaltered run cannot be altered */
    uint64_t finished;               /* the unaltered run has come to its end; `unaltered` tells how */
    struct whence_result unaltered;
};

/* ---- alter.c: what hooks ask ------------------------------------------------------------------------------- */

/* The state of the runtime that is part of the subject's lies together, so that it takes one hot page. */
#if defined(__x86_64__)
#define WHENCE_HOT __attribute__((section(".ldata.whence_hot"), model("small")))
#else
#define WHENCE_HOT __attribute__((section(".ldata.whence_hot")))
#endif

extern uint64_t __whence_clock, __whence_stop;
extern uint8_t __whence_armed[] __attribute__((weak));
extern const uint64_t __whence_armed_bytes __attribute__((weak));

/* What is being done at the moment: part of the subject's state, so a snapshot brings it back. */
enum whence_doing { DOING_NOTHING, DOING_OBSERVE, DOING_SEARCH, DOING_CONTINUATION };
struct whence_state {
    enum whence_doing doing;
    int is_armed;                        /* whether there are armed blocks */
    const struct whence_change *changes; /* of the continuation */
    uint64_t count, budget;
    uint64_t more;             /* 0, or the budget from the first change on */
    uint32_t reached, applied; /* how often it came to a place of change, and how often a change was made */
    struct whence_result *whole; /* of a run from the start: where both are noted at once, however it ends */
    int is_forked;               /* it is a child of the subject's own, whose instances have no clock */
};
extern struct whence_state whence_state;

/* The changed value at a site, where a change of the continuation is made there; else the value itself. */
struct whence_point {
    uint64_t clock; /* of the block, from 1 */
    uint32_t site;
    uint64_t value, left, right;
    void *place;
    void **frame;
    int is_computed, is_call; /* of a call, the value is the function's address */
};
uint64_t whence_altered(const struct whence_point *point);
/* Activates a continuation's changes. Its budget counts from the run's start; where the unaltered run does not end, which
   says nothing of how long a run should take, from its first change. */
void whence_begin_changes(const struct whence_change *changes, uint64_t count, const struct whence_session *file);
/* From now on all instances of sites are observed, for so many clock ticks (0: any number). */
void whence_begin_observing(uint64_t ticks);

/* Called on the hook's stack when the run gets to a site where something may be done (session.c). */
uint64_t whence_visit(const struct whence_point *point);
/* The next clock after this one, from 1, at which the search has something to do. */
uint64_t whence_next_stop(uint64_t clock);
/* The clock budget is used up. Does not return. */
void whence_out_of_budget(void) __attribute__((noreturn));

/* ---- context.c ------------------------------------------------------------------------------------------------ */

/* Where hooks run; null: on the caller's own stack. */
extern char *whence_hook_stack;
/* Goes on in the subject behind the hook that it came to last. */
void whence_resume(uint64_t value) __attribute__((noreturn));
/* Calls function() on another stack; it must not return. */
void whence_call_on(char *stack, void (*function)(void)) __attribute__((noreturn));
/* A system call from the one place that is not intercepted; gives the kernel's answer (-errno). */
long whence_call(long number, long a, long b, long c, long d, long e, long f);
extern const char whence_call_start[], whence_call_end[];
void whence_restorer(void);
/* Where a shortcut (shortcuts.c) leads: a system call in whose rcx stands where to go on. */
void whence_enter_call(void);

/* ---- session.c: what server.c asks ------------------------------------------------------------------------------ */

/* Opens the session that `text` ("path" or "path:index") names, before limits are set. Returns the bytes of address
   space that it takes, 0 with errno set where it cannot be opened. */
size_t whence_session_open(const char *text);
/* Runs the program where sessions run it, so that what it does is the same: recordings do. Does not return. */
void whence_run_as_session(int (*entry)(int, char **, char **), int argc, char **argv, char **envp) __attribute__((noreturn));
/* Runs the program in the session. Does not return. */
void whence_session_run(int (*entry)(int, char **, char **), int argc, char **argv, char **envp) __attribute__((noreturn));

#endif
