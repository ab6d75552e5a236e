/* What a continuation does to the process, and how that is taken back at its end: descriptors, their offsets, mappings. */
#include "alter/calls.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

struct whence_undo *whence_find_undo(enum whence_undo_kind kind, long a)
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
    struct whence_undo *own = whence_in_continuation() ? whence_find_undo(UNDO_OPENED, fd) : NULL;
    return own ? (enum whence_owner)own->b : OWNER_RUN;
}

/* What is full in a snapshot goes on in a child, which keeps offsets only. */
void whence_note_undo(enum whence_undo_kind kind, long a, long b, long number)
{
    struct whence_undo_log *log = whence_control->undo;
    if (!whence_in_continuation() || (whence_control->is_child && kind == UNDO_MAPPED))
        return;
    if (log->count == UNDO_MAX)
        whence_change_way(number);
    log->entries[log->count++] = (struct whence_undo){kind, a, b};
}

void whence_found_call(char *after)
{
    struct whence_undo_log *log = whence_control->undo;
    if (!whence_control->is_child)
        whence_shorten(after);
    else if (log->count < UNDO_MAX / 2)
        log->entries[log->count++] = (struct whence_undo){FOUND_CALL, (long)after, 0};
}

void whence_forget_undo(struct whence_undo *entry)
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

void whence_keep_offset(long fd)
{
    if (!whence_in_continuation() || whence_find_undo(UNDO_OPENED, fd) || whence_find_undo(UNDO_OFFSET, fd))
        return;
    long offset = whence_call(SYS_lseek, fd, 0, SEEK_CUR, 0, 0, 0);
    if (offset == -EBADF)
        return;
    if (offset < 0)
        whence_refuse(SYS_lseek); /* a pipe, a device: what is read from it is gone */
    whence_note_undo(UNDO_OFFSET, fd, offset, SYS_lseek);
}
