/* What all parts of the runtime stand on. */
#ifndef WHENCE_BASE_H
#define WHENCE_BASE_H

#include <stdint.h>

/* Exit status of a program that could not be started as it was asked to. */
enum { WHENCE_START_FAILED = 125 };

/* ---- clock.c ---- */

/* The monotonic clock, in microseconds. */
int64_t whence_now_us(void);

/* ---- fill.c: what fresh memory holds ---- */

/* Takes over what MALLOC_PERTURB_ asks for: a byte with which the C library, and whence_fill_stack, fill fresh memory. */
void whence_take_pattern(void);
/* Fills what lies below the stack pointer with what fresh memory is to hold, 0 by default. */
void whence_fill_stack(void);

#endif
