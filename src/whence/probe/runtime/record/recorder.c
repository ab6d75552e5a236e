/* The recorder: starts a trace, and gives instrumented code room in it.

   The instrumented code reserves words by moving a cursor (see `reserve` in probe/record.py) and calls whence_refill when a
   slice or a chunk is full. */
#define _GNU_SOURCE
#include "record/record.h"
#include "record/schedule.h"
#include "record/trace.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

/* Called by instrumented code when its slice cannot take the `bytes` that it has claimed at `claimed`: returns where they go. */
uint32_t *whence_refill(uint64_t bytes, uint32_t *claimed)
{
    int saved = errno;
    sigset_t mask;
    whence_defer_signals(&mask);
    whence_unclaim(bytes / sizeof *claimed, claimed);
    if (whence_is_collecting()) /* others would collect on top of that, and not be done when this thread goes on */
        whence_hold_baton();
    else if (whence_trace.header || whence_scheduling)
        whence_end_slice();
    uint32_t *place = whence_take_room(bytes / sizeof *place);
    if (whence_trace.chunk)
        __whence_end = whence_slice(__whence_cursor, whence_trace.chunk_end);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    errno = saved;
    return place;
}

/* Keeps the path; returns 0 where it is too long. */
static int absolute_path(const char *path)
{
    char folder[2048] = "";
    if (*path != '/' && !getcwd(folder, sizeof folder))
        return 0;
    errno = ENAMETOOLONG;
    int length = snprintf(whence_trace.path, sizeof whence_trace.path, "%s%s%s", folder, *folder ? "/" : "", path);
    return length < (int)sizeof whence_trace.path;
}

int whence_schedule_start(const char *path)
{
    if (whence_schedule_open(path))
        return -1;
    whence_threads_start();
    return 0;
}

int whence_record_start(const char *path, uint64_t limit, enum whence_keep keep)
{
    if (!absolute_path(path) || whence_trace_start(limit, keep == WHENCE_KEEP_LAST))
        return -1;
    whence_trace.ends_at_limit = keep == WHENCE_END_AT_LIMIT;
    if (!whence_is_scheduled())
        whence_threads_start();
    whence_note_endings();
    whence_follow_forks();
    return 0;
}

int whence_record_in_folder(const char *folder, uint64_t limit, enum whence_keep keep)
{
    char path[sizeof whence_trace.path];
    snprintf(path, sizeof path, "%s%ld", folder, (long)getpid());
    if (whence_record_start(path, limit, keep))
        return -1;
    whence_trace.is_in_folder = 1;
    whence_note_names();
    return 0;
}
