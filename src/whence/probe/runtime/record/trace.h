/* The layer of the trace: its file, the chunks that are written to at the time, and how the run ended. It stands on the kernel
   alone; which thread writes, and whether there are several, it is told by the layer above (schedule.h). */
#ifndef WHENCE_TRACE_H
#define WHENCE_TRACE_H

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#define CHUNK_UNITS 131072ull
#define CHUNK_BYTES (CHUNK_UNITS * 4)
#define HEADER_BYTES 4096
#define WINDOWS 32ull
#define KIND_EFFECT (1u << 30)
#define KIND_THREAD (2u << 30)
#define KIND_START (3u << 30)
#define GIVEN 0xFFFFFFFFu /* the function of effect records that tell what main was given */

/* Where the recorder's own memory lies: between the places of a session (base/places.c), so that the subject's large blocks
   lie in recordings where they do in altered runs. */
#define TRACE_PLACE ((void *)0x790000000000)
#define WINDOWS_PLACE ((void *)0x794000000000)
#define SIGNALS_PLACE ((void *)0x798000000000)

enum { FLAG_LIMIT = 1, FLAG_RING = 2, FLAG_CHILD = 4, FLAG_THREADS = 8, FLAG_FULL = 16, FLAG_FORKED = 32,
       FLAG_COMPACT = 64 };
enum { MAGIC, FORMAT, CHUNKS, LIMIT, FLAGS, END_KIND, END_CODE, END_ADDRESS, END_THREAD, FINGERPRINT, THREADS, USED,
       FAULT_TRAP, FAULT_ERROR, FAULT_TOP, FAULT_BYTES, FAULT_REGISTERS = FAULT_BYTES + 2,
       PROCESS = FAULT_REGISTERS + 17, STACK_LOWEST = PROCESS + 11, STACK_ROOM };
enum { END_EXIT = 1, END_SIGNAL = 2 };

/* The signal that ends a run whose threads all wait for each other (run/protocol.py). */
#define WHENCE_DEADLOCK 62

/* The two variables that instrumented code uses. */
extern __thread uint32_t *__whence_cursor __attribute__((tls_model("initial-exec")));
extern __thread uint32_t *__whence_end __attribute__((tls_model("initial-exec")));

/* Set by the schedule: whether there are several threads, and the calling one's number, which is given again when its thread
   has ended and been joined. */
extern int whence_scheduling;
extern __thread unsigned whence_thread;

/* Which of a command's processes one is, in a suppressed run: those with one command line are numbered, and of a forked one it is
   told which fork of each process led to it. A `depth` beyond the room in `forks` is none that can be told. */
struct whence_process {
    uint64_t line, number, depth, forks[8];
};

/* The file at hand. What is hidden is this layer's own. */
struct whence_trace {
    _Atomic uint64_t *header;    /* the mapped page; null when nothing is recorded */
    char *windows;               /* places for chunks in turn: a handler may fill many while a segment is being written */
    uint32_t *chunk, *chunk_end; /* a zero unit always ends a chunk */
    _Atomic uint64_t sequence;   /* of the next chunk */
    int descriptor;
    int ends_at_limit;
    int is_in_folder; /* the traces of a command's processes: those of forked ones, too */
    struct stat file;
    char path[4096];
};
extern struct whence_trace whence_trace __attribute__((visibility("hidden")));

/* ---- trace.c ---------------------------------------------------------------------------------------------------- */

/* Makes the file at whence_trace.path, of so many bytes, and records into it from now on; 0, or -1 with errno set. */
int whence_trace_start(uint64_t limit, int is_ring);
/* Notes where the arguments and the environment lie, arrays and strings, before main is called. */
void whence_note_given(char **arguments, char **variables);
/* Notes where the frames of main, and of all that it calls, can lie. */
void whence_note_stack(const void *lowest, uint64_t bytes);
/* Opens the file at whence_trace.path; returns the descriptor, or -1. */
int whence_open_trace(int create);
/* Lets signals wait, but for those of faults; `mask` is to be set again. */
void whence_defer_signals(sigset_t *mask);
/* The place of a chunk. */
char *whence_window(uint64_t number);
/* While signals wait: gives back what was claimed at `place`, unless more was claimed since. */
void whence_unclaim(uint64_t units, uint32_t *place);
/* While signals wait: moves the cursor by `units`, in another chunk where this one has no room for them; says whose records follow. */
uint32_t *whence_take_room(uint64_t units);
/* Reserves without giving others a turn: the next block does that. Keeps errno. */
uint32_t *whence_reserve(uint64_t units);
/* Goes on in scratch memory, `units` behind its start, which is returned. */
uint32_t *whence_use_scratch(uint64_t units);
/* Notes that a thread was started by the call at hand, or that `count` numbers are in use. */
void whence_note_start(unsigned thread);
void whence_note_threads(unsigned count);

/* ---- ending.c --------------------------------------------------------------------------------------------------- */

/* From now on what ends the run is noted in the header. */
void whence_note_endings(void);
/* A stack of its own for the handler, since the thread's may have overflown: made, or taken away. */
void whence_signal_stack(int wanted);

/* ---- forks.c ---------------------------------------------------------------------------------------------------- */

/* From now on a forked process goes on in a trace of its own where it can, else in none. */
void whence_follow_forks(void);
/* Notes in the header which process this is: its executable and arguments. */
void whence_note_names(void);
/* Where the header tells which process this is: its command line is, from now on. */
struct whence_process *whence_note_process(void);
/* Notes that this process is the one that came of the fork of that number of its parent. */
void whence_note_fork(uint64_t number);

#endif
