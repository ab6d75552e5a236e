/* Suppressed runs: which bytes of the subject's memory are suppressed, and which instances are the first to be. Every byte
   has a shadow byte (nonzero: suppressed) at its address with some bits turned, where instrumented code (probe/suppress.py)
   finds it without asking. */
#ifndef WHENCE_SUPPRESS_H
#define WHENCE_SUPPRESS_H

#include <stddef.h>
#include <stdint.h>

/* Opens the file of points that `text` names; of a command, they are those of one of its processes. Returns the bytes of address
   space that a suppressed run takes beside the subject's own; 0 where `text` names no such file, or, with errno set, where it
   cannot be opened. */
size_t whence_suppression_open(const char *text, int is_command);

/* Whether an argument of the call at hand is suppressed: taken by who is called in place of a function of the program, and given
   on to one. */
uint8_t whence_take_argument(unsigned number);
void whence_give_argument(unsigned number, uint8_t taint);

/* guards.c: the heap laid out anew */

/* From now on blocks have guards, and stay when they are given back; `overwritten` is told the address of the first byte that
   is found written over, and the run then ends by abort. 0, or -1 with errno set. */
int whence_guards_start(uint64_t *overwritten);
/* The bytes to ask for where `length` are asked for. */
size_t whence_guarded(size_t length);
/* A block was taken; `is_fresh`: with undefined contents. */
void whence_guard_block(void *block, size_t length, int is_fresh);
/* The length of a block with a guard; 0 of others. */
size_t whence_guarded_length(const void *block);
/* Whether a block that is given back stays. */
int whence_keep_block(void *block);

/* What a library call did, as the words of its effect record: the bytes that it wrote are suppressed where it read some
   that are, and so is its result. */
void whence_suppression_effect(const uint32_t *units, size_t count);

#endif
