/* The session file, by which a batch of continuations reaches the runtime and its results come back, as alter/file.py writes it.
   Layouts are those of alter/changes.py. */
#ifndef WHENCE_SESSION_FILE_H
#define WHENCE_SESSION_FILE_H

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
    OP_VARIABLE,
    OP_MEMBER,
    OP_EXCHANGE,
    OP_READ,
    OP_READ_VALUE,
    OP_STOP
};
enum whence_change_flag { CHANGE_GUARDED = 1, CHANGE_MEMORY = 2, CHANGE_RELOAD = 4 };
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
    VERDICT_REFUSED,
    VERDICT_REACHED
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
    uint32_t site, is_first; /* its block's first instance: those before it were left out */
};

/* Where a continuation makes a change. */
struct whence_place {
    uint64_t clock;
    uint32_t site, continuation;
};

/* In a session (OBSERVE, RUN), or once and as the program runs by itself (APPLY a continuation, WATCH all sites). */
enum whence_session_mode { SESSION_OBSERVE = 1, SESSION_RUN, SESSION_APPLY, SESSION_WATCH };
enum whence_session_flag { JUDGE_OUTPUT = 1, JUDGE_ERROR = 2, JUDGE_STATUS = 4, KEEP_OUTPUT = 8, HAS_THREADS = 16, JUDGE_FILES = 32 };

/* A file that is compared: its whole name, and what is right. */
struct whence_compared {
    uint64_t name, content;
    uint64_t length; /* WHENCE_NOWHERE: it is not to be there */
};

/* The head of a session file, all words of 64 bits. Offsets count from the file's start, in bytes. */
struct whence_session {
    char magic[8];
    uint64_t mode, way, flags;
    uint64_t continuations, changes, offsets, results;
    uint64_t order, order_count; /* whence_place: all changes by clock and site */
    uint64_t expected, expected_length, expected_error, expected_error_length;
    uint64_t compared, compared_count; /* whence_compared */
    int64_t expected_status;
    uint64_t budget;   /* clock ticks that a continuation may take; 0: any number */
    uint64_t endless;  /* 0, or clock ticks after which the unaltered run counts as one that does not end */
    uint64_t patience; /* milliseconds that a continuation may take, however few hooks it meets */
    uint64_t unaltered_patience; /* the same of the unaltered run, between two points of change */
    uint64_t events, events_limit, outputs, outputs_limit; /* in a run, events are what continuations read: bytes */
    uint64_t events_more; /* room behind the limit, for the first instances of sites that have had none by then */
    uint64_t capture;      /* bytes that are kept of a stream; a continuation that writes more is ended */
    uint64_t output_limit; /* bytes that a stream may have: RLIMIT_FSIZE; 0: any number */
    uint64_t time_limit;   /* milliseconds that a run may sleep; 0: any number */
    uint64_t memory;       /* bytes that a continuation may have more than the run at its point; 0: any number */
    uint64_t stops, stop_count;   /* clocks of all changes at one instance, in order, each once */
    uint64_t blocks, block_count; /* blocks (u32) of all changes at every instance */
    /* written by the runtime */
    uint64_t stop; /* by the parent: end after the continuation at hand */
    uint64_t done, events_count, outputs_used;
    uint64_t refusal, refusal_clock; /* the system call (+ 1) for which the unaltered run cannot be altered */
    uint64_t finished;               /* the unaltered run has come to its end; `unaltered` tells how */
    struct whence_result unaltered;
};

#endif
