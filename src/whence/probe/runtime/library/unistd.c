/* Wrappers of unistd.h, fcntl.h, sys/stat.h and sys/wait.h: descriptors, files, processes.
   What stands in the file system is one hidden state: changes of names and attributes write it, questions read it. */
#include "library/library.h"
#include "alter/mappings.h"
#include "record/schedule.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static size_t positive(ssize_t length) { return length > 0 ? (size_t)length : 0; }

/* Descriptors. */

LIBRARY(ssize_t, read, int descriptor, void *to, size_t size)
{
    int before = errno;
    if (whence_scheduling)
        whence_await_descriptor(descriptor, POLLIN);
    ssize_t length = read(descriptor, to, size);
    EFFECTS_ERRNO(read, before)
    {
        whence_descriptor_in(descriptor, positive(length));
        write_bytes(to, positive(length));
    }
    return length;
}

LIBRARY(ssize_t, pread, int descriptor, void *to, size_t size, off_t offset)
{
    int before = errno;
    ssize_t length = pread(descriptor, to, size, offset);
    EFFECTS_ERRNO(pread, before)
    {
        whence_descriptor_in(descriptor, 0);
        whence_effect(WHENCE_IN, (unsigned)descriptor & 0xFF, 2, (uint64_t)offset, positive(length), 0);
        write_bytes(to, positive(length));
    }
    return length;
}
LIBRARY_SAME(pread64, pread);

LIBRARY(ssize_t, write, int descriptor, const void *from, size_t size)
{
    int before = errno;
    if (whence_scheduling)
        whence_await_descriptor(descriptor, POLLOUT);
    ssize_t length = write(descriptor, from, size);
    EFFECTS_ERRNO(write, before)
    {
        if (length > 0) {
            whence_descriptor_out(descriptor, (size_t)length);
            piece(1, 0, (size_t)length);
            read_bytes(from, (size_t)length);
        }
    }
    return length;
}

static void parts_read(const struct iovec *parts, int count)
{
    read_bytes(parts, count > 0 ? (size_t)count * sizeof *parts : 0);
}

/* The parts of a call, of which `length` bytes went out in all. */
static void parts_out(const struct iovec *parts, int count, size_t length)
{
    size_t offset = 0;
    for (int i = 0; i < count && offset < length; i++) {
        const size_t rest = length - offset, part = parts[i].iov_len < rest ? parts[i].iov_len : rest;
        piece(1, offset, part);
        read_bytes(parts[i].iov_base, part);
        offset += part;
    }
}

static void parts_in(const struct iovec *parts, int count, size_t length)
{
    for (int i = 0; i < count && length; i++) {
        const size_t part = parts[i].iov_len < length ? parts[i].iov_len : length;
        write_bytes(parts[i].iov_base, part);
        length -= part;
    }
}

LIBRARY(ssize_t, writev, int descriptor, const struct iovec *parts, int count)
{
    int before = errno;
    ssize_t length = writev(descriptor, parts, count);
    EFFECTS_ERRNO(writev, before)
    {
        parts_read(parts, count);
        if (length > 0)
            whence_descriptor_out(descriptor, (size_t)length);
        parts_out(parts, count, positive(length));
    }
    return length;
}

LIBRARY(ssize_t, pwritev, int descriptor, const struct iovec *parts, int count, off_t offset)
{
    int before = errno;
    ssize_t length = pwritev(descriptor, parts, count, offset);
    EFFECTS_ERRNO(pwritev, before)
    {
        parts_read(parts, count);
        if (length > 0) {
            whence_descriptor_moved(descriptor);
            whence_effect(WHENCE_OUT, (unsigned)descriptor & 0xFF, 2, (uint64_t)offset, (size_t)length, 0);
        }
        parts_out(parts, count, positive(length));
    }
    return length;
}
LIBRARY_SAME(pwritev64, pwritev);

LIBRARY(ssize_t, pwrite, int descriptor, const void *from, size_t size, off_t offset)
{
    int before = errno;
    ssize_t length = pwrite(descriptor, from, size, offset);
    EFFECTS_ERRNO(pwrite, before)
    {
        if (length > 0) {
            whence_descriptor_moved(descriptor);
            whence_effect(WHENCE_OUT, (unsigned)descriptor & 0xFF, 2, (uint64_t)offset, (size_t)length, 0);
            piece(1, 0, (size_t)length);
            read_bytes(from, (size_t)length);
        }
    }
    return length;
}
LIBRARY_SAME(pwrite64, pwrite);

LIBRARY(ssize_t, readv, int descriptor, const struct iovec *parts, int count)
{
    int before = errno;
    if (whence_scheduling)
        whence_await_descriptor(descriptor, POLLIN);
    ssize_t length = readv(descriptor, parts, count);
    EFFECTS_ERRNO(readv, before)
    {
        parts_read(parts, count);
        whence_descriptor_in(descriptor, positive(length));
        parts_in(parts, count, positive(length));
    }
    return length;
}

LIBRARY(ssize_t, preadv, int descriptor, const struct iovec *parts, int count, off_t offset)
{
    int before = errno;
    ssize_t length = preadv(descriptor, parts, count, offset);
    EFFECTS_ERRNO(preadv, before)
    {
        parts_read(parts, count);
        whence_descriptor_in(descriptor, 0);
        whence_effect(WHENCE_IN, (unsigned)descriptor & 0xFF, 2, (uint64_t)offset, positive(length), 0);
        parts_in(parts, count, positive(length));
    }
    return length;
}
LIBRARY_SAME(preadv64, preadv);

/* The third argument is a number, a lock, or not there at all; taking it then reads an undefined register, no more. */
LIBRARY(int, fcntl, int descriptor, int command, ...)
{
    int before = errno;
    va_list list;
    va_start(list, command);
    void *argument = va_arg(list, void *);
    va_end(list);
    int result = fcntl(descriptor, command, argument);
    EFFECTS_ERRNO(fcntl, before)
    {
        if (command == F_GETLK || command == F_SETLK || command == F_SETLKW)
            read_bytes(argument, sizeof(struct flock));
        if (command == F_GETLK)
            write_bytes(argument, result ? 0 : sizeof(struct flock));
        if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)
            whence_descriptor_opened(result);
    }
    return result;
}
LIBRARY_SAME(fcntl64, fcntl);

LIBRARY(off_t, lseek, int descriptor, off_t offset, int whence)
{
    int before = errno;
    off_t position = lseek(descriptor, offset, whence);
    EFFECTS_ERRNO(lseek, before) { whence_descriptor_moved(descriptor); }
    return position;
}
LIBRARY_SAME(lseek64, lseek);

/* A call by a path, which gave a descriptor (or -1). */
static void descriptor_from_path(const char *path, int descriptor)
{
    read_string(path);
    state(STATE_BOTH, FILE_SYSTEM_STATE);
    whence_descriptor_opened(descriptor);
}

/* The mode is there only where a file may be made; taking it in other cases reads an undefined register, no more. */
#define OPEN(name, call, ...) \
    LIBRARY(int, name, __VA_ARGS__, ...) \
    { \
        int before = errno; \
        va_list list; \
        va_start(list, flags); \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? (mode_t)va_arg(list, int) : 0; \
        va_end(list); \
        int descriptor = call; \
        EFFECTS_ERRNO(name, before) { descriptor_from_path(path, descriptor); } \
        return descriptor; \
    }

static int open_path(const char *path, int flags, mode_t mode)
{
    char here;
    if (whence_calls_are_seen() || !path || !whence_is_mappings(path))
        return open(path, flags, mode);
    long descriptor = whence_open_mappings((uintptr_t)&here);
    if (descriptor < 0)
        errno = (int)-descriptor;
    return descriptor < 0 ? -1 : (int)descriptor;
}

OPEN(open, open_path(path, flags, mode), const char *path, int flags)
OPEN(openat, openat(folder, path, flags, mode), int folder, const char *path, int flags)
LIBRARY_SAME(open64, open);
LIBRARY_SAME(openat64, openat);

LIBRARY(int, creat, const char *path, mode_t mode)
{
    int before = errno;
    int descriptor = creat(path, mode);
    EFFECTS_ERRNO(creat, before) { descriptor_from_path(path, descriptor); }
    return descriptor;
}
LIBRARY_SAME(creat64, creat);

LIBRARY(int, mkstemp, char *path)
{
    int before = errno;
    int descriptor = mkstemp(path);
    EFFECTS_ERRNO(mkstemp, before)
    {
        descriptor_from_path(path, descriptor);
        write_bytes(path, strlen(path));
    }
    return descriptor;
}
LIBRARY_SAME(mkstemp64, mkstemp);

LIBRARY(int, mkostemp, char *path, int flags)
{
    int before = errno;
    int descriptor = mkostemp(path, flags);
    EFFECTS_ERRNO(mkostemp, before)
    {
        descriptor_from_path(path, descriptor);
        write_bytes(path, strlen(path));
    }
    return descriptor;
}
LIBRARY_SAME(mkostemp64, mkostemp);

LIBRARY(int, mkstemps, char *path, int suffix)
{
    int before = errno;
    int descriptor = mkstemps(path, suffix);
    EFFECTS_ERRNO(mkstemps, before)
    {
        descriptor_from_path(path, descriptor);
        write_bytes(path, strlen(path));
    }
    return descriptor;
}
LIBRARY_SAME(mkstemps64, mkstemps);

LIBRARY(char *, get_current_dir_name, void)
{
    int before = errno;
    char *result = get_current_dir_name();
    EFFECTS_ERRNO(get_current_dir_name, before)
    {
        if (result)
            whence_block_allocated(result, strlen(result) + 1);
        write_bytes(result, result ? strlen(result) + 1 : 0);
    }
    return result;
}

LIBRARY(int, ttyname_r, int descriptor, char *to, size_t size)
{
    int before = errno;
    int result = ttyname_r(descriptor, to, size);
    EFFECTS_ERRNO(ttyname_r, before) { write_bytes(to, result ? 0 : strlen(to) + 1); }
    return result;
}

LIBRARY(clock_t, times, struct tms *to)
{
    int before = errno;
    clock_t now = times(to);
    EFFECTS_ERRNO(times, before) { write_bytes(to, to && now != (clock_t)-1 ? sizeof *to : 0); }
    return now;
}

/* What is mapped depends on the call: a file's contents, or zeros. Of what is larger only a part is ever touched. */
enum { MOST_MAPPED = 1 << 27 };

LIBRARY(void *, mmap, void *wanted, size_t length, int protection, int flags, int descriptor, off_t offset)
{
    int before = errno;
    void *place = mmap(wanted, length, protection, flags, descriptor, offset);
    EFFECTS_ERRNO(mmap, before)
    {
        if (place != MAP_FAILED && protection != PROT_NONE && length <= MOST_MAPPED)
            write_bytes(place, length);
    }
    return place;
}
LIBRARY_SAME(mmap64, mmap);

LIBRARY(char *, mkdtemp, char *path)
{
    int before = errno;
    char *result = mkdtemp(path);
    EFFECTS_ERRNO(mkdtemp, before)
    {
        read_string(path);
        state(STATE_BOTH, FILE_SYSTEM_STATE);
        write_bytes(path, strlen(path));
    }
    return result;
}

LIBRARY(int, close, int descriptor)
{
    whence_standard_streams();
    int before = errno;
    int result = close(descriptor);
    EFFECTS_ERRNO(close, before) { whence_descriptor_opened(descriptor); }
    return result;
}

LIBRARY(int, dup, int descriptor)
{
    int before = errno;
    int copy = dup(descriptor);
    EFFECTS_ERRNO(dup, before) { whence_descriptor_opened(copy); }
    return copy;
}

LIBRARY(int, dup2, int descriptor, int wanted)
{
    whence_standard_streams();
    int before = errno;
    int copy = dup2(descriptor, wanted);
    EFFECTS_ERRNO(dup2, before) { whence_descriptor_opened(copy); }
    return copy;
}

LIBRARY(int, dup3, int descriptor, int wanted, int flags)
{
    whence_standard_streams();
    int before = errno;
    int copy = dup3(descriptor, wanted, flags);
    EFFECTS_ERRNO(dup3, before) { whence_descriptor_opened(copy); }
    return copy;
}

#define PIPE(name, call, ...) \
    LIBRARY(int, name, __VA_ARGS__) \
    { \
        int before = errno; \
        int result = call; \
        EFFECTS_ERRNO(name, before) \
        { \
            if (!result) { \
                write_bytes(ends, 2 * sizeof *ends); \
                whence_descriptor_opened(ends[0]); \
                whence_descriptor_opened(ends[1]); \
            } \
        } \
        return result; \
    }

PIPE(pipe, pipe(ends), int ends[2])
PIPE(pipe2, pipe2(ends, flags), int ends[2], int flags)

LIBRARY(int, select, int count, fd_set *in, fd_set *out, fd_set *other, struct timeval *timeout)
{
    int before = errno;
    fd_set *sets[] = {in, out, other};
    EFFECTS(select)
    {
        for (int i = 0; i < 3; i++)
            read_bytes(sets[i], sets[i] ? sizeof(fd_set) : 0);
        read_bytes(timeout, timeout ? sizeof *timeout : 0);
    }
    int result = select(count, in, out, other, timeout);
    EFFECTS_ERRNO(select, before)
    {
        for (int i = 0; i < 3; i++)
            write_bytes(sets[i], sets[i] ? sizeof(fd_set) : 0);
        write_bytes(timeout, timeout ? sizeof *timeout : 0);
    }
    return result;
}

LIBRARY(int, ppoll, struct pollfd *all, nfds_t count, const struct timespec *limit, const sigset_t *mask)
{
    int before = errno;
    int result = ppoll(all, count, limit, mask);
    EFFECTS_ERRNO(ppoll, before)
    {
        read_bytes(all, count * sizeof *all);
        read_bytes(limit, limit ? sizeof *limit : 0);
        read_bytes(mask, mask ? NSIG / 8 : 0);
        for (nfds_t i = 0; i < count; i++)
            write_bytes(&all[i].revents, sizeof all[i].revents);
    }
    return result;
}

LIBRARY(int, epoll_ctl, int epoll, int operation, int descriptor, struct epoll_event *event)
{
    int before = errno;
    int result = epoll_ctl(epoll, operation, descriptor, event);
    EFFECTS_ERRNO(epoll_ctl, before) { read_bytes(event, event ? sizeof *event : 0); }
    return result;
}

LIBRARY(int, epoll_wait, int epoll, struct epoll_event *events, int most, int limit)
{
    int before = errno;
    int count = epoll_wait(epoll, events, most, limit);
    EFFECTS_ERRNO(epoll_wait, before) { write_bytes(events, count > 0 ? (size_t)count * sizeof *events : 0); }
    return count;
}

LIBRARY(int, poll, struct pollfd *all, nfds_t count, int timeout)
{
    int before = errno;
    int result = poll(all, count, timeout);
    EFFECTS_ERRNO(poll, before)
    {
        read_bytes(all, count * sizeof *all);
        for (nfds_t i = 0; i < count; i++)
            write_bytes(&all[i].revents, sizeof all[i].revents);
    }
    return result;
}

/* Questions to the file system, answered in a struct stat. */

static void status_answered(const char *path, struct stat *status, int result)
{
    if (path)
        read_string(path);
    state(STATE_READ, FILE_SYSTEM_STATE);
    write_bytes(status, result ? 0 : sizeof *status);
}

#define STATUS(name, path, call, ...) \
    LIBRARY(int, name, __VA_ARGS__, struct stat *status) \
    { \
        int before = errno; \
        int result = call; \
        EFFECTS_ERRNO(name, before) { status_answered(path, status, result); } \
        return result; \
    }

STATUS(stat, path, stat(path, status), const char *path)
STATUS(lstat, path, lstat(path, status), const char *path)
STATUS(fstat, NULL, fstat(descriptor, status), int descriptor)
LIBRARY_SAME(stat64, stat);
LIBRARY_SAME(lstat64, lstat);
LIBRARY_SAME(fstat64, fstat);
#ifdef __GLIBC__ /* the names behind stat() before version 2.33 */
REAL_WEAK(int, __xstat, int, const char *, struct stat *);
REAL_WEAK(int, __lxstat, int, const char *, struct stat *);
REAL_WEAK(int, __fxstat, int, int, struct stat *);
STATUS(__xstat, path, real___xstat(version, path, status), int version, const char *path)
STATUS(__lxstat, path, real___lxstat(version, path, status), int version, const char *path)
STATUS(__fxstat, NULL, real___fxstat(version, descriptor, status), int version, int descriptor)
LIBRARY_SAME(__xstat64, __xstat);
LIBRARY_SAME(__lxstat64, __lxstat);
LIBRARY_SAME(__fxstat64, __fxstat);
#endif

#define VOLUME(name, path, call, ...) \
    LIBRARY(int, name, __VA_ARGS__, struct statvfs *status) \
    { \
        int before = errno; \
        int result = call; \
        EFFECTS_ERRNO(name, before) \
        { \
            read_string(path); \
            state(STATE_READ, FILE_SYSTEM_STATE); \
            write_bytes(status, result ? 0 : sizeof *status); \
        } \
        return result; \
    }

VOLUME(statvfs, path, statvfs(path, status), const char *path)
VOLUME(fstatvfs, NULL, fstatvfs(descriptor, status), int descriptor)
LIBRARY_SAME(statvfs64, statvfs);
LIBRARY_SAME(fstatvfs64, fstatvfs);

LIBRARY(int, fstatat, int folder, const char *path, struct stat *status, int flags)
{
    int before = errno;
    int result = fstatat(folder, path, status, flags);
    EFFECTS_ERRNO(fstatat, before) { status_answered(path, status, result); }
    return result;
}
LIBRARY_SAME(fstatat64, fstatat);

/* Calls that take a path and change or ask the file system. */

#define BY_PATH(name, access, call, ...) \
    LIBRARY(int, name, __VA_ARGS__) \
    { \
        int before = errno; \
        int result = call; \
        EFFECTS_ERRNO(name, before) \
        { \
            read_string(path); \
            state(access, FILE_SYSTEM_STATE); \
        } \
        return result; \
    }

BY_PATH(access, STATE_READ, access(path, mode), const char *path, int mode)
BY_PATH(unlink, STATE_BOTH, unlink(path), const char *path)
BY_PATH(rmdir, STATE_BOTH, rmdir(path), const char *path)
BY_PATH(mkdir, STATE_BOTH, mkdir(path, mode), const char *path, mode_t mode)
BY_PATH(chdir, STATE_BOTH, chdir(path), const char *path)
BY_PATH(chmod, STATE_BOTH, chmod(path, mode), const char *path, mode_t mode)
BY_PATH(chown, STATE_BOTH, chown(path, user, group), const char *path, uid_t user, gid_t group)
BY_PATH(truncate, STATE_BOTH, truncate(path, length), const char *path, off_t length)
LIBRARY_SAME(truncate64, truncate);

BY_PATH(lchown, STATE_BOTH, lchown(path, user, group), const char *path, uid_t user, gid_t group)
BY_PATH(unlinkat, STATE_BOTH, unlinkat(folder, path, flags), int folder, const char *path, int flags)
BY_PATH(mkdirat, STATE_BOTH, mkdirat(folder, path, mode), int folder, const char *path, mode_t mode)
BY_PATH(faccessat, STATE_READ, faccessat(folder, path, mode, flags), int folder, const char *path, int mode, int flags)

#define BY_TWO_PATHS(name) \
    LIBRARY(int, name, const char *from, const char *to) \
    { \
        int before = errno; \
        int result = name(from, to); \
        EFFECTS_ERRNO(name, before) \
        { \
            read_string(from); \
            read_string(to); \
            state(STATE_BOTH, FILE_SYSTEM_STATE); \
        } \
        return result; \
    }

BY_TWO_PATHS(symlink)
BY_TWO_PATHS(link)

LIBRARY(int, utimensat, int folder, const char *path, const struct timespec times[2], int flags)
{
    int before = errno;
    int result = utimensat(folder, path, times, flags);
    EFFECTS_ERRNO(utimensat, before)
    {
        read_string(path);
        read_bytes(times, times ? 2 * sizeof *times : 0);
        state(STATE_BOTH, FILE_SYSTEM_STATE);
    }
    return result;
}

LIBRARY(int, futimens, int descriptor, const struct timespec times[2])
{
    int before = errno;
    int result = futimens(descriptor, times);
    EFFECTS_ERRNO(futimens, before)
    {
        read_bytes(times, times ? 2 * sizeof *times : 0);
        state(STATE_BOTH, FILE_SYSTEM_STATE);
    }
    return result;
}

LIBRARY(int, ftruncate, int descriptor, off_t length)
{
    int before = errno;
    int result = ftruncate(descriptor, length);
    EFFECTS_ERRNO(ftruncate, before) { whence_descriptor_moved(descriptor); }
    return result;
}
LIBRARY_SAME(ftruncate64, ftruncate);

static void link_read(const char *path, const char *to, ssize_t length)
{
    read_string(path);
    state(STATE_READ, FILE_SYSTEM_STATE);
    write_bytes(to, positive(length));
}

LIBRARY(ssize_t, readlink, const char *path, char *to, size_t size)
{
    int before = errno;
    ssize_t length = readlink(path, to, size);
    EFFECTS_ERRNO(readlink, before) { link_read(path, to, length); }
    return length;
}

LIBRARY(ssize_t, readlinkat, int folder, const char *path, char *to, size_t size)
{
    int before = errno;
    ssize_t length = readlinkat(folder, path, to, size);
    EFFECTS_ERRNO(readlinkat, before) { link_read(path, to, length); }
    return length;
}

LIBRARY(char *, getcwd, char *to, size_t size)
{
    int before = errno;
    char *path = getcwd(to, size);
    EFFECTS_ERRNO(getcwd, before)
    {
        state(STATE_READ, FILE_SYSTEM_STATE);
        if (path && !to)
            whence_block_allocated(path, size ? size : strlen(path) + 1);
        write_bytes(path, path ? strlen(path) + 1 : 0);
    }
    return path;
}

LIBRARY(int, gethostname, char *to, size_t size)
{
    int before = errno;
    int result = gethostname(to, size);
    EFFECTS_ERRNO(gethostname, before) { write_bytes(to, result ? 0 : strnlen(to, size)); }
    return result;
}

/* Children. */

LIBRARY(pid_t, waitpid, pid_t child, int *status, int options)
{
    int before = errno;
    pid_t ended = waitpid(child, status, options);
    EFFECTS_ERRNO(waitpid, before) { write_bytes(status, status && ended > 0 ? sizeof *status : 0); }
    return ended;
}

LIBRARY(pid_t, wait, int *status)
{
    int before = errno;
    pid_t ended = wait(status);
    EFFECTS_ERRNO(wait, before) { write_bytes(status, status && ended > 0 ? sizeof *status : 0); }
    return ended;
}
