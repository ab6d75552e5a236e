/* What the parts of a session share: its own data, which is never part of a snapshot. */
#ifndef WHENCE_SESSION_H
#define WHENCE_SESSION_H

#include "alter.h"

#include <signal.h>

enum { HOOK_STACK = 1 << 20, SIGNAL_STACK_BYTES = 256 << 10, CAPTURE = 1 << 20, UNDO_MAX = 256 };

/* One thing to take back after a continuation: what it did to the process. */
enum whence_undo_kind { UNDO_OFFSET = 1, UNDO_OPENED, UNDO_MAPPED };
struct whence_undo {
    enum whence_undo_kind kind;
    long a, b;
};

/* Shared with forked children, since they share the descriptors' offsets with their parent. */
struct whence_undo_log {
    unsigned count;
    struct whence_undo entries[UNDO_MAX];
};

/* Private to the process, and at an address of its own, so that no other mapping is merged with it. */
struct whence_control {
    struct whence_session *file;
    struct whence_undo_log *undo;
    uint64_t index; /* SESSION_APPLY: the continuation */
    const char *input;
    uint64_t input_length;

    uint64_t running;                /* the continuation */
    volatile int is_running;         /* in a snapshot */
    volatile uint64_t ticks;         /* since it started */
    int given_up, has_snapshot;
    uint64_t give_ups;               /* how often a snapshot did not serve */
    uint64_t next_stop;              /* index into the stops */
    void *back[5];                   /* __builtin_setjmp: where a continuation in a snapshot comes back to */
    uintptr_t heap_end;              /* the program break at the last snapshot */

    volatile int is_copying;         /* a fault now is the subject's bad pointer in a system call */
    void *bad_pointer[5];

    char hook_stack[HOOK_STACK] __attribute__((aligned(4096)));
    char signal_stack[SIGNAL_STACK_BYTES];
    char capture[2][CAPTURE];
};
extern struct whence_control *whence_control;
extern int whence_is_child;

#define OWN_PLACE ((void *)0x7d0000000000)

void whence_keep_output(int stream, uint64_t at, const char *bytes, uint64_t length);
void whence_on_fault(int number, siginfo_t *info, void *context);
void whence_on_tick(int number, siginfo_t *info, void *context);
/* Whether the subject has a handler of its own for a signal. */
int whence_has_handler(int number);

#endif
