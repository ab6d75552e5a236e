/* The list of mappings that a program reads about itself (/proc/self/maps). The runtime's own mappings are in it, and
   snapshots split those of the subject, so what the program reads, and how often it goes round, would not be the same in
   two runs of one case. Programs look there for their stack (gnulib's c-stack), so that comes first here, whatever else
   there is; what the runtime keeps at places of its own is left out, and what is one mapping to the subject is one line. */
#define _GNU_SOURCE
#include "alter/calls.h"
#include "alter/mappings.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { TEXT = 256 << 10, ROUND = 16 << 10, DIGITS = 16 };

int whence_is_mappings(const char *path)
{
    return !strcmp(path, "/proc/self/maps");
}

static size_t read_all(char *text)
{
    long fd = whence_call(SYS_open, (long)"/proc/self/maps", O_RDONLY | O_CLOEXEC, 0, 0, 0, 0), got = 0;
    size_t used = 0;
    while (fd >= 0 && used < TEXT && (got = whence_call(SYS_read, fd, (long)(text + used), (long)(TEXT - used), 0, 0, 0)) > 0)
        used += (size_t)got;
    if (fd >= 0)
        whence_call(SYS_close, fd, 0, 0, 0, 0, 0);
    return used;
}

/* The session's, and the process's own stack where the subject has another one. */
static int is_own(const struct whence_mapping *line)
{
    static const char name[] = "[stack]\n";
    size_t length = sizeof name - 1;
    return (line->start >= (uintptr_t)INPUT_PLACE && line->start < (uintptr_t)END_OF_PLACES) ||
           (whence_control && whence_is_shortcut(line->start)) ||
           ((size_t)(line->stop - line->rest) > length && !memcmp(line->stop - length, name, length));
}

/* Whether both are parts of one mapping of no file, of which snapshots have protected some. */
static int is_one(const struct whence_mapping *a, const struct whence_mapping *b)
{
    static const char none[] = "00000000 00:00 0 ";
    size_t length = (size_t)(a->stop - a->rest);
    return a->end == b->start && a->rights[2] == '-' && b->rights[2] == '-' && !memcmp(a->rest, none, sizeof none - 1) &&
           length == (size_t)(b->stop - b->rest) && !memcmp(a->rest, b->rest, length);
}

static char *put_hex(char *at, uintptr_t value)
{
    char digits[DIGITS];
    int count = 0;
    do
        digits[count++] = "0123456789abcdef"[value % 16];
    while (value /= 16);
    while (count)
        *at++ = digits[--count];
    return at;
}

static void write_line(long fd, const struct whence_mapping *line, const char *rights, size_t length)
{
    char head[2 * DIGITS + 2], *at = put_hex(head, line->start);
    *at++ = '-';
    at = put_hex(at, line->end);
    *at++ = ' ';
    whence_call(SYS_write, fd, (long)head, at - head, 0, 0, 0);
    whence_call(SYS_write, fd, (long)rights, (long)length, 0, 0, 0);
}

/* Writes the line of the mapping that holds `stack`, which looks the same always, or all others. */
static void write_lines(long fd, const char *text, size_t length, uintptr_t stack, int is_first)
{
    static const char as_stack[] = "rw-p 00000000 00:00 0                          [stack]\n";
    struct whence_mapping line, next;
    const char *at = text, *end = text + length;
    int more = whence_next_mapping(&at, end, &line);
    while (more) {
        while ((more = whence_next_mapping(&at, end, &next)) && is_one(&line, &next))
            line.end = next.end;
        int holds = stack >= line.start && stack < line.end;
        if (holds && is_first)
            write_line(fd, &line, as_stack, sizeof as_stack - 1);
        else if (!holds && !is_first && !is_own(&line))
            write_line(fd, &line, line.rights, (size_t)(line.stop - line.rights));
        line = next;
    }
}

/* Blanks at the end of the last line, so that the list is as long in every run. */
static void fill(long fd)
{
    static const char blanks[] = "                                                               \n";
    long length = whence_call(SYS_lseek, fd, -1, SEEK_END, 0, 0, 0) + 1, left = ROUND - length % ROUND;
    for (; left >= (long)sizeof blanks; left -= (long)sizeof blanks - 2)
        whence_call(SYS_write, fd, (long)blanks, sizeof blanks - 2, 0, 0, 0);
    whence_call(SYS_write, fd, (long)(blanks + sizeof blanks - 2 - left), left + 1, 0, 0, 0);
}

long whence_open_mappings(uintptr_t stack)
{
    long fd = whence_call(SYS_memfd_create, (long)"maps", MFD_CLOEXEC, 0, 0, 0, 0);
    long text = whence_call(SYS_mmap, 0, TEXT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t length;
    if (fd < 0 || (text < 0 && text > -4096))
        return fd < 0 ? fd : text;
    length = read_all((char *)text);
    write_lines(fd, (char *)text, length, stack, 1);
    write_lines(fd, (char *)text, length, stack, 0);
    fill(fd);
    whence_call(SYS_lseek, fd, 0, SEEK_SET, 0, 0, 0);
    whence_call(SYS_munmap, text, TEXT, 0, 0, 0, 0);
    return fd;
}

int whence_calls_are_seen(void) { return whence_control && whence_control->file->mode < SESSION_APPLY; }

/* ---- Code in forked children ---------------------------------------------------------------------------------- */

static void write_as_it_is(const struct whence_mapping *line)
{
    volatile char *byte = (volatile char *)line->start;
    long length = (long)(line->end - line->start), rights = PROT_READ | (line->rights[2] == 'x' ? PROT_EXEC : 0);
    if (whence_call(SYS_mprotect, (long)line->start, length, rights | PROT_WRITE, 0, 0, 0) == 0) {
        *byte = *byte;
        whence_call(SYS_mprotect, (long)line->start, length, rights, 0, 0, 0);
    }
}

void whence_prepare_forks(void)
{
    struct whence_mapping line;
    long text = whence_call(SYS_mmap, 0, TEXT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (text < 0 && text > -4096)
        return;
    const char *at = (char *)text, *end = at + read_all((char *)text);
    while (whence_next_mapping(&at, end, &line)) {
        int is_code = !memcmp(line.rights, "r-xp", 4);
        if (is_code && memchr(line.rest, '/', (size_t)(line.stop - line.rest)))
            write_as_it_is(&line);
    }
    whence_call(SYS_munmap, text, TEXT, 0, 0, 0, 0);
}
