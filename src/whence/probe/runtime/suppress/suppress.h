/* Suppressed runs: which bytes of the subject's memory are suppressed, and which instances are the first to be. Every byte
   has a shadow byte (nonzero: suppressed) at its address with some bits turned, where instrumented code (probe/suppress.py)
   finds it without asking. */
#ifndef WHENCE_SUPPRESS_H
#define WHENCE_SUPPRESS_H

#include <stddef.h>
#include <stdint.h>

/* Opens the file of points that `text` names. Returns the bytes of address space that a suppressed run takes beside the
   subject's own; 0 where `text` names no such file, or, with errno set, where it cannot be opened. */
size_t whence_suppression_open(const char *text);

/* What a library call did, as the words of its effect record: the bytes that it wrote are suppressed where it read some
   that are, and so is its result. */
void whence_suppression_effect(const uint32_t *units, size_t count);

#endif
