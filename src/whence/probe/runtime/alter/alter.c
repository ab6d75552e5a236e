/* The changes of a continuation: where the hooks of the alter variant stop, and what they answer.

   A hook of an armed block asks here with the block's clock (from 1) and its site. Blocks are armed one by one, for
   changes at every instance, or by the clock at which the run is to stop. */
#include "alter/alter.h"

#include <math.h>
#include <string.h>

WHENCE_HOT uint64_t __whence_clock = 0;
WHENCE_HOT uint64_t __whence_stop = UINT64_MAX;
WHENCE_HOT struct whence_state whence_state = {0};

/* ---- Where to stop -------------------------------------------------------------------------------------------- */

/* The next clock, from 1, at which a change of the continuation is made, or at which its budget is used up. */
static uint64_t next_stop(void)
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
        if (changes[i].clock == WHENCE_EVERY)
            __whence_armed[changes[i].block] = 1;
    }
    __whence_stop = next_stop();
}

void whence_begin_observing(uint64_t ticks)
{
    whence_state.doing = DOING_OBSERVE;
    whence_state.budget = ticks;
    __whence_stop = 0;
}

/* ---- What a change makes of a value --------------------------------------------------------------------------- */

static uint64_t narrowed(uint64_t bits, unsigned width)
{
    return width < 64 ? bits & ((UINT64_C(1) << width) - 1) : bits;
}

static int64_t widened(uint64_t bits, unsigned width)
{
    return width < 64 ? (int64_t)(bits << (64 - width)) >> (64 - width) : (int64_t)bits;
}

static double real(uint64_t bits, unsigned width)
{
    double wide;
    float narrow;
    uint32_t half = (uint32_t)bits;
    if (width == 32) {
        memcpy(&narrow, &half, sizeof narrow);
        return narrow;
    }
    memcpy(&wide, &bits, sizeof wide);
    return wide;
}

static uint64_t bits_of(double value, unsigned width)
{
    uint64_t bits;
    uint32_t half;
    float narrow = (float)value;
    if (width == 32) {
        memcpy(&half, &narrow, sizeof half);
        return half;
    }
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t sum(const struct whence_change *change, uint64_t value)
{
    if (change->form == FORM_FLOAT)
        return bits_of(real(value, change->width) + real(change->value, 64), change->width);
    return narrowed(value + change->value, change->width);
}

static uint64_t negated(const struct whence_change *change, uint64_t value)
{
    if (change->form == FORM_FLOAT)
        return bits_of(-real(value, change->width), change->width);
    return narrowed(-value, change->width);
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

/* ---- Operators, numbered as in probe/sites.py (Operation) ------------------------------------------------------ */

enum { ADD = 1, SUB, MUL, SDIV, UDIV, SREM, UREM, SHL, LSHR, ASHR, AND, OR, XOR };
enum { FADD = 21, FSUB, FMUL, FDIV, FREM };
enum { EQ = 31, NE, SLT, SLE, SGT, SGE, ULT, ULE, UGT, UGE };
enum { OEQ = 51, UNE, OLT, OLE, OGT, OGE, UEQ, ONE, FULT, FULE, FUGT, FUGE, ORD, UNO };

/* Division by zero and of the least number by -1 trap, as they do in the subject. */
static uint64_t arithmetic(unsigned operation, uint64_t a, uint64_t b, unsigned width)
{
    int64_t x = widened(a, width), y = widened(b, width);
    volatile int64_t divisor = y;
    volatile uint64_t unsigned_divisor = b;
    volatile int32_t narrow = (int32_t)y;
    unsigned shift = (unsigned)(b & (width - 1));
    switch (operation) {
    case ADD: return a + b;
    case SUB: return a - b;
    case MUL: return a * b;
    case SDIV: return width == 32 ? (uint64_t)((int32_t)x / narrow) : (uint64_t)(x / divisor);
    case UDIV: return a / unsigned_divisor;
    case SREM: return width == 32 ? (uint64_t)((int32_t)x % narrow) : (uint64_t)(x % divisor);
    case UREM: return a % unsigned_divisor;
    case SHL: return a << shift;
    case LSHR: return a >> shift;
    case ASHR: return (uint64_t)(x >> shift);
    case AND: return a & b;
    case OR: return a | b;
    case XOR: return a ^ b;
    default: return a;
    }
}

static double real_arithmetic(unsigned operation, double a, double b)
{
    switch (operation) {
    case FADD: return a + b;
    case FSUB: return a - b;
    case FMUL: return a * b;
    case FDIV: return a / b;
    case FREM: return fmod(a, b);
    default: return a;
    }
}

static uint64_t comparison(unsigned operation, uint64_t a, uint64_t b, unsigned width)
{
    int64_t x = widened(a, width), y = widened(b, width);
    switch (operation) {
    case EQ: return a == b;
    case NE: return a != b;
    case SLT: return x < y;
    case SLE: return x <= y;
    case SGT: return x > y;
    case SGE: return x >= y;
    case ULT: return a < b;
    case ULE: return a <= b;
    case UGT: return a > b;
    case UGE: return a >= b;
    default: return 0;
    }
}

static uint64_t real_comparison(unsigned operation, double a, double b)
{
    int unordered = isnan(a) || isnan(b);
    switch (operation) {
    case OEQ: return a == b;
    case UNE: return a != b;
    case OLT: return a < b;
    case OLE: return a <= b;
    case OGT: return a > b;
    case OGE: return a >= b;
    case UEQ: return unordered || a == b;
    case ONE: return !unordered && a != b;
    case FULT: return unordered || a < b;
    case FULE: return unordered || a <= b;
    case FUGT: return unordered || a > b;
    case FUGE: return unordered || a >= b;
    case ORD: return !unordered;
    case UNO: return (uint64_t)unordered;
    default: return 0;
    }
}

/* `width` and `form` of the change are those of the operands. */
static uint64_t computed(const struct whence_change *change, uint64_t a, uint64_t b)
{
    unsigned operation = change->operation, width = change->width;
    if (operation < FADD)
        return narrowed(arithmetic(operation, a, b, width), width);
    if (operation < EQ)
        return bits_of(real_arithmetic(operation, real(a, width), real(b, width)), width);
    if (operation < OEQ)
        return comparison(operation, a, b, width);
    return real_comparison(operation, real(a, width), real(b, width));
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
    return computed(change, a, b);
}

/* What is called in the place of a function that is skipped. */
static void nothing(void) {}

/* ---- Making changes ------------------------------------------------------------------------------------------- */

static uint64_t changed(const struct whence_change *change, const struct whence_point *point, uint64_t value)
{
    switch (change->op) {
    case OP_SET: return change->value;
    case OP_ADD: return sum(change, value);
    case OP_NEGATE: return negated(change, value);
    case OP_NOT: return value == 0;
    case OP_KEEP: return point->place ? loaded(point->place, change->width) : value;
    case OP_POKE: memcpy((void *)change->address, &change->value, change->size); return value;
    case OP_SKIP: return point->is_call ? (uintptr_t)nothing : change->value;
    case OP_VARIABLE: return loaded(point->frame[change->address], change->width);
    default: return point->is_computed ? computed_again(change, point->left, point->right) : value;
    }
}

/* A call that is skipped has its result, the next site, from the same change. */
static int is_at(const struct whence_change *change, uint32_t site)
{
    return change->site == site || (change->op == OP_SKIP && change->width && change->site + 1 == site);
}

static int is_made(const struct whence_change *change, const struct whence_point *point)
{
    if (!is_at(change, point->site))
        return 0;
    if (change->clock != WHENCE_EVERY && (change->clock + 1 != point->clock || whence_state.is_forked))
        return 0;
    if (!whence_state.reached++ && whence_state.more) {
        whence_state.budget = point->clock + whence_state.more;
        __whence_stop = next_stop();
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

/* ---- What hooks ask; context.c calls these on the hooks' stack ------------------------------------------------- */

static uint64_t answer(const struct whence_point *point)
{
    if (whence_state.doing == DOING_CONTINUATION)
        return whence_altered(point);
    return whence_state.doing == DOING_NOTHING ? point->value : whence_visit(point);
}

__attribute__((used)) uint64_t whence_alter_here(uint64_t clock, uint32_t site, uint64_t value, void *place, void **frame)
{
    struct whence_point point = {.clock = clock, .site = site, .value = value, .place = place, .frame = frame};
    return answer(&point);
}

__attribute__((used)) uint64_t whence_compute_here(uint64_t clock, uint32_t site, uint64_t value, uint64_t left,
                                                   uint64_t right, void **frame)
{
    struct whence_point point = {
        .clock = clock, .site = site, .value = value, .left = left, .right = right, .frame = frame, .is_computed = 1};
    return answer(&point);
}

__attribute__((used)) uint64_t whence_callee_here(uint64_t clock, uint32_t site, void *function, void **frame)
{
    struct whence_point point = {
        .clock = clock, .site = site, .value = (uintptr_t)function, .frame = frame, .is_call = 1};
    return answer(&point);
}

/* Whether the hooks of the block that starts now are to ask: its clock, or 0. */
__attribute__((used)) uint64_t whence_stop_here(uint64_t clock, uint32_t block)
{
    if (whence_state.budget && clock > whence_state.budget)
        whence_out_of_budget();
    if (whence_state.doing == DOING_CONTINUATION) {
        int is_stop = clock == __whence_stop;
        if (is_stop)
            __whence_stop = next_stop();
        return is_stop || __whence_armed[block] ? clock : 0;
    }
    if (whence_state.doing == DOING_SEARCH && clock >= __whence_stop) {
        __whence_stop = whence_next_stop(clock);
        if (__whence_stop <= clock)
            whence_out_of_budget();
    }
    return clock;
}
