/* What the parts of a session share: session.c (the unaltered run and its points of change), continuation.c,
   snapshot.c, and calls.c with streams.c, resources.c, signals.c and shortcuts.c (system calls). */
#ifndef WHENCE_SESSION_H
#define WHENCE_SESSION_H

#include "alter/alter.h"
#include "base/base.h"

#include <signal.h>
#include <sys/stat.h>

enum { HOOK_STACK = 1 << 20, SIGNAL_STACK_BYTES = 256 << 10, UNDO_MAX = 512, TICK_MS = 10, STACK_BYTES = 8 << 20, AREAS = 8, TRIES = 256, ABOVE_MAIN = 1024 };
enum { NEAR = 1024, KEPT_MAX = 32, KEPT_PATH = 1024 };

/* Where a session's own memory lies: far from the subject's, so that what runs out of an array ends before, and behind its
   stack, so that a program that reads the list of mappings up to its stack finds the same in every session. */
#define SHORTCUTS_BELOW (UINT64_C(1) << 30)
#define STACK_PLACE ((void *)0x760000000000)
#define STACK_START ((char *)STACK_PLACE + STACK_BYTES - 64)
#define INPUT_PLACE ((void *)0x770000000000)
#define FILE_PLACE ((void *)0x780000000000)
#define UNDO_PLACE ((void *)0x7a0000000000)
#define CAPTURE_PLACE ((void *)0x7b0000000000)
#define SHOT_PLACE ((void *)0x7c0000000000)
#define OWN_PLACE ((void *)0x7d0000000000)
#define END_OF_PLACES ((void *)0x7e0000000000)

/* One thing to take back after a continuation: what it did to the process. And a system call instruction that a forked
   child came to, which its parent can shorten for all that follow. */
enum whence_undo_kind { UNDO_OFFSET = 1, UNDO_OPENED, UNDO_MAPPED, FOUND_CALL };
struct whence_undo {
    enum whence_undo_kind kind;
    long a, b;
};

/* A file that was put aside before a continuation changed it (private.c). */
struct whence_kept {
    char path[KEPT_PATH + 1];
    long fd; /* that it is open at, or -1 */
    int is_absent;
    struct stat about;
};

/* Shared with forked children, since they share the descriptors' offsets, and files, with their parent. */
struct whence_undo_log {
    unsigned count, kept_count;
    struct whence_undo entries[UNDO_MAX];
    struct whence_kept kept[KEPT_MAX];
};

/* A page of stubs, within reach of the code that jumps there (shortcuts.c). */
struct whence_stubs {
    unsigned char *stubs;
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
    int is_in_signal;     /* the continuation ends within a signal's handler */
    void *back[5];        /* __builtin_setjmp: where a continuation in a snapshot comes back to */

    volatile uint64_t ticks, patience; /* ms since something was begun, and how many that may take (0: any number) */
    volatile long child;               /* that is waited for */
    volatile int is_calling, is_late;  /* within a system call of the subject, which ends before it is cut off */

    volatile int is_copying; /* a fault now is the subject's bad pointer in a system call */
    void *bad_pointer[5];

    char name[KEPT_PATH + 1]; /* the session file's */
    struct whence_stubs areas[AREAS]; /* code that was made to jump stays so when a snapshot is gone back to */
    const char *tried[TRIES];         /* system calls, so that none is tried again and again */

    char signal_stack[SIGNAL_STACK_BYTES] __attribute__((aligned(4096)));
};

/* Where the session's own memory is: in a page that nobody can write to, since a program that writes past an array may
   well come to the runtime's variables. */
struct whence_memory;
union whence_places {
    struct {
        struct whence_control *control;
        struct whence_memory *shot; /* snapshot.c */
    };
    char page[4096];
};
extern union whence_places whence_places;
#define whence_control (whence_places.control)

#define HOOK_STACK_START (whence_control->hook_stack + sizeof whence_control->hook_stack)
#define FILE_AT(offset) ((void *)((char *)whence_control->file + (offset)))

static inline int whence_in_continuation(void) { return whence_control->is_running; }
static inline int whence_in_snapshot(void) { return whence_control->is_running && !whence_control->is_child; }

/* ---- continuation.c ------------------------------------------------------------------------------------------- */

struct whence_result *whence_result_of(uint64_t continuation);
const struct whence_change *whence_changes_of(uint64_t continuation, uint64_t *count);
/* Runs one continuation to its end, from this point. */
void whence_run_one(uint64_t continuation, const struct whence_point *point);
/* A run from the start: makes the changes of the session's continuation, and notes how far it comes. */
void whence_apply(void);
/* Notes how far the unaltered run from the start comes. */
void whence_watch(void);

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
void whence_exit_now(int status) __attribute__((noreturn));

/* ---- exits.c -------------------------------------------------------------------------------------------------- */

void whence_exits_start(void);
void __whence_lib_exit(int status) __attribute__((noreturn));

/* ---- snapshot.c ----------------------------------------------------------------------------------------------- */

size_t whence_snapshot_reserve(void); /* bytes reserved, 0 on failure */
int whence_snapshot_take(void);       /* 0, or -1 where the state is too large */
void whence_snapshot_restore(void);
void whence_snapshot_stop(void); /* all memory writable again, nothing tracked: until the next one is taken */
/* A write to a tracked page: lets it pass and returns 1; 0: a real fault. */
int whence_snapshot_fault(uintptr_t address);
/* The subject's mappings have changed. */
void whence_snapshot_layout_changed(void);
/* Makes pages writable that the kernel is going to write to. */
void whence_snapshot_touch(uintptr_t address, size_t length);

/* ---- calls.c -------------------------------------------------------------------------------------------------- */

struct whence_call {
    long number, a, b, c, d, e, f;
};
int whence_calls_start(void); /* from now on every system call of the subject comes here; 0 or -1 */
int whence_calls_again(void); /* the same in a forked child */
long whence_pass(const struct whence_call *call);
/* The kernel answers with EFAULT where it would have to write to a protected page: makes these ones writable. */
long whence_pass_writing(const struct whence_call *call, long target, size_t length);
/* For the unaltered run only: what it does cannot be taken back. */
long whence_pass_unless_altered(const struct whence_call *call);
/* Copies between the subject and the session; a bad pointer of the subject gives -EFAULT, else the length. */
long whence_copy(void *target, const void *source, size_t length);
void whence_bad_pointer(void);

/* ---- streams.c ------------------------------------------------------------------------------------------------ */

/* Streams of the subject: input in memory, output compared as it is written. Part of its state. */
enum { CLOSABLE = 256 };
struct whence_streams {
    uint64_t input_at;
    uint64_t written[3]; /* by descriptor */
    uint64_t first_wrong; /* in standard output */
    uint64_t first_wrong_error;
    uint64_t closed[CLOSABLE / 64]; /* descriptors that are closed for the subject only, so that they can come back */
    int is_any_closed;
};
extern struct whence_streams whence_streams;
int whence_is_closed(long descriptor);
void whence_mark_closed(long descriptor);
void whence_streams_start(void);
long whence_on_stream(const struct whence_call *call);

/* ---- resources.c ---------------------------------------------------------------------------------------------- */

/* Takes back what a continuation did to descriptors, and, where it was in this process, to mappings. */
void whence_take_back(int was_here);
/* Who has opened a descriptor: the unaltered run, the continuation, or the latter as another number of one of the former. */
enum whence_owner { OWNER_RUN, OWNER_CONTINUATION, OWNER_BOTH };
enum whence_owner whence_owner_of(long fd);
void whence_keep_offset(long fd);
long whence_copy_descriptor(const struct whence_call *call);
void whence_found_call(char *after);
long whence_read_file(const struct whence_call *call);
long whence_open_file(const struct whence_call *call);
long whence_close_file(const struct whence_call *call);
long whence_control_file(const struct whence_call *call);
long whence_move_break(const struct whence_call *call);
long whence_map_memory(const struct whence_call *call);
long whence_unmap_memory(const struct whence_call *call);
long whence_change_mappings(const struct whence_call *call);

/* ---- private.c ------------------------------------------------------------------------------------------------ */

/* Puts aside what a call changes in files; 0 where that is not possible. For a continuation in a process of its own. */
int whence_keep_for(const struct whence_call *call);
/* Puts aside what the unaltered run has open; 0 where that is not possible. */
int whence_keep_open(long fd);
/* The files are again as they were before the continuation. */
void whence_put_back(void);

/* ---- signals.c ------------------------------------------------------------------------------------------------ */

int whence_signals_start(void (*on_call)(int, siginfo_t *, void *));
void whence_unblock_signals(void);
long whence_set_action(const struct whence_call *call);
long whence_set_mask(const struct whence_call *call);
long whence_set_stack(const struct whence_call *call);
long whence_set_timer(const struct whence_call *call);
long whence_pass_time(const struct whence_call *call);
long whence_send_signal(const struct whence_call *call);
/* Signal `number` comes to the subject by the kernel's doing. Does not return where it ends the run. */
void whence_meet_signal(int number);
/* From now on, so many ms may pass (0: any number). */
void whence_allow(uint64_t ms);

/* ---- shortcuts.c ---------------------------------------------------------------------------------------------- */

/* Makes the system call instruction that ends at `after` jump to whence_enter_call. */
void whence_shorten(char *after);
int whence_is_shortcut(uintptr_t start);

#endif
