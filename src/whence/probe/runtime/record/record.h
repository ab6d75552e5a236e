/* What the parts of the runtime share. See docs/architecture.md for the trace file and the effect records. */
#ifndef WHENCE_RECORD_H
#define WHENCE_RECORD_H

#include <stddef.h>
#include <stdint.h>

/* Opcodes of the operations in an effect record. */
enum whence_operation {
    WHENCE_READ = 1,
    WHENCE_WRITE,
    WHENCE_COPY,
    WHENCE_ALLOC,
    WHENCE_FREE,
    WHENCE_OUT,
    WHENCE_PIECE,
    WHENCE_IN,
    WHENCE_STATE,
    WHENCE_RESIZE,
    WHENCE_STACK
};

/* An effect record is collected between begin and end and appended to the trace at end. `function` is the library
   function's number in probe/library.py. Nothing here changes errno. */
void whence_effect_begin(uint32_t function);
void whence_effect(enum whence_operation operation, unsigned a, int operands, uint64_t x, uint64_t y, uint64_t z);
void whence_effect_end(void);
/* Whether a record is being collected, by what the caller came amid. */
int whence_is_collecting(void);

/* Whether this process records a trace (wrappers skip costly work where it does not). */
int whence_recording(void);

/* Lets threads take turns as the schedule in a file says, recorded or not; 0, or -1 where it cannot be used. */
int whence_schedule_start(const char *path);

/* What the fork server asks of the recorder, in the child, before the subject's main runs. `path` names the trace
   file to make, `limit` its size in bytes, `keep` what is kept of a longer run. Returns 0, or -1 with errno set. */
enum whence_keep { WHENCE_KEEP_FIRST, WHENCE_KEEP_LAST, WHENCE_END_AT_LIMIT /* the first, and the run ends there */ };
int whence_record_start(const char *path, uint64_t limit, enum whence_keep keep);
/* The same for one of several processes, whose traces go into one folder (its path ends with a slash), and for those that
   it forks. */
int whence_record_in_folder(const char *folder, uint64_t limit, enum whence_keep keep);

#endif
