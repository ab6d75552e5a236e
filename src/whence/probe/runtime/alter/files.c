/* Files of a program in a session. A continuation may read them; the unaltered run may do what it likes. */
#define _GNU_SOURCE
#include "alter/calls.h"
#include "alter/mappings.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

/* The kernel's own reading of `parts` needs pages that it may write to. */
static long read_parts(const struct whence_call *call)
{
    struct { void *base; size_t length; } part;
    for (long i = 0; i < call->c; i++) {
        if (whence_copy(&part, (const char *)call->b + i * (long)sizeof part, sizeof part) > 0)
            whence_touch((uintptr_t)part.base, part.length);
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
    if (fd >= 0 && !whence_note_second(fd))
        whence_refuse(call->number);
    if (fd >= 0)
        whence_note_undo(UNDO_OPENED, fd, OWNER_CONTINUATION, call->number);
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

/* The C library asks for a server that keeps the names of users and machines before it reads their files. */
long whence_open_socket(const struct whence_call *call)
{
    if (whence_streams.is_any_closed)
        whence_change_way(call->number);
    return note_opened(call, whence_pass(call));
}

/* Whether a connection is asked for with a server of this machine that is not there: then nothing happens. */
int whence_is_to_nobody(const struct whence_call *call)
{
    struct sockaddr_un to = {0};
    size_t length = (size_t)call->c;
    if (length <= offsetof(struct sockaddr_un, sun_path) || length > sizeof to || whence_copy(&to, (void *)call->b, length) < 0)
        return 0;
    if (to.sun_family != AF_UNIX || to.sun_path[0] != '/' || !memchr(to.sun_path, 0, sizeof to.sun_path))
        return 0;
    return whence_call(SYS_access, (long)to.sun_path, F_OK, 0, 0, 0, 0) == -ENOENT;
}

long whence_close_file(const struct whence_call *call)
{
    struct whence_undo *own = whence_in_continuation() ? whence_find_undo(UNDO_OPENED, call->a) : NULL;
    if (own)
        whence_forget_undo(own);
    if (!whence_in_snapshot() || own) {
        whence_forget_second(call->a);
        return whence_pass(call);
    }
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
        whence_note_undo(UNDO_OPENED, fd, owner, call->number);
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
