/* Memory that a program in a session asks for. A continuation may have more, which is taken back at its end; the unaltered run
   may do what it likes. How much more has a limit: what an altered number asks for, and fills, would take all the time. */
#define _GNU_SOURCE
#include "alter/calls.h"
#include "alter/snapshot.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>

static int is_too_much(uint64_t bytes)
{
    uint64_t limit = whence_control->file->memory, left = limit - whence_control->more_memory;
    return whence_in_continuation() && limit && bytes > left;
}

static void count(uint64_t more, uint64_t less)
{
    if (whence_in_continuation()) {
        whence_control->more_memory += more;
        whence_control->more_memory -= less < whence_control->more_memory ? less : whence_control->more_memory;
    }
}

/* As the kernel does where a limit is met: the break stays where it is. */
static long moved(const struct whence_call *call)
{
    uint64_t before = (uint64_t)whence_call(SYS_brk, 0, 0, 0, 0, 0, 0), wanted = (uint64_t)call->a;
    if (wanted > before && is_too_much(wanted - before))
        return (long)before;
    uint64_t after = (uint64_t)whence_pass(call);
    count(after > before ? after - before : 0, after < before ? before - after : 0);
    return (long)after;
}

long whence_move_break(const struct whence_call *call)
{
    if (whence_in_snapshot() && call->a && (uintptr_t)call->a < whence_control->heap_end)
        whence_change_way(call->number);
    whence_control->has_moved_break |= whence_in_snapshot() && call->a;
    if (!whence_in_continuation())
        whence_snapshot_layout_changed();
    return moved(call);
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
    if (is_too_much((uint64_t)call->b))
        return -ENOMEM;
    long got = whence_pass(call);
    if (got >= 0 || got < -4095) {
        count((uint64_t)call->b, 0);
        whence_note_undo(UNDO_MAPPED, got, call->b, call->number);
    }
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
    count(0, (uint64_t)call->b);
    return whence_pass(call);
}

long whence_change_mappings(const struct whence_call *call)
{
    uint64_t before = (uint64_t)call->b, after = (uint64_t)call->c;
    int grows = call->number == SYS_mremap && after > before;
    if (call->number == SYS_madvise && call->c != MADV_DONTNEED && call->c != MADV_FREE)
        return 0;
    if (whence_in_snapshot())
        whence_change_way(call->number);
    if (!whence_in_continuation())
        whence_snapshot_layout_changed();
    if (grows && is_too_much(after - before))
        return -ENOMEM;
    count(grows ? after - before : 0, 0);
    return whence_pass(call);
}
