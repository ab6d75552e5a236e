/* Standard streams of a program in a session: input is read from memory, and output is compared there as it is written,
   so how far both have come is part of the state that a continuation goes back to. */
#define _GNU_SOURCE
#include "alter/calls.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

void whence_streams_start(void)
{
    struct stat about;
    void *got = MAP_FAILED;
    if (!fstat(0, &about) && S_ISREG(about.st_mode) && about.st_size)
        got = mmap(INPUT_PLACE, (size_t)about.st_size, PROT_READ, MAP_SHARED | MAP_FIXED_NOREPLACE, 0, 0);
    whence_control->input = got == MAP_FAILED ? NULL : got;
    whence_control->input_length = got == MAP_FAILED ? 0 : (uint64_t)about.st_size;
    whence_output_start();
}

/* ---- Input ---------------------------------------------------------------------------------------------------- */

static long take_input(char *target, uint64_t length, uint64_t at)
{
    uint64_t left = at < whence_control->input_length ? whence_control->input_length - at : 0;
    uint64_t taken = length < left ? length : left;
    return taken ? whence_copy(target, whence_control->input + at, taken) : 0;
}

static long read_input(char *target, uint64_t length)
{
    long got = take_input(target, length, whence_streams.input_at);
    if (got > 0)
        whence_streams.input_at += (uint64_t)got;
    return got;
}

/* ---- Output --------------------------------------------------------------------------------------------------- */

/* A continuation ends at its first wrong byte; where its output is kept, when it is longer than what is kept. */
static void end_where_wrong(int stream)
{
    const struct whence_session *file = whence_control->file;
    if (!whence_in_continuation())
        return;
    if ((file->flags & KEEP_OUTPUT) && whence_streams.written[stream] > file->capture)
        whence_end((struct whence_ending){VERDICT_UNJUDGED, 0, 0});
    if (!(file->flags & KEEP_OUTPUT) && whence_output_is_wrong())
        whence_end((struct whence_ending){VERDICT_WRONG_OUTPUT, 0, 0});
}

/* How much of a write the limit for files lets pass; none: the signal for that. */
static uint64_t within_limit(int stream, uint64_t length)
{
    uint64_t limit = whence_control->file->output_limit, at = whence_streams.written[stream];
    if (!limit || !length || at + length <= limit)
        return length;
    if (at >= limit)
        whence_meet_signal(SIGXFSZ);
    return limit > at ? limit - at : 0;
}

static long write_output(int stream, const char *bytes, uint64_t length)
{
    char page[1024];
    uint64_t done = 0, wanted = length;
    length = within_limit(stream, wanted);
    if (wanted && !length)
        return -EFBIG;
    while (done < length) {
        uint64_t part = length - done < sizeof page ? length - done : sizeof page;
        if (whence_copy(page, bytes + done, part) < 0)
            return done ? (long)done : -EFAULT;
        whence_output(stream, page, part);
        done += part;
        end_where_wrong(stream);
    }
    return (long)length;
}

/* ---- Calls ---------------------------------------------------------------------------------------------------- */

static long each_part(const struct whence_call *call)
{
    struct iovec part;
    long sum = 0;
    for (long i = 0; i < call->c; i++) {
        if (whence_copy(&part, (const struct iovec *)call->b + i, sizeof part) < 0)
            return sum ? sum : -EFAULT;
        long done = call->a ? write_output((int)call->a, part.iov_base, part.iov_len) : read_input(part.iov_base, part.iov_len);
        if (done < 0)
            return sum ? sum : done;
        sum += done;
        if ((size_t)done < part.iov_len)
            break;
    }
    return sum;
}

static long seek(const struct whence_call *call)
{
    uint64_t *at = call->a ? &whence_streams.written[call->a] : &whence_streams.input_at;
    long end = call->a ? (long)*at : (long)whence_control->input_length;
    long target = call->b + (call->c == SEEK_SET ? 0 : call->c == SEEK_CUR ? (long)*at : end);
    if ((call->c != SEEK_SET && call->c != SEEK_CUR && call->c != SEEK_END) || target < 0)
        return -EINVAL;
    if (call->a && target != (long)*at)
        whence_refuse(call->number); /* writing over what was written */
    *at = (uint64_t)target;
    return target;
}

static long control(const struct whence_call *call)
{
    if (call->number == SYS_ioctl && (call->b == TCGETS || call->b == TIOCGWINSZ))
        return -ENOTTY;
    if (call->number == SYS_fcntl && (call->b == F_GETFD || call->b == F_GETFL))
        return whence_pass(call);
    whence_refuse(call->number); /* it duplicates a stream, or does something else that is not followed here */
}

int whence_is_closed(long descriptor)
{
    const struct whence_streams *streams = &whence_streams;
    if ((unsigned long)descriptor >= CLOSABLE)
        return 0;
    return streams->closed[descriptor / 64] >> (descriptor % 64) & 1;
}

void whence_mark_closed(long descriptor)
{
    whence_streams.closed[descriptor / 64] |= UINT64_C(1) << (descriptor % 64);
    whence_streams.is_any_closed = 1;
}

static long on_stream(const struct whence_call *call)
{
    int stream = (int)call->a;
    switch (call->number) {
    case SYS_read: return stream ? -EBADF : read_input((char *)call->b, (uint64_t)call->c);
    case SYS_pread64: return stream ? -EBADF : take_input((char *)call->b, (uint64_t)call->c, (uint64_t)call->d);
    case SYS_write: return stream ? write_output(stream, (const char *)call->b, (uint64_t)call->c) : -EBADF;
    case SYS_writev: return stream ? each_part(call) : -EBADF;
    case SYS_readv: return stream ? -EBADF : each_part(call);
    case SYS_lseek: return seek(call);
    case SYS_close: whence_mark_closed(call->a); return 0;
    case SYS_fstat: return whence_pass_writing(call, call->b, sizeof(struct stat));
    case SYS_getdents64: return -ENOTDIR;
    case SYS_fsync:
    case SYS_fdatasync:
    case SYS_fadvise64: return 0;
    default: return control(call);
    }
}

long whence_on_stream(const struct whence_call *call)
{
    int writes = call->number == SYS_write || call->number == SYS_writev;
    if (writes && call->a && whence_streams.second[call->a])
        whence_refuse(call->number); /* each has a position of its own */
    return on_stream(call);
}

/* ---- Second descriptors, such as of /dev/stdout ------------------------------------------------------------------ */

/* The stream whose file a descriptor is; 0: none. */
static int stream_of(long fd)
{
    struct stat about, output;
    if (whence_call(SYS_fstat, fd, (long)&about, 0, 0, 0, 0) || !S_ISREG(about.st_mode))
        return 0;
    for (int stream = 1; stream < 3; stream++) {
        if (!whence_call(SYS_fstat, stream, (long)&output, 0, 0, 0, 0) && output.st_dev == about.st_dev &&
            output.st_ino == about.st_ino)
            return stream;
    }
    return 0;
}

int whence_note_second(long fd)
{
    int stream = stream_of(fd);
    if (!stream)
        return 1;
    if (whence_streams.second[stream] || whence_streams.written[stream] ||
        (whence_call(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0) & O_ACCMODE) != O_WRONLY)
        return 0;
    whence_streams.second[stream] = (int)fd;
    return 1;
}

int whence_is_second(long fd) { return fd > 0 && (fd == whence_streams.second[1] || fd == whence_streams.second[2]); }

void whence_forget_second(long fd)
{
    for (int stream = 1; stream < 3; stream++) {
        if (fd > 0 && fd == whence_streams.second[stream])
            whence_streams.second[stream] = -1; /* the stream's own descriptor still has its position */
    }
}

long whence_on_second(const struct whence_call *call)
{
    struct whence_call same = *call;
    same.a = call->a == whence_streams.second[1] ? 1 : 2;
    return on_stream(&same);
}
