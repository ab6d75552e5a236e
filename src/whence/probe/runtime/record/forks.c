/* Forked processes of a recorded run: where the case is a command, each has a trace of its own, which begins with what its
   parent had done. */
#define _GNU_SOURCE
#include "record/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#define FOLLOWED 128ull /* chunks; a forked child whose parent has written more is not recorded */

enum { NAMES = 2048 }; /* byte of the header from which on the executable and the arguments stand, where asked for */

/* A child's trace is a copy of its parent's, which goes on from there. A ring may be written over meanwhile. */
static int can_follow(void)
{
    return whence_trace.header && whence_trace.is_in_folder && !whence_scheduling && whence_trace.sequence <= FOLLOWED &&
           !(whence_trace.header[FLAGS] & FLAG_RING);
}

static sigset_t before_fork;

/* A handler in the child must not write to the parent's file. */
static void on_fork(void)
{
    whence_defer_signals(&before_fork);
    if (whence_trace.header && !can_follow())
        atomic_fetch_or(&whence_trace.header[FLAGS], FLAG_CHILD);
}

static void after_fork(void) { pthread_sigmask(SIG_SETMASK, &before_fork, NULL); }

static int copy_bytes(int from, off_t offset, size_t length)
{
    if (lseek(whence_trace.descriptor, offset, SEEK_SET) != offset)
        return 0;
    while (length) {
        ssize_t done = sendfile(whence_trace.descriptor, from, &offset, length);
        if (done <= 0)
            return 0;
        length -= (size_t)done;
    }
    return 1;
}

static int map_file(void *place, off_t offset, size_t length)
{
    int flags = MAP_SHARED | MAP_FIXED;
    return mmap(place, length, PROT_READ | PROT_WRITE, flags, whence_trace.descriptor, offset) != MAP_FAILED;
}

/* Names the file after this process; the end of the name is its number. */
static void name_own_file(void)
{
    char *number = strrchr(whence_trace.path, '/') + 1;
    snprintf(number, sizeof whence_trace.path - (size_t)(number - whence_trace.path), "%ld", (long)getpid());
}

/* What the parent writes after the fork stands behind the cursor of its last chunk, and in further chunks. */
static int copy_trace(void)
{
    int parent = whence_trace.descriptor;
    uint64_t chunks = whence_trace.sequence, last = chunks ? chunks - 1 : 0;
    size_t length = HEADER_BYTES + chunks * CHUNK_BYTES;
    off_t size = (off_t)(HEADER_BYTES + whence_trace.header[LIMIT] * CHUNK_BYTES);
    char *window = whence_window(last);
    name_own_file();
    if (whence_open_trace(O_CREAT) < 0 || ftruncate(whence_trace.descriptor, size) || !copy_bytes(parent, 0, length) ||
        fstat(whence_trace.descriptor, &whence_trace.file))
        return 0;
    if (!map_file((void *)whence_trace.header, 0, HEADER_BYTES) ||
        (chunks && !map_file(window, (off_t)(HEADER_BYTES + last * CHUNK_BYTES), CHUNK_BYTES)))
        return 0;
    close(parent);
    if (whence_trace.chunk && __whence_cursor) {
        ((uint64_t *)whence_trace.chunk)[2] = 0;
        memset(__whence_cursor, 0, (size_t)((char *)(whence_trace.chunk + CHUNK_UNITS) - (char *)__whence_cursor));
    }
    whence_trace.header[CHUNKS] = chunks;
    whence_trace.header[END_KIND] = 0;
    atomic_fetch_or(&whence_trace.header[FLAGS], FLAG_FORKED);
    return 1;
}

/* Without a file of its own a child must not write: it shares the mapping with its parent. */
static void on_fork_in_child(void)
{
    int saved = errno;
    if (whence_trace.header && !(can_follow() && copy_trace())) {
        whence_trace.header = NULL;
        whence_trace.chunk = NULL;
        whence_use_scratch(0);
    }
    after_fork();
    errno = saved;
}

/* What tells one of a command's processes from the others: its executable, then its arguments, each ended by a NUL. */
void whence_note_names(void)
{
    char *names = (char *)whence_trace.header + NAMES;
    ssize_t length = readlink("/proc/self/exe", names, (HEADER_BYTES - NAMES) / 2);
    int opened = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    names += length > 0 ? length + 1 : 1;
    if (opened >= 0 && read(opened, names, (size_t)((char *)whence_trace.header + HEADER_BYTES - 1 - names)) < 0)
        *names = 0;
    close(opened);
}

struct whence_process *whence_note_process(void)
{
    struct whence_process *process = (struct whence_process *)(whence_trace.header + PROCESS);
    const unsigned char *names = (const unsigned char *)whence_trace.header;
    uint64_t hash = UINT64_C(0xCBF29CE484222325); /* FNV-1a */
    for (size_t i = NAMES; i < HEADER_BYTES; i++)
        hash = (hash ^ names[i]) * UINT64_C(0x100000001B3);
    process->line = hash ? hash : 1;
    return process;
}

void whence_note_fork(uint64_t number)
{
    struct whence_process *process = (struct whence_process *)(whence_trace.header + PROCESS);
    if (!whence_trace.header)
        return;
    if (process->depth < sizeof process->forks / sizeof *process->forks)
        process->forks[process->depth] = number;
    process->depth++;
}

void whence_follow_forks(void) { pthread_atfork(on_fork, after_fork, on_fork_in_child); }
