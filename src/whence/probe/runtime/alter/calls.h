/* The layer of the subject's system calls: each comes here, and is passed on so that it can be taken back, answered from memory,
   or refused. It stands on runs (control.h) and snapshots. */
#ifndef WHENCE_CALLS_H
#define WHENCE_CALLS_H

#include "alter/control.h"

#include <signal.h>
#include <sys/stat.h>

struct whence_call {
    long number, a, b, c, d, e, f;
};

/* ---- calls.c: offered to sessions ------------------------------------------------------------------------------- */

int whence_calls_start(void); /* from now on every system call of the subject comes here; 0 or -1 */

/* ---- pass.c ----------------------------------------------------------------------------------------------------- */

long whence_pass(const struct whence_call *call);
/* The kernel answers with EFAULT where it would have to write to a protected page: makes these ones writable. */
long whence_pass_writing(const struct whence_call *call, long target, size_t length);
void whence_touch(uintptr_t address, size_t length);
/* A write to a tracked page: lets it pass and returns 1; 0: a real fault. */
int whence_let_write(uintptr_t address);
/* Copies between the subject and the session; a bad pointer of the subject gives -EFAULT, else the length. */
long whence_copy(void *target, const void *source, size_t length);
void whence_bad_pointer(void);

/* ---- shortcuts.c ------------------------------------------------------------------------------------------------ */

/* Makes the system call instruction that ends at `after` jump to whence_control->enter_call. */
void whence_shorten(char *after);
int whence_is_shortcut(uintptr_t start);

/* ---- undo.c ----------------------------------------------------------------------------------------------------- */

enum { UNDO_MAX = 512, KEPT_MAX = 32 };

/* One thing to take back after a continuation: what it did to the process. And a system call instruction that a forked
   child came to, which its parent can shorten for all that follow. */
enum whence_undo_kind { UNDO_OFFSET = 1, UNDO_OPENED, UNDO_MAPPED, FOUND_CALL };
struct whence_undo {
    enum whence_undo_kind kind;
    long a, b;
};

/* A file that was put aside before a continuation changed it (backups.c). */
struct whence_kept {
    char path[KEPT_PATH + 1];
    long fd; /* that it is open at, or -1 */
    int is_absent;
    struct stat about;
};

/* Shared with forked children, since they share the descriptors' offsets, and files, with their parent. */
struct whence_undo_log {
    unsigned count, kept_count;
    struct whence_undo entries[UNDO_MAX];
    struct whence_kept kept[KEPT_MAX];
};

/* Takes back what a continuation did to descriptors, and, where it was in this process, to mappings. */
void whence_take_back(int was_here);
struct whence_undo *whence_find_undo(enum whence_undo_kind kind, long a);
void whence_note_undo(enum whence_undo_kind kind, long a, long b, long number);
void whence_forget_undo(struct whence_undo *entry);
/* Who has opened a descriptor: the unaltered run, the continuation, or the latter as another number of one of the former. */
enum whence_owner { OWNER_RUN, OWNER_CONTINUATION, OWNER_BOTH };
enum whence_owner whence_owner_of(long fd);
/* What reading moves is taken back at the end; a descriptor of the continuation's own needs no care. */
void whence_keep_offset(long fd);
/* A system call instruction, by its end. */
void whence_found_call(char *after);

/* ---- backups.c ----------------------------------------------------------------------------------------------- */

/* Puts aside what the unaltered run has open; 0 where that is not possible. */
int whence_keep_open(long fd);
/* For the unaltered run, and for a continuation in a process of its own as far as files can be put aside. */
long whence_pass_unless_altered(const struct whence_call *call);
/* The files are again as they were before the continuation. */
void whence_put_back(void);

/* ---- signals.c -------------------------------------------------------------------------------------------------- */

int whence_signals_start(void (*on_call)(int, siginfo_t *, void *));
void whence_unblock_signals(void);
long whence_set_action(const struct whence_call *call);
long whence_set_mask(const struct whence_call *call);
long whence_set_stack(const struct whence_call *call);
long whence_set_timer(const struct whence_call *call);
long whence_pass_time(const struct whence_call *call);
long whence_send_signal(const struct whence_call *call);
/* Signal `number` comes to the subject by the kernel's doing. Does not return where it ends the run. */
void whence_meet_signal(int number);

/* ---- streams.c -------------------------------------------------------------------------------------------------- */

int whence_is_closed(long descriptor);
void whence_mark_closed(long descriptor);
void whence_streams_start(void);
long whence_on_stream(const struct whence_call *call);
/* A file that the program has opened may be that of a standard stream, as by the name /dev/stdout: then it writes to the
   stream. 0 where that cannot be followed, as both write to it. */
int whence_note_second(long fd);
int whence_is_second(long fd);
void whence_forget_second(long fd);
/* A write to it, or a question for its position. */
long whence_on_second(const struct whence_call *call);

/* ---- files.c ---------------------------------------------------------------------------------------------------- */

long whence_copy_descriptor(const struct whence_call *call);
long whence_read_file(const struct whence_call *call);
long whence_open_file(const struct whence_call *call);
long whence_open_socket(const struct whence_call *call);
int whence_is_to_nobody(const struct whence_call *call);
long whence_close_file(const struct whence_call *call);
long whence_control_file(const struct whence_call *call);

/* ---- memory.c --------------------------------------------------------------------------------------------------- */

long whence_move_break(const struct whence_call *call);
long whence_map_memory(const struct whence_call *call);
long whence_unmap_memory(const struct whence_call *call);
long whence_change_mappings(const struct whence_call *call);

#endif
