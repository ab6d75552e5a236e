/* The changes of a continuation: where hooks stop for them, and what they make of values. Blocks are armed one by one, for
   changes at every instance, or by the clock at which the run is to stop. */
#include "alter/changes.h"

#include <string.h>

/* Odd, so that the hash of a part of a path can be told from those of its beginnings (alter/changes.py). */
#define PATH_FACTOR 0x9e3779b97f4a7c15ull

WHENCE_HOT uint64_t __whence_clock = 0;
WHENCE_HOT uint64_t __whence_stop = UINT64_MAX;
WHENCE_HOT struct whence_state whence_state = {0};

/* ---- Where to stop -------------------------------------------------------------------------------------------- */

static uint64_t next_change(void)
{
    const struct whence_state *state = &whence_state;
    uint64_t stop = state->budget ? state->budget + 1 : UINT64_MAX;
    for (uint64_t i = 0; i < state->count; i++) {
        uint64_t clock = state->changes[i].clock;
        if (clock != WHENCE_EVERY && clock + 1 > __whence_clock && clock + 1 < stop)
            stop = clock + 1;
    }
    return stop;
}

static int stops(const struct whence_change *changes, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        if (changes[i].op == OP_STOP)
            return 1;
    }
    return 0;
}

/* What is followed stops in every block. */
static void set_next(void)
{
    whence_state.next = next_change();
    __whence_stop = whence_state.is_followed ? 0 : whence_state.next;
}

void whence_begin_changes(const struct whence_change *changes, uint64_t count, const struct whence_session *file)
{
    whence_state.doing = DOING_CONTINUATION;
    whence_state.changes = changes;
    whence_state.count = count;
    whence_state.budget = file->endless ? file->endless : file->budget;
    whence_state.more = file->endless ? file->budget : 0;
    whence_state.reached = whence_state.applied = 0;
    if (whence_state.is_armed) /* by the search, for other continuations */
        memset(__whence_armed, 0, __whence_armed_bytes);
    for (uint64_t i = 0; i < count; i++) {
        if (changes[i].clock != WHENCE_EVERY)
            continue;
        __whence_armed[changes[i].block] = 1;
        if (changes[i].op == OP_EXCHANGE)
            __whence_armed[changes[i].guard] = 1;
    }
    whence_state.path = 0;
    whence_state.is_followed = stops(changes, count);
    set_next();
}

int whence_follow(uint64_t clock, uint32_t block)
{
    int is_due = clock == whence_state.next;
    if (whence_state.is_followed)
        whence_state.path = whence_state.path * PATH_FACTOR + block + 1;
    if (is_due)
        set_next();
    return is_due;
}

void whence_begin_observing(uint64_t ticks)
{
    whence_state.doing = DOING_OBSERVE;
    whence_state.budget = ticks;
    __whence_stop = 0;
}

/* Until then the blocks that were seen are marked: every block stops anyway. */
void whence_observe_firsts(const struct whence_session *file)
{
    whence_state.is_first = 1;
    __whence_stop = file->endless ? file->endless + 1 : UINT64_MAX;
    for (uint64_t block = 0; block < __whence_armed_bytes; block++)
        __whence_armed[block] = !__whence_armed[block] && file->events_more;
}

void whence_see(uint32_t block)
{
    __whence_armed[block] = !whence_state.is_first;
}

void whence_end_observing(void)
{
    memset(__whence_armed, 0, __whence_armed_bytes);
    whence_state.doing = DOING_NOTHING;
    whence_state.budget = 0;
    __whence_stop = UINT64_MAX;
}

/* ---- What a change makes of a value ----------------------------------------------------------------------------- */

static uint64_t sum(const struct whence_change *change, uint64_t value)
{
    return whence_sum(change->form, value, change->value, change->width);
}

static uint64_t loaded(const void *place, unsigned width)
{
    uint64_t value = 0;
    memcpy(&value, place, (width + 7) / 8);
    return width == 1 ? value & 1 : value;
}

static void stored(void *place, uint64_t value, unsigned width)
{
    memcpy(place, &value, (width + 7) / 8);
}

static uint64_t computed_again(const struct whence_change *change, uint64_t a, uint64_t b)
{
    switch (change->op) {
    case OP_LEFT_ADD: a = sum(change, a); break;
    case OP_RIGHT_ADD: b = sum(change, b); break;
    case OP_LEFT_SET: a = change->value; break;
    case OP_RIGHT_SET: b = change->value; break;
    default: break;
    }
    return whence_computed(change->operation, a, b, change->width);
}

/* What is called in the place of a function that is skipped. */
static void nothing(void) {}

/* ---- Making changes ------------------------------------------------------------------------------------------- */

/* A load has its value before its hook is asked: it is loaded again. */
static uint64_t poked(const struct whence_change *change, const struct whence_point *point, uint64_t value)
{
    memcpy((void *)change->address, &change->value, change->size);
    return change->flags & CHANGE_RELOAD && point->place ? loaded(point->place, change->width) : value;
}

/* With `a && b` the whole is false unless a leads to b and b is true: the left operand or the right one decides for what
   `a` alone would give. With the other operator both have to; so the right operand is always computed, as it was where
   `a` led to it, and what it becomes depends on what `a` was. */
static uint64_t exchanged(const struct whence_change *change, const struct whence_point *point, uint64_t value)
{
    if (change->site == point->site) {
        whence_state.left = value;
        return change->value;
    }
    int both = whence_state.left != change->value && value == change->operation;
    return both ? change->operation : !change->operation;
}

static uint64_t changed(const struct whence_change *change, const struct whence_point *point, uint64_t value)
{
    switch (change->op) {
    case OP_SET: return change->value;
    case OP_ADD: return sum(change, value);
    case OP_NEGATE: return whence_negated(change->form, value, change->width);
    case OP_NOT: return value == 0;
    case OP_KEEP: return point->place ? loaded(point->place, change->width) : value;
    case OP_POKE: return poked(change, point, value);
    case OP_SKIP: return point->is_call ? (uintptr_t)nothing : change->value;
    case OP_VARIABLE: return loaded(point->frame[change->address], change->width);
    case OP_MEMBER: return point->place ? loaded((char *)point->place + change->value, change->width) : value;
    case OP_EXCHANGE: return exchanged(change, point, value);
    default: return point->is_computed ? computed_again(change, point->left, point->right) : value;
    }
}

/* A call that is skipped has its result, the next site, from the same change; an exchanged operator both operands. */
static int is_at(const struct whence_change *change, uint32_t site)
{
    if (change->op == OP_EXCHANGE && change->address == site)
        return 1;
    return change->site == site || (change->op == OP_SKIP && change->width && change->site + 1 == site);
}

int whence_is_at(const struct whence_change *change, const struct whence_point *point)
{
    if (!is_at(change, point->site))
        return 0;
    return change->clock == WHENCE_EVERY || (change->clock + 1 == point->clock && !whence_state.is_forked);
}

static int is_made(const struct whence_change *change, const struct whence_point *point)
{
    if (!whence_is_at(change, point))
        return 0;
    if (!whence_state.reached++ && whence_state.more) {
        whence_state.budget = point->clock + whence_state.more;
        set_next();
    }
    if (whence_state.whole)
        whence_state.whole->spare = 1;
    return !(change->flags & CHANGE_GUARDED) || change->guard == point->value;
}

uint64_t whence_altered(const struct whence_point *point)
{
    uint64_t value = point->value;
    for (uint64_t i = 0; i < whence_state.count; i++) {
        const struct whence_change *change = &whence_state.changes[i];
        if (!is_made(change, point))
            continue;
        whence_state.applied += change->site == point->site; /* not again at the result of a call that was skipped */
        if (whence_state.whole)
            whence_state.whole->applied = whence_state.applied;
        value = changed(change, point, value);
        if ((change->flags & CHANGE_MEMORY) && point->place)
            stored(point->place, value, change->width);
    }
    return value;
}
