/* Files that a continuation in a process of its own writes, moves or removes. What is there before is put aside, and put
   back when the process has ended, so that the next one finds it as it was: the same files, with the same contents.

   A file that is found by its name is kept twice: by a link, which keeps the file itself, and by a copy of its bytes. One
   that the unaltered run has open is kept by a copy only. */
#define _GNU_SOURCE
#include "alter/calls.h"
#include "alter/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { BLOCK = 16 << 10, LARGEST = 16 << 20 };

static long call3(long number, long a, long b, long c) { return whence_call(number, a, b, c, 0, 0, 0); }

/* ---- Names ---------------------------------------------------------------------------------------------------- */

/* The subject's string at `text` behind what is in `path` already; 0 where it is too long or cannot be read. */
static int append(char *path, const char *text)
{
    size_t length = strlen(path);
    do {
        if (length == KEPT_PATH || whence_copy(path + length, text++, 1) < 0)
            return 0;
    } while (path[length++]);
    return 1;
}

/* "/proc/self/fd/N" */
static void name_descriptor(char *path, int fd)
{
    char digits[20], *digit = digits + sizeof digits - 1;
    *digit = 0;
    do
        *--digit = (char)('0' + fd % 10);
    while (fd /= 10);
    strcat(strcpy(path, "/proc/self/fd/"), digit);
}

/* The whole name of what the subject calls `name` within `folder`. */
static int place(char *path, int folder, const char *name)
{
    char link[40];
    *path = 0;
    if (*name == '/')
        return append(path, name);
    if (folder < 0 && folder != AT_FDCWD)
        return 0;
    name_descriptor(link, folder < 0 ? 0 : folder);
    long got = folder == AT_FDCWD ? call3(SYS_getcwd, (long)path, KEPT_PATH - 1, 0) - 1
                                  : call3(SYS_readlink, (long)link, (long)path, KEPT_PATH - 1);
    if (got <= 0 || *path != '/')
        return 0;
    path[got] = '/';
    path[got + 1] = 0;
    return append(path, name);
}

/* Beside the session's file: "link" or "copy" of the n-th file that is kept. */
static void name_backup(char *path, const char *kind, unsigned n)
{
    char number[] = {'.', (char)('0' + n / 10), (char)('0' + n % 10), 0};
    strcpy(path, whence_control->name);
    strcat(strcat(path, kind), number);
}

/* ---- Copies --------------------------------------------------------------------------------------------------- */

static int copy_all(long from, long to)
{
    char block[BLOCK];
    long got;
    while ((got = call3(SYS_read, from, (long)block, BLOCK)) > 0) {
        if (call3(SYS_write, to, (long)block, got) != got)
            return 0;
    }
    return got == 0;
}

static int copy_out(long from, unsigned n)
{
    char path[2 * KEPT_PATH];
    name_backup(path, "copy", n);
    long to = call3(SYS_open, (long)path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int done = from >= 0 && to >= 0 && copy_all(from, to);
    if (to >= 0)
        call3(SYS_close, to, 0, 0);
    if (from >= 0)
        call3(SYS_close, from, 0, 0);
    return done;
}

static void copy_back(long to, const struct whence_kept *kept, unsigned n)
{
    char path[2 * KEPT_PATH];
    struct timespec times[2] = {kept->about.st_atim, kept->about.st_mtim};
    name_backup(path, "copy", n);
    long from = call3(SYS_open, (long)path, O_RDONLY | O_CLOEXEC, 0);
    call3(SYS_ftruncate, to, 0, 0);
    call3(SYS_lseek, to, 0, SEEK_SET);
    copy_all(from, to);
    call3(SYS_fchown, to, kept->about.st_uid, kept->about.st_gid);
    call3(SYS_fchmod, to, kept->about.st_mode & 07777, 0);
    whence_call(SYS_utimensat, to, 0, (long)times, 0, 0, 0);
    call3(SYS_close, from, 0, 0);
    call3(SYS_unlink, (long)path, 0, 0);
}

/* ---- Keeping -------------------------------------------------------------------------------------------------- */

static struct whence_kept *find(const char *path, long fd)
{
    struct whence_undo_log *log = whence_control->undo;
    for (unsigned i = 0; i < log->kept_count; i++) {
        if (log->kept[i].fd == fd && !strcmp(log->kept[i].path, path))
            return &log->kept[i];
    }
    return NULL;
}

static int can_be_kept(const struct stat *about) { return S_ISREG(about->st_mode) && about->st_size <= LARGEST; }

/* What has this name, or that nothing has it. 0 where it cannot be kept. */
static int keep(int folder, const char *name)
{
    struct whence_undo_log *log = whence_control->undo;
    struct whence_kept *kept = &log->kept[log->kept_count];
    char path[KEPT_PATH + 1], backup[2 * KEPT_PATH], first = 0;
    if (whence_copy(&first, name, 1) < 0 || !first)
        return 1; /* no name: the call fails */
    if (log->kept_count == KEPT_MAX || !place(path, folder, name))
        return 0;
    if (find(path, -1))
        return 1;
    long got = call3(SYS_lstat, (long)path, (long)&kept->about, 0);
    if (got == 0 && S_ISCHR(kept->about.st_mode) && kept->about.st_rdev == makedev(1, 3))
        return 1; /* /dev/null */
    if (got && got != -ENOENT)
        return 0;
    if (got == 0) {
        name_backup(backup, "link", log->kept_count);
        if (!can_be_kept(&kept->about) || call3(SYS_link, (long)path, (long)backup, 0) ||
            !copy_out(call3(SYS_open, (long)path, O_RDONLY | O_CLOEXEC, 0), log->kept_count))
            return 0;
    }
    strcpy(kept->path, path);
    kept->fd = -1;
    kept->is_absent = got != 0;
    log->kept_count++;
    return 1;
}

int whence_keep_open(long fd)
{
    struct whence_undo_log *log = whence_control->undo;
    struct whence_kept *kept = &log->kept[log->kept_count];
    char path[40];
    if (find("", fd))
        return 1;
    name_descriptor(path, (int)fd);
    if (log->kept_count == KEPT_MAX || call3(SYS_fstat, fd, (long)&kept->about, 0) || !can_be_kept(&kept->about) ||
        !copy_out(call3(SYS_open, (long)path, O_RDONLY | O_CLOEXEC, 0), log->kept_count))
        return 0;
    whence_keep_offset(fd);
    *kept->path = 0;
    kept->fd = fd;
    log->kept_count++;
    return 1;
}

/* What shares its file with a descriptor of the unaltered run has a number that only this process knows. */
static int keep_descriptor(long fd)
{
    enum whence_owner owner = whence_owner_of(fd);
    if (call3(SYS_fcntl, fd, F_GETFD, 0) < 0)
        return 1; /* the call fails */
    return fd > 2 && (owner == OWNER_CONTINUATION || (owner == OWNER_RUN && whence_keep_open(fd)));
}

/* ---- Putting back --------------------------------------------------------------------------------------------- */

static void put_back(const struct whence_kept *kept, unsigned n)
{
    char backup[2 * KEPT_PATH];
    if (kept->fd >= 0) {
        copy_back(kept->fd, kept, n);
        return;
    }
    struct stat now;
    int is_there = call3(SYS_lstat, (long)kept->path, (long)&now, 0) == 0;
    if (kept->is_absent || !is_there || now.st_ino != kept->about.st_ino)
        call3(SYS_unlink, (long)kept->path, 0, 0);
    if (kept->is_absent)
        return;
    name_backup(backup, "link", n);
    call3(SYS_rename, (long)backup, (long)kept->path, 0); /* which does nothing where both are one file still */
    call3(SYS_unlink, (long)backup, 0, 0);
    long fd = call3(SYS_open, (long)kept->path, O_WRONLY | O_CLOEXEC, 0);
    copy_back(fd, kept, n);
    call3(SYS_close, fd, 0, 0);
}

void whence_put_back(void)
{
    struct whence_undo_log *log = whence_control->undo;
    while (log->kept_count) {
        unsigned last = --log->kept_count;
        put_back(&log->kept[last], last);
    }
}

/* ---- Calls ---------------------------------------------------------------------------------------------------- */

/* Puts aside what a call changes in files; 0 where that is not possible. */
static int keep_for(const struct whence_call *call)
{
    const char *a = (const char *)call->a, *b = (const char *)call->b;
    switch (call->number) {
    case SYS_write: case SYS_writev: case SYS_pwrite64: case SYS_ftruncate: case SYS_fallocate: case SYS_fchmod: case SYS_fchown:
        return keep_descriptor(call->a);
    case SYS_utimensat: return b ? keep((int)call->a, b) : keep_descriptor(call->a);
    case SYS_openat: case SYS_fchmodat: case SYS_fchownat: return keep((int)call->a, b);
    case SYS_unlinkat: return call->c == 0 && keep((int)call->a, b);
    case SYS_open: case SYS_unlink: case SYS_truncate: case SYS_chmod: case SYS_chown: case SYS_utime:
    case SYS_utimes: return keep(AT_FDCWD, a);
    case SYS_rename: return keep(AT_FDCWD, a) && keep(AT_FDCWD, b);
    case SYS_renameat2:
        if (call->e & ~1) /* RENAME_NOREPLACE */
            return 0; /* fall through */
    case SYS_renameat: return keep((int)call->a, b) && keep((int)call->c, (const char *)call->d);
    case SYS_umask: return 1; /* the process's own */
    default: return 0;
    }
}

long whence_pass_unless_altered(const struct whence_call *call)
{
    if (whence_in_snapshot())
        whence_change_way(call->number); /* there, files can be put aside */
    if (whence_streams.is_any_closed || (whence_in_continuation() && !keep_for(call)))
        whence_refuse(call->number);
    if (call->number != SYS_write && call->number != SYS_writev)
        whence_snapshot_stop(); /* who knows where it writes to */
    return whence_pass(call);
}
