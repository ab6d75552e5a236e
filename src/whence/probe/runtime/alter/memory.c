/* Memory that a program in a session asks for. A continuation may have more, which is taken back at its end; the unaltered run
   may do what it likes. */
#define _GNU_SOURCE
#include "alter/calls.h"
#include "alter/snapshot.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>

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
        whence_note_undo(UNDO_MAPPED, got, call->b, call->number);
    return got;
}

long whence_unmap_memory(const struct whence_call *call)
{
    struct whence_undo *own = whence_in_snapshot() ? whence_find_undo(UNDO_MAPPED, call->a) : NULL;
    if (whence_in_snapshot() && (!own || own->b != call->b))
        whence_change_way(call->number);
    if (!whence_in_continuation())
        whence_snapshot_layout_changed();
    if (own)
        whence_forget_undo(own);
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
