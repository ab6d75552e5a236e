/* The layer of runs: the run at hand, what it has written, and how it ends. It stands on base, the session file and changes. */
#ifndef WHENCE_CONTROL_H
#define WHENCE_CONTROL_H

#include "alter/changes.h"

enum { HOOK_STACK = 1 << 20, SIGNAL_STACK_BYTES = 256 << 10, NEAR = 1024, TICK_MS = 10 };
enum { AREAS = 8, TRIES = 256, KEPT_PATH = 1024 };

/* A page of trampolines, within reach of the code that jumps there (shortcuts.c). */
struct whence_trampolines {
    unsigned char *trampolines;
    unsigned used;
};

/* The session's own data: private to the process, and never part of a snapshot. */
struct whence_control {
    char hook_stack[HOOK_STACK - NEAR] __attribute__((aligned(4096))); /* what is written in every continuation, on few pages */
    struct whence_session *file;
    struct whence_undo_log *undo;
    char *capture[2];     /* what is kept of standard output and error */
    uint64_t index;       /* SESSION_APPLY: the continuation */
    const char *input;    /* standard input */
    uint64_t input_length;

    uint64_t running;     /* the continuation */
    uint64_t time;        /* in microseconds, when something was last measured */
    uint64_t next_stop;   /* index into the stops */
    uint64_t way_changes; /* how many continuations in a row a snapshot did not serve */
    int has_changed_way, has_snapshot;
    int is_running, is_child; /* within a continuation; in a forked process of its own */
    int has_moved_break;  /* the continuation */
    uintptr_t heap_end;   /* the program break at the last snapshot */
    uint64_t more_memory; /* bytes that the continuation has beyond what the run has at its point */
    int is_in_signal;     /* the continuation ends within a signal's handler */
    void *back[5];        /* __builtin_setjmp: where a continuation in a snapshot comes back to */

    volatile uint64_t ticks, patience; /* ms since something was begun, and how many that may take (0: any number) */
    int64_t computed;                  /* ms of a processor that what runs had had at the first tick */
    volatile long child;               /* that is waited for */
    volatile int is_calling, is_late;  /* within a system call of the subject, which ends before it is cut off */

    volatile int is_copying; /* a fault now is the subject's bad pointer in a system call */
    void *bad_pointer[5];

    char name[KEPT_PATH + 1]; /* the session file's */
    struct whence_trampolines areas[AREAS]; /* code that was made to jump stays so when a snapshot is gone back to */
    void (*enter_call)(void);         /* where that code jumps to */
    const char *tried[TRIES];         /* system calls, so that none is tried again and again */

    char signal_stack[SIGNAL_STACK_BYTES] __attribute__((aligned(4096)));
};

#define whence_control (whence_places.control)

#define HOOK_STACK_START (whence_control->hook_stack + sizeof whence_control->hook_stack)
#define FILE_AT(offset) ((void *)((char *)whence_control->file + (offset)))

static inline int whence_in_continuation(void) { return whence_control->is_running; }
static inline int whence_in_snapshot(void) { return whence_control->is_running && !whence_control->is_child; }

/* ---- control.c -------------------------------------------------------------------------------------------------- */

struct whence_result *whence_result_of(uint64_t continuation);
const struct whence_change *whence_changes_of(uint64_t continuation, uint64_t *count);
/* From now on, so many ms may pass (0: any number). */
void whence_allow(uint64_t ms);

/* ---- output.c --------------------------------------------------------------------------------------------------- */

/* Streams of the subject: input in memory, output compared as it is written. Part of its state. */
enum { CLOSABLE = 256 };
struct whence_streams {
    uint64_t input_at;
    uint64_t written[3]; /* by descriptor */
    uint64_t first_wrong; /* in standard output */
    uint64_t first_wrong_error;
    uint64_t closed[CLOSABLE / 64]; /* descriptors that are closed for the subject only, so that they can come back */
    int is_any_closed;
    int second[3]; /* by stream: the descriptor that writes to it as well, since it was opened by its name; 0: none */
};
extern struct whence_streams whence_streams;
void whence_output_start(void);
/* The run writes bytes to stream 1 or 2: they are compared with what is expected there, and kept where outputs are. */
void whence_output(int stream, const char *bytes, uint64_t length);
int whence_output_is_wrong(void);
/* The run has ended: an output that ends too early is wrong where it ends. */
void whence_output_end(void);

/* ---- leftovers.c ------------------------------------------------------------------------------------------------ */

/* Where in all that is compared, standard output first, the files are first wrong as the run leaves them; left as it is
   where they are right. 0 where that cannot be found out. */
int whence_compare_files(uint64_t *place);
/* Writes the compared files behind what is kept of outputs: the length of each (NOWHERE: it is not there), and its bytes.
   0 where they find no room, or cannot be read. */
int whence_keep_files(void);

/* ---- verdict.c -------------------------------------------------------------------------------------------------- */

/* How a continuation, or the unaltered run, ends. */
struct whence_ending {
    enum whence_verdict verdict; /* VERDICT_UNJUDGED: by what was written and `status` */
    int status, signal;
};
void whence_end(struct whence_ending ending) __attribute__((noreturn));
/* System call `number` cannot be done in a session: the run is REFUSED. */
void whence_refuse(long number) __attribute__((noreturn));
/* It cannot be taken back in this process: the continuation is done again in a forked one. */
void whence_change_way(long number) __attribute__((noreturn));

#endif
