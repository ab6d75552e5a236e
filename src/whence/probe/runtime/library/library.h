/* What the wrappers of library functions share. A wrapper calls the real function and then says in an effect record
   what the call read, wrote and copied (docs/architecture.md, "Effect records"). The functions, their numbers and what
   else is known of them stand in table.h.

   One convention beyond what the page says: a READ right after a PIECE names the bytes that the piece was made from, byte
   for byte the same when the READ is as long as the piece, or one longer (the terminating NUL). */
#ifndef WHENCE_LIBRARY_H
#define WHENCE_LIBRARY_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "record/record.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

enum library_number {
    LIBRARY_NONE,
#define WRAPPED(name, ...) LIBRARY_##name,
#define PURE(name, ...) LIBRARY_##name,
#define SAME(name, target)
#include "library/table.h"
#undef WRAPPED
#undef PURE
#undef SAME
};

/* Defines the wrapper of a function: LIBRARY(size_t, strlen, const char *text) { ... } */
#define LIBRARY(type, name, ...) \
    type __whence_lib_##name(__VA_ARGS__); \
    type __whence_lib_##name(__VA_ARGS__)

/* A second name for a wrapper, for a function that means the same. */
#define LIBRARY_SAME(name, target) \
    extern __typeof__(__whence_lib_##target) __whence_lib_##name __attribute__((alias("__whence_lib_" #target)))

/* The real function where a header redirects its name, or does not declare it. Where the C library lacks it, a weak
   reference lets the runtime link; its wrapper is then never called, since no program could call the function. Where it
   is there the reference is a strong one, which takes it out of a static library. */
#define REAL(type, name, ...) extern type real_##name(__VA_ARGS__) __asm__(#name)
#define REAL_WEAK(type, name, ...) extern type real_##name(__VA_ARGS__) __asm__(#name) __attribute__((weak))
#ifdef __GLIBC__
#define REAL_GLIBC REAL
#if __GLIBC_PREREQ(2, 38)
#define REAL_C23 REAL /* in glibc since 2.38 */
#define REAL_BSD REAL /* since 2.38, and in musl */
#else
#define REAL_C23 REAL_WEAK
#define REAL_BSD REAL_WEAK
#endif
#else
#define REAL_GLIBC REAL_WEAK
#define REAL_C23 REAL_WEAK
#define REAL_BSD REAL
#endif

/* EFFECTS(strlen) { read_bytes(...); } runs its body once, between begin and end of a record, when this process
   records. Do not leave the body by return or break.
   EFFECTS_ERRNO also records that errno was changed, and keeps it as the real function left it; `before` is its
   value before the call. */
#define EFFECTS(name) for (int open_ = effects_begin(LIBRARY_##name); open_; open_ = effects_end())
#define EFFECTS_ERRNO(name, before) \
    for (int after_ = errno_now(), open_ = effects_begin(LIBRARY_##name); open_; open_ = effects_end_errno(before, after_))

/* errno after a library call. Compilers take malloc for a function that does not touch errno; the barrier says
   otherwise. */
static inline int errno_now(void)
{
    __asm__ volatile("" ::: "memory");
    return errno;
}

static inline int effects_begin(uint32_t function)
{
    if (!whence_recording())
        return 0;
    whence_effect_begin(function);
    return 1;
}

static inline int effects_end(void)
{
    whence_effect_end();
    return 0;
}

/* The operations. A length of 0 records nothing. */

static inline void read_bytes(const void *address, size_t length)
{
    if (length)
        whence_effect(WHENCE_READ, 0, 2, (uintptr_t)address, length, 0);
}

static inline void write_bytes(const void *address, size_t length)
{
    if (length)
        whence_effect(WHENCE_WRITE, 0, 2, (uintptr_t)address, length, 0);
}

static inline void copy_bytes(const void *to, const void *from, size_t length)
{
    if (length)
        whence_effect(WHENCE_COPY, 0, 3, (uintptr_t)to, (uintptr_t)from, length);
}

static inline void allocated(const void *address, size_t length)
{
    if (address)
        whence_effect(WHENCE_ALLOC, 0, 2, (uintptr_t)address, length, 0);
}

static inline void resized(const void *address, size_t length)
{
    whence_effect(WHENCE_RESIZE, 0, 2, (uintptr_t)address, length, 0);
}

static inline void released(const void *address, size_t length)
{
    if (address)
        whence_effect(WHENCE_FREE, 0, 2, (uintptr_t)address, length, 0);
}

static inline void piece(unsigned argument, size_t offset, size_t length)
{
    if (length)
        whence_effect(WHENCE_PIECE, argument, 2, offset, length, 0);
}

enum state_access { STATE_READ = 1, STATE_WRITE = 2, STATE_BOTH = 3 };

/* Keys of hidden state. Streams have the number of their descriptor (0 to 255), files a hash with bit 39 set;
   directories and conversions the address of their object. */
enum state_key {
    RANDOM_STATE = 256,
    TOKEN_STATE,
    OPTION_STATE,
    LOCALE_STATE,
    ENVIRONMENT_STATE,
    SHIFT_STATE,
    FILE_SYSTEM_STATE,
    THREAD_STATE = 4096,     /* and a thread's number: what the thread returned (also in trace/decode.py) */
    SPECIFIC_STATE = 1 << 16 /* a thread's value of a key */
};

static inline void state(enum state_access access, uint64_t key) { whence_effect(WHENCE_STATE, access, 1, key, 0, 0); }

static inline void read_string(const char *text)
{
    if (text)
        read_bytes(text, strlen(text) + 1);
}

static inline int effects_end_errno(int before, int after)
{
    errno = after;
    if (after != before)
        write_bytes(&errno, sizeof errno);
    return effects_end();
}

/* stream.c: positions in streams. Called after the real function, inside EFFECTS_ERRNO. */

enum { UNKNOWN_STREAM = 255 };

void whence_stream_in(FILE *stream, size_t length);         /* the call consumed `length` bytes */
void whence_stream_prepare(FILE *stream);                   /* before a call whose length only the position tells (scanf) */
void whence_stream_in_to_position(FILE *stream);            /* after it: the call consumed what the position tells */
void whence_stream_out(FILE *stream, size_t length);        /* the call put out `length` bytes */
void whence_stream_moved(FILE *stream);                     /* position or flags changed in another way (fseek, end of file) */
void whence_stream_pushed_back(FILE *stream, int character); /* ungetc */
void whence_stream_asked(FILE *stream);                     /* flags or position are the result (feof, ftell) */
void whence_descriptor_in(int descriptor, size_t length);   /* read and its kin */
void whence_descriptor_out(int descriptor, size_t length);  /* write and its kin */
void whence_descriptor_moved(int descriptor);               /* lseek */
void whence_descriptor_opened(int descriptor);              /* open, dup2: another file stands behind the number now */
void whence_standard_streams(void); /* before a call that may put another file behind a standard stream */

/* memory.c: what is known about the size of a block of the heap (0 where nothing is). */
size_t whence_block_size(void *block);
void whence_block_allocated(void *block, size_t length); /* ALLOC, and remembers the largest length */

/* format.c */

/* Where the text of a printf-like call went: to a stream (`buffer` null), or to `buffer`; `length` bytes of it exist. */
struct formatted {
    const char *buffer;
    size_t length;
};

/* Records the format, and the pieces of the text with the strings read. The first variadic argument has the number
   `first`; in functions with a va_list (`listed`) that is the number of the list, and all pieces come from it. */
void whence_format_pieces(const char *format, va_list arguments, unsigned first, int listed, struct formatted text);
/* Records what a scanf-like call with `assigned` as its result wrote through its arguments. */
void whence_scan_writes(const char *format, va_list arguments, int assigned, const char *text); /* NULL: of a stream */
/* Records that a va_list was read. */
#ifdef __x86_64__
#define read_list(list) read_bytes((const void *)(list), sizeof(va_list))
#else
#define read_list(list) ((void)0)
#endif

#endif
