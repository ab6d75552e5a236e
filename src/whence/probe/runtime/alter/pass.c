/* How a system call of the subject is passed on, and how bytes come to the subject and from it. */
#include "alter/calls.h"
#include "alter/snapshot.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

long whence_pass(const struct whence_call *call)
{
    return whence_call(call->number, call->a, call->b, call->c, call->d, call->e, call->f);
}

/* The state is too large to be kept: in the unaltered run nothing has to be. */
static void go_without_snapshot(void)
{
    if (whence_in_continuation())
        whence_change_way(SYS_mprotect);
    whence_snapshot_stop();
}

void whence_touch(uintptr_t address, size_t length)
{
    if (whence_snapshot_touch(address, length) == WRITE_FINDS_NO_ROOM)
        go_without_snapshot();
}

int whence_let_write(uintptr_t address)
{
    enum whence_write found = whence_snapshot_fault(address);
    if (found == WRITE_FINDS_NO_ROOM)
        go_without_snapshot();
    return found != WRITE_FAULTS;
}

long whence_pass_writing(const struct whence_call *call, long target, size_t length)
{
    whence_touch((uintptr_t)target, length);
    return whence_pass(call);
}

long whence_copy(void *target, const void *source, size_t length)
{
    if (__builtin_setjmp(whence_control->bad_pointer))
        return -EFAULT;
    whence_control->is_copying = 1;
    memcpy(target, source, length);
    whence_control->is_copying = 0;
    return (long)length;
}

void whence_bad_pointer(void)
{
    whence_control->is_copying = 0;
    __builtin_longjmp(whence_control->bad_pointer, 1);
}
