/* The bottom layer: system calls, memory and time. It stands on the kernel and the C library alone. */
#ifndef WHENCE_BASE_H
#define WHENCE_BASE_H

#include <stddef.h>
#include <stdint.h>

/* Exit status of a program that could not be started as it was asked to. */
enum { WHENCE_START_FAILED = 125 };

/* The state of the runtime that is part of the subject's lies together, so that it takes one hot page. */
#if defined(__x86_64__)
#define WHENCE_HOT __attribute__((section(".ldata.whence_hot"), model("small")))
#else
#define WHENCE_HOT __attribute__((section(".ldata.whence_hot")))
#endif

/* ---- system_call.c: system calls that are not intercepted ------------------------------------------------------- */

/* A system call from the one place that is not intercepted; gives the kernel's answer (-errno). */
long whence_call(long number, long a, long b, long c, long d, long e, long f);
/* From now on all other system calls of this process raise SIGSYS; 0 or -errno. */
int whence_intercept_calls(void);
/* The end of a signal's handler, as the kernel wants it. */
void whence_restorer(void);
void whence_exit_now(int status) __attribute__((noreturn));

/* ---- places.c: the runtime's own memory ------------------------------------------------------------------------- */

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

enum { STACK_BYTES = 8 << 20 };

/* Where the layers above keep what is theirs: in a page that nobody can write to once it is closed, since a program that
   writes past an array may well come to the runtime's variables. */
union whence_places {
    struct {
        struct whence_control *control; /* alter/control.h */
        struct whence_memory *shot;     /* alter/snapshot.c */
    };
    char page[4096];
};
extern union whence_places whence_places;
/* Fresh memory, or a file, at a place; null where it is taken. */
void *whence_map_at(void *place, size_t size, int sharing, int fd);
/* From now on the places stay as they are; 0, or -1 with errno set. */
int whence_close_places(void);

/* ---- mapping.c: lines of /proc/self/maps ------------------------------------------------------------------------ */

/* "start-end rwxp rest", with its line feed, behind which `stop` is. */
struct whence_mapping {
    uintptr_t start, end;
    const char *rights, *rest, *stop;
};
/* The next whole line before `end`, and `at` behind it; 0 where there is none. */
int whence_next_mapping(const char **at, const char *end, struct whence_mapping *line);

/* ---- clock.c ---------------------------------------------------------------------------------------------------- */

/* The monotonic clock, in microseconds. */
int64_t whence_now_us(void);
/* Whether what has gone beyond its time limit had too little of a processor, since the machine does other things: it
   computes, but got less than three quarters of the limit, and not ten times the limit has `passed`. In one unit. */
int whence_was_kept_waiting(int64_t passed, int64_t computed, int64_t limit);

/* ---- fill.c: what fresh memory holds ---------------------------------------------------------------------------- */

/* Takes over what MALLOC_PERTURB_ asks for: a byte with which the C library, and whence_fill_stack, fill fresh memory. */
void whence_take_pattern(void);
/* Fills what lies below the stack pointer with what fresh memory is to hold, 0 by default. */
void whence_fill_stack(void);

#endif
