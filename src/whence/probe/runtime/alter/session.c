/* A session: one run of a case that goes back to its points of change.

   The unaltered run stops where a continuation makes its first change; each such continuation then goes on from there
   until it ends (continuation.c), and the run is back at the point. The session's own data lies in memory that is shared,
   or never part of a snapshot. */
#define _GNU_SOURCE
#include "alter/calls.h"
#include "alter/mappings.h"
#include "alter/session.h"
#include "alter/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

enum { ABOVE_MAIN = 1024 }; /* bytes of the C library's frames */

static struct {
    int (*entry)(int, char **, char **);
    int argc;
    char **argv, **envp;
} program;

/* ---- Opening -------------------------------------------------------------------------------------------------- */

static struct whence_session *map_file(const char *path, size_t *size)
{
    struct stat about;
    struct whence_session *file = NULL;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd >= 0 && !fstat(fd, &about))
        file = whence_map_at(FILE_PLACE, *size = (size_t)about.st_size, MAP_SHARED, fd);
    if (fd >= 0)
        close(fd);
    return file;
}

/* Bytes of address space, or 0. */
static size_t map_own(struct whence_session *file)
{
    size_t reserved = file->way == WAY_FORK ? 1 : whence_snapshot_reserve();
    whence_control = whence_map_at(OWN_PLACE, sizeof *whence_control, MAP_PRIVATE, -1);
    if (!whence_control || !reserved)
        return 0;
    whence_control->file = file;
    whence_control->undo = whence_map_at(UNDO_PLACE, sizeof *whence_control->undo, MAP_SHARED, -1);
    whence_control->capture[0] = file->capture ? whence_map_at(CAPTURE_PLACE, 2 * file->capture, MAP_PRIVATE, -1) : NULL;
    whence_control->capture[1] = whence_control->capture[0] + file->capture;
    if (!whence_control->undo || (file->capture && !whence_control->capture[0]))
        return 0;
    return reserved + sizeof *whence_control + sizeof *whence_control->undo + 2 * file->capture;
}

size_t whence_session_open(const char *text)
{
    char path[4096];
    const char *colon = strrchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : strlen(text), size = 0;
    if (length >= sizeof path) {
        errno = ENAMETOOLONG;
        return 0;
    }
    memcpy(path, text, length);
    path[length] = 0;
    struct whence_session *file = map_file(path, &size);
    size_t own = file ? map_own(file) : 0;
    if (!own)
        return 0;
    if (length > KEPT_PATH)
        return 0;
    strcpy(whence_control->name, path);
    whence_control->index = colon ? strtoull(colon + 1, NULL, 10) : 0;
    if (whence_close_places())
        return 0;
    return size + own + STACK_BYTES;
}

/* ---- Points --------------------------------------------------------------------------------------------------- */

/* The first place in the order at (clock, site) or later. */
static uint64_t first_at(uint64_t clock, uint32_t site)
{
    const struct whence_session *file = whence_control->file;
    const struct whence_place *order = FILE_AT(file->order);
    uint64_t low = 0, high = file->order_count;
    while (low < high) {
        uint64_t middle = (low + high) / 2;
        if (order[middle].clock < clock || (order[middle].clock == clock && order[middle].site < site))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Runs the continuations that make a change at (clock, site) and have made none before; `clock` as in changes. */
static void run_from(uint64_t clock, const struct whence_point *point)
{
    struct whence_session *file = whence_control->file;
    const struct whence_place *order = FILE_AT(file->order);
    for (uint64_t at = first_at(clock, point->site); at < file->order_count && !file->stop; at++) {
        if (order[at].clock != clock || order[at].site != point->site)
            return;
        if (whence_result_of(order[at].continuation)->verdict == VERDICT_NOT_RUN)
            whence_run_one(order[at].continuation, point);
    }
}

static void observe(const struct whence_point *point)
{
    struct whence_session *file = whence_control->file;
    struct whence_event *events = FILE_AT(file->events);
    if (file->events_count == file->events_limit)
        whence_observe_firsts(file);
    if (file->events_count < file->events_limit + file->events_more)
        events[file->events_count] = (struct whence_event){point->clock - 1, point->is_call ? 0 : point->value, point->site,
                                                           (uint32_t)whence_state.is_first};
    file->events_count++;
}

static void search(const struct whence_point *point)
{
    struct whence_session *file = whence_control->file;
    whence_allow(0);
    whence_control->time = (uint64_t)whence_now_us();
    whence_control->has_snapshot = 0;
    run_from(point->clock - 1, point);
    if (file->block_count)
        run_from(WHENCE_EVERY, point);
    if (file->stop || file->done >= file->continuations)
        whence_exit_now(0);
    whence_allow(file->unaltered_patience);
}

uint64_t whence_visit(const struct whence_point *point)
{
    if (whence_state.doing == DOING_OBSERVE)
        observe(point);
    else
        search(point);
    return point->value;
}

uint64_t whence_next_stop(uint64_t clock)
{
    const struct whence_session *file = whence_control->file;
    const uint64_t *stops = FILE_AT(file->stops);
    while (whence_control->next_stop < file->stop_count && stops[whence_control->next_stop] + 1 <= clock)
        whence_control->next_stop++;
    uint64_t ticks = file->endless ? file->endless : file->budget, end = ticks ? ticks + 1 : UINT64_MAX;
    uint64_t next = whence_control->next_stop < file->stop_count ? stops[whence_control->next_stop] + 1 : UINT64_MAX;
    return next < end ? next : end;
}

/* ---- Running -------------------------------------------------------------------------------------------------- */

static void run_subject(void)
{
    whence_fill_stack();
    __whence_lib_exit(program.entry(program.argc, program.argv, program.envp));
}

static void start_search(void)
{
    const struct whence_session *file = whence_control->file;
    const uint32_t *blocks = FILE_AT(file->blocks);
    whence_state.doing = DOING_SEARCH;
    whence_state.is_armed = file->block_count != 0;
    for (uint64_t i = 0; i < file->block_count; i++)
        __whence_armed[blocks[i]] = 1;
    __whence_stop = whence_next_stop(0);
}

/* As the program runs by itself. */
static void begin_whole(char *stack) __attribute__((noreturn));
static void begin_whole(char *stack)
{
    if (!(whence_control->file->flags & HAS_THREADS)) /* each would need one of its own */
        whence_hook_stack = HOOK_STACK_START;
    if (whence_control->file->mode == SESSION_APPLY)
        whence_apply();
    else
        whence_watch();
    whence_call_on(stack, run_subject);
}

static void begin_session(char *stack) __attribute__((noreturn));
static void begin_session(char *stack)
{
    struct whence_session *file = whence_control->file;
    struct itimerval ticks = {{0, TICK_MS * 1000}, {0, TICK_MS * 1000}};
    whence_hook_stack = HOOK_STACK_START;
    if (file->mode == SESSION_OBSERVE)
        whence_begin_observing(file->endless);
    else
        start_search();
    whence_allow(file->unaltered_patience);
    whence_exits_start();
    if (file->way == WAY_FORK)
        whence_prepare_forks();
    if (whence_calls_start()) {
        file->refusal = SYS_prctl + 1;
        _exit(0);
    }
    /* Not before what a tick calls is there: where a tick passes until then, its signal ends the process. */
    whence_call(SYS_setitimer, ITIMER_REAL, (long)&ticks, 0, 0, 0, 0);
    whence_call_on(stack, run_subject);
}

static size_t room_of(char **strings)
{
    size_t room = sizeof *strings;
    for (; *strings; strings++)
        room += sizeof *strings + strlen(*strings) + 1;
    return room;
}

/* Returns where the stack starts. A program's own has arguments, environment and the C library's frames above that of
   main: what writes over the end of main's frame must find as much room here. */
static char *prepare(int (*entry)(int, char **, char **), int argc, char **argv, char **envp)
{
    if (!whence_map_at(STACK_PLACE, STACK_BYTES, MAP_PRIVATE, -1))
        _exit(WHENCE_START_FAILED);
    program.entry = entry, program.argc = argc, program.argv = argv, program.envp = envp;
    size_t room = room_of(argv) + room_of(envp) + ABOVE_MAIN;
    return STACK_START - (room < STACK_BYTES / 2 ? room / 16 * 16 : STACK_BYTES / 2);
}

void whence_run_as_session(int (*entry)(int, char **, char **), int argc, char **argv, char **envp)
{
    whence_call_on(prepare(entry, argc, argv, envp), run_subject);
}

void whence_session_run(int (*entry)(int, char **, char **), int argc, char **argv, char **envp)
{
    char *stack = prepare(entry, argc, argv, envp);
    if (whence_control->file->mode >= SESSION_APPLY)
        begin_whole(stack);
    begin_session(stack);
}
