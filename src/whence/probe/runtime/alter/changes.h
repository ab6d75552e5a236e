/* The layer of changes: what a continuation's changes make of the values that hooks ask about, and the stacks between which
   hooks change. It stands on base and on the session file's layouts. */
#ifndef WHENCE_CHANGES_H
#define WHENCE_CHANGES_H

#include "alter/session_file.h"
#include "base/base.h"

/* ---- operators.c ------------------------------------------------------------------------------------------------ */

/* The value of an operation or comparison (numbered as in probe/sites.py) on operands of `width` bits. */
uint64_t whence_computed(unsigned operation, uint64_t a, uint64_t b, unsigned width);
/* The sum of two values, the negative of one: floats of `width` bits (the addend: of 64), or integers. */
uint64_t whence_sum(enum whence_form form, uint64_t value, uint64_t addend, unsigned width);
uint64_t whence_negated(enum whence_form form, uint64_t value, unsigned width);

/* ---- changes.c -------------------------------------------------------------------------------------------------- */

extern uint64_t __whence_clock, __whence_stop;
extern uint8_t __whence_armed[] __attribute__((weak));
extern const uint64_t __whence_armed_bytes __attribute__((weak));

/* What is being done at the moment: part of the subject's state, so a snapshot brings it back. */
enum whence_doing { DOING_NOTHING, DOING_OBSERVE, DOING_SEARCH, DOING_CONTINUATION };
struct whence_state {
    enum whence_doing doing;
    int is_armed;                        /* whether there are armed blocks */
    int is_first;                        /* first instances alone are observed, of blocks that are armed */
    const struct whence_change *changes; /* of the continuation */
    uint64_t count, budget;
    uint64_t more;             /* 0, or the budget from the first change on */
    uint32_t reached, applied; /* how often it came to a place of change, and how often a change was made */
    uint64_t left;             /* what the left operand of an exchanged && or || was last */
    uint64_t next;             /* the clock of the next change, from 1 */
    uint64_t path;             /* of a continuation that is to stop: a hash of the blocks since its first change */
    int is_followed;           /* whether its path is hashed */
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
/* Whether a change of the continuation is made at a point. */
int whence_is_at(const struct whence_change *change, const struct whence_point *point);
/* Activates a continuation's changes. Its budget counts from the run's start; where the unaltered run does not end, which
   says nothing of how long a run should take, from its first change. */
void whence_begin_changes(const struct whence_change *changes, uint64_t count, const struct whence_session *file);
/* A block of the continuation starts: whether a change is made in it, by its clock. The next stop is set. */
int whence_follow(uint64_t clock, uint32_t block);
/* From now on all instances of sites are observed, for so many clock ticks (0: any number). */
void whence_begin_observing(uint64_t ticks);
/* ... and from now on only the first ones in blocks that have had none. */
void whence_observe_firsts(const struct whence_session *file);
/* A block starts while instances are observed. */
void whence_see(uint32_t block);
/* No instance is observed any more. */
void whence_end_observing(void);

/* ---- stacks.c --------------------------------------------------------------------------------------------------- */

/* Where hooks run; null: on the caller's own stack. */
extern char *whence_hook_stack;
/* Goes on in the subject behind the hook that it came to last. */
void whence_resume(uint64_t value) __attribute__((noreturn));
/* Calls function() on another stack; it must not return. */
void whence_call_on(char *stack, void (*function)(void)) __attribute__((noreturn));
/* Runs its caller's function (whose address is in rax) on the hooks' stack; only hooks jump here. */
void whence_enter(void);

#endif
