/* What operations of the subject give, computed again from bits, and the arithmetic of changes. */
#include "alter/changes.h"

#include <math.h>
#include <string.h>

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

uint64_t whence_sum(enum whence_form form, uint64_t value, uint64_t addend, unsigned width)
{
    if (form == FORM_FLOAT)
        return bits_of(real(value, width) + real(addend, 64), width);
    return narrowed(value + addend, width);
}

uint64_t whence_negated(enum whence_form form, uint64_t value, unsigned width)
{
    if (form == FORM_FLOAT)
        return bits_of(-real(value, width), width);
    return narrowed(-value, width);
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

uint64_t whence_computed(unsigned operation, uint64_t a, uint64_t b, unsigned width)
{
    if (operation < FADD)
        return narrowed(arithmetic(operation, a, b, width), width);
    if (operation < EQ)
        return bits_of(real_arithmetic(operation, real(a, width), real(b, width)), width);
    if (operation < OEQ)
        return comparison(operation, a, b, width);
    return real_comparison(operation, real(a, width), real(b, width));
}
