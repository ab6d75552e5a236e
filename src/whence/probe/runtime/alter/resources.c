/* Files and memory of a program in a session. A continuation may read files and ask for memory, which is taken back at
   its end; the unaltered run may do what it likes. */
#define _GNU_SOURCE
#include "alter/mappings.h"
#include "alter/session.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- Taking back ---------------------------------------------------------------------------------------------- */

static struct whence_undo *find_undo(enum whence_undo_kind kind, long a)
{
    struct whence_undo_log *log = whence_control->undo;
    for (unsigned i = 0; i < log->count; i++) {
        if (log->entries[i].kind == kind && log->entries[i].a == a)
            return &log->entries[i];
    }
    return NULL;
}

enum whence_owner whence_owner_of(long fd)
{
    struct whence_undo *own = whence_in_continuation() ? find_undo(UNDO_OPENED, fd) : NULL;
    return own ? (enum whence_owner)own->b : OWNER_RUN;
}

/* What is full in a snapshot goes on in a child, which keeps offsets only. */
static void note_undo(enum whence_undo_kind kind, long a, long b, long number)
{
    struct whence_undo_log *log = whence_control->undo;
    if (!whence_in_continuation() || (whence_control->is_child && kind == UNDO_MAPPED))
        return;
    if (log->count == UNDO_MAX)
        whence_change_way(number);
    log->entries[log->count++] = (struct whence_undo){kind, a, b};
}

/* A system call instruction, by its end. */
void whence_found_call(char *after)
{
    struct whence_undo_log *log = whence_control->undo;
    if (!whence_control->is_child)
        whence_shorten(after);
    else if (log->count < UNDO_MAX / 2)
        log->entries[log->count++] = (struct whence_undo){FOUND_CALL, (long)after, 0};
}

static void forget_undo(struct whence_undo *entry)
{
    *entry = whence_control->undo->entries[--whence_control->undo->count];
}

static void take_back_break(void)
{
    if (whence_control->has_moved_break)
        whence_call(SYS_brk, (long)whence_control->heap_end, 0, 0, 0, 0, 0);
    whence_control->has_moved_break = 0;
}

/* A forked child's descriptors and mappings have ended with it, but offsets are shared with it. */
void whence_take_back(int was_here)
{
    struct whence_undo_log *log = whence_control->undo;
    whence_put_back();
    while (log->count) {
        struct whence_undo entry = log->entries[--log->count];
        if (entry.kind == UNDO_OFFSET)
            whence_call(SYS_lseek, entry.a, entry.b, SEEK_SET, 0, 0, 0);
        else if (entry.kind == UNDO_OPENED && was_here)
            whence_call(SYS_close, entry.a, 0, 0, 0, 0, 0);
        else if (entry.kind == UNDO_MAPPED && was_here)
            whence_call(SYS_munmap, entry.a, entry.b, 0, 0, 0, 0);
        else if (entry.kind == FOUND_CALL)
            whence_shorten((char *)entry.a);
    }
    if (was_here)
        take_back_break();
}

/* ---- Files ---------------------------------------------------------------------------------------------------- */

/* What reading moves is taken back at the end; a descriptor of the continuation's own needs no care. */
void whence_keep_offset(long fd)
{
    if (!whence_in_continuation() || find_undo(UNDO_OPENED, fd) || find_undo(UNDO_OFFSET, fd))
        return;
    long offset = whence_call(SYS_lseek, fd, 0, SEEK_CUR, 0, 0, 0);
    if (offset == -EBADF)
        return;
    if (offset < 0)
        whence_refuse(SYS_lseek); /* a pipe, a device: what is read from it is gone */
    note_undo(UNDO_OFFSET, fd, offset, SYS_lseek);
}

/* The kernel's own reading of `parts` needs pages that it may write to. */
static long read_parts(const struct whence_call *call)
{
    struct { void *base; size_t length; } part;
    for (long i = 0; i < call->c; i++) {
        if (whence_copy(&part, (const char *)call->b + i * (long)sizeof part, sizeof part) > 0)
            whence_snapshot_touch((uintptr_t)part.base, part.length);
    }
    return whence_pass(call);
}

long whence_read_file(const struct whence_call *call)
{
    if (call->number != SYS_pread64)
        whence_keep_offset(call->a);
    if (call->number == SYS_readv)
        return read_parts(call);
    return call->number == SYS_lseek ? whence_pass(call) : whence_pass_writing(call, call->b, (size_t)call->c);
}

static int is_mappings(const struct whence_call *call)
{
    char start[sizeof "/proc/self/maps"];
    const char *path = (const char *)(call->number == SYS_openat ? call->b : call->a);
    return whence_copy(start, path, 1) > 0 && *start == '/' && whence_copy(start, path, sizeof start) > 0 &&
           !memchr(start, 0, sizeof start - 1) && !start[sizeof start - 1] && whence_is_mappings(start);
}

static long note_opened(const struct whence_call *call, long fd)
{
    if (fd >= 0)
        note_undo(UNDO_OPENED, fd, OWNER_CONTINUATION, call->number);
    return fd;
}

long whence_open_file(const struct whence_call *call)
{
    long flags = call->number == SYS_openat ? call->c : call->b;
    if (whence_streams.is_any_closed)
        whence_change_way(call->number); /* it would get the number of what is closed */
    if (flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC))
        return note_opened(call, whence_pass_unless_altered(call));
    long fd = is_mappings(call) ? whence_open_mappings((uintptr_t)STACK_START) : whence_pass(call);
    return note_opened(call, fd);
}

long whence_close_file(const struct whence_call *call)
{
    struct whence_undo *own = whence_in_continuation() ? find_undo(UNDO_OPENED, call->a) : NULL;
    if (own)
        forget_undo(own);
    if (!whence_in_snapshot() || own)
        return whence_pass(call);
    if (call->a < 0 || call->a >= CLOSABLE)
        whence_change_way(call->number);
    if (whence_call(SYS_fcntl, call->a, F_GETFD, 0, 0, 0, 0) < 0)
        return -EBADF;
    whence_mark_closed(call->a);
    return 0;
}

/* Both numbers have one offset, and one file, which may be written by the new one. */
long whence_copy_descriptor(const struct whence_call *call)
{
    enum whence_owner owner = whence_owner_of(call->a);
    if (!whence_in_continuation() || whence_streams.is_any_closed)
        return whence_pass_unless_altered(call);
    whence_keep_offset(call->a);
    long fd = whence_pass(call);
    if (owner == OWNER_RUN)
        owner = whence_control->is_child && whence_keep_open(call->a) ? OWNER_CONTINUATION : OWNER_BOTH;
    if (fd >= 0)
        note_undo(UNDO_OPENED, fd, owner, call->number);
    return fd;
}

long whence_control_file(const struct whence_call *call)
{
    int is_own = whence_owner_of(call->a) != OWNER_RUN;
    if (call->b == F_DUPFD || call->b == F_DUPFD_CLOEXEC)
        return whence_copy_descriptor(call);
    if (call->b == F_GETFD || call->b == F_GETFL || (call->b == F_SETFD && is_own))
        return whence_pass(call);
    return whence_pass_unless_altered(call);
}

/* ---- Memory --------------------------------------------------------------------------------------------------- */

long whence_move_break(const struct whence_call *call)
{
    if (whence_in_snapshot() && call->a && (uintptr_t)call->a < whence_control->heap_end)
        whence_change_way(call->number);
    whence_control->has_moved_break |= whence_in_snapshot() && call->a;
    if (!whence_in_continuation())
        whence_snapshot_layout_changed();
    return whence_pass(call);
}

/* What is shared with others, or with a file, cannot be taken back. */
long whence_map_memory(const struct whence_call *call)
{
    int is_shared = !(call->d & MAP_PRIVATE) && (call->c & PROT_WRITE);
    if (!(call->d & MAP_ANONYMOUS) && whence_is_closed(call->e))
        return -EBADF;
    if (is_shared)
        whence_refuse(call->number);
    if (whence_in_snapshot() && (call->d & MAP_FIXED))
        whence_change_way(call->number);
    if (!whence_in_continuation())
        whence_snapshot_layout_changed();
    long got = whence_pass(call);
    if (got >= 0 || got < -4095)
        note_undo(UNDO_MAPPED, got, call->b, call->number);
    return got;
}

long whence_unmap_memory(const struct whence_call *call)
{
    struct whence_undo *own = whence_in_snapshot() ? find_undo(UNDO_MAPPED, call->a) : NULL;
    if (whence_in_snapshot() && (!own || own->b != call->b))
        whence_change_way(call->number);
    if (!whence_in_continuation())
        whence_snapshot_layout_changed();
    if (own)
        forget_undo(own);
    return whence_pass(call);
}

long whence_change_mappings(const struct whence_call *call)
{
    if (call->number == SYS_madvise && call->c != MADV_DONTNEED && call->c != MADV_FREE)
        return 0;
    if (whence_in_snapshot())
        whence_change_way(call->number);
    if (!whence_in_continuation())
        whence_snapshot_layout_changed();
    return whence_pass(call);
}
