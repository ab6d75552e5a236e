/* Files that the case compares, as a run leaves them. What a continuation writes lies in the working folder until it is
   put back (backups.c), so at its end its files are there to be read. */
#define _GNU_SOURCE
#include "alter/control.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { BLOCK = 16 << 10, NO_FILE = -1, NOT_KNOWN = -2 };

static long call3(long number, long a, long b, long c) { return whence_call(number, a, b, c, 0, 0, 0); }

/* A descriptor of the file; NO_FILE, or NOT_KNOWN where the run has used up what it takes to look. */
static long open_file(const struct whence_compared *file)
{
    struct stat about;
    long fd = call3(SYS_open, (long)FILE_AT(file->name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
    if (fd == -EMFILE || fd == -ENFILE || fd == -ENOMEM)
        return NOT_KNOWN;
    if (fd >= 0 && (call3(SYS_fstat, fd, (long)&about, 0) || !S_ISREG(about.st_mode))) {
        call3(SYS_close, fd, 0, 0);
        return NO_FILE;
    }
    return fd < 0 ? NO_FILE : fd;
}

/* Where the content first differs from what is right. */
static uint64_t differs_at(long fd, const char *right, uint64_t length)
{
    char block[BLOCK];
    uint64_t at = 0;
    long got;
    while ((got = call3(SYS_read, fd, (long)block, BLOCK)) > 0) {
        uint64_t compared = length - at < (uint64_t)got ? length - at : (uint64_t)got;
        if (memcmp(block, right + at, compared)) {
            for (long i = 0; block[i] == right[at]; i++)
                at++;
            return at;
        }
        at += compared;
        if (compared < (uint64_t)got)
            return at;
    }
    return at < length ? at : WHENCE_NOWHERE;
}

/* Where the file that has this descriptor, or none, is first wrong. */
static uint64_t wrong_at(const struct whence_compared *file, long fd)
{
    if (fd == NO_FILE || file->length == WHENCE_NOWHERE)
        return (fd == NO_FILE) == (file->length == WHENCE_NOWHERE) ? WHENCE_NOWHERE : 0;
    return differs_at(fd, FILE_AT(file->content), file->length);
}

int whence_compare_files(uint64_t *place)
{
    const struct whence_session *session = whence_control->file;
    const struct whence_compared *files = FILE_AT(session->compared);
    uint64_t before = session->expected_length, at = WHENCE_NOWHERE;
    for (uint64_t i = 0; at == WHENCE_NOWHERE && (session->flags & JUDGE_FILES) && i < session->compared_count; i++) {
        long fd = open_file(&files[i]);
        if (fd == NOT_KNOWN)
            return 0;
        at = wrong_at(&files[i], fd);
        if (fd >= 0)
            call3(SYS_close, fd, 0, 0);
        *place = at == WHENCE_NOWHERE ? at : before + at;
        before += files[i].length == WHENCE_NOWHERE ? 0 : files[i].length;
    }
    return 1;
}

/* ---- Keeping -------------------------------------------------------------------------------------------------- */

/* How many bytes of the file found room, or NOWHERE where it has more. */
static uint64_t keep_content(long fd, char *target, uint64_t room)
{
    uint64_t length = 0;
    long got;
    while ((got = call3(SYS_read, fd, (long)(target + length), (long)(room - length))) > 0)
        length += (uint64_t)got;
    char more;
    return room == length && call3(SYS_read, fd, (long)&more, 1) > 0 ? WHENCE_NOWHERE : length;
}

static int keep_file(const struct whence_compared *file)
{
    struct whence_session *session = whence_control->file;
    char *target = FILE_AT(session->outputs + session->outputs_used);
    uint64_t room = session->outputs_limit - session->outputs_used, length = WHENCE_NOWHERE, kept = 0;
    long fd = room < sizeof length ? NOT_KNOWN : open_file(file);
    if (fd == NOT_KNOWN)
        return 0;
    if (fd >= 0) {
        length = kept = keep_content(fd, target + sizeof length, room - sizeof length);
        call3(SYS_close, fd, 0, 0);
        if (length == WHENCE_NOWHERE)
            return 0;
    }
    memcpy(target, &length, sizeof length);
    session->outputs_used += sizeof length + kept;
    return 1;
}

int whence_keep_files(void)
{
    const struct whence_compared *files = FILE_AT(whence_control->file->compared);
    for (uint64_t i = 0; i < whence_control->file->compared_count; i++) {
        if (!keep_file(&files[i]))
            return 0;
    }
    return 1;
}
