/* The trace file: hands out its chunks, and room in them.

   Threads run one at a time (schedule.h) and write into the same chunk; a record tells where another one goes on. Only some chunks
   are mapped at a time, at places that are taken at the start: so a long trace does not count against the subject's address
   space, and can go on when that is used up. The file is a shared mapping and survives whatever ends the process. A process
   that does not record writes to a scratch chunk over and over.

   A signal handler may come between any two instructions, and its records then follow what was claimed until then. Room is
   claimed by one instruction, whether it is there or not; all else happens while signals wait. What was claimed by
   code that is never gone back to stays zero, and readers pass over it. */
#define _GNU_SOURCE
#include "record/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define VERSION 5
#define CHUNK_HEADER_UNITS 8
#define VARIABLES 4000 /* addresses in one record */
#define TRACE_DESCRIPTOR 987 /* high, so that the subject's own descriptors keep their numbers */

extern const uint64_t __whence_fingerprint __attribute__((weak));
extern const char __whence_compact __attribute__((weak)); /* only what cannot be worked out is recorded (probe/recipes.py) */

__thread uint32_t *__whence_cursor __attribute__((tls_model("initial-exec")));
__thread uint32_t *__whence_end __attribute__((tls_model("initial-exec")));
int whence_scheduling;
__thread unsigned whence_thread;

struct whence_trace whence_trace = {.descriptor = -1};
static unsigned writer;      /* the thread whose records the chunk holds at its end */
static uint64_t used_before; /* chunks that an earlier run left in the file: they are cleared when taken */
static uint32_t scratch[CHUNK_UNITS];

void whence_defer_signals(sigset_t *mask)
{
    static const int kept[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    sigset_t deferred;
    sigfillset(&deferred);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        sigdelset(&deferred, kept[i]);
    pthread_sigmask(SIG_BLOCK, &deferred, mask);
}

char *whence_window(uint64_t number) { return whence_trace.windows + number % WINDOWS * CHUNK_BYTES; }

uint32_t *whence_use_scratch(uint64_t units)
{
    __whence_end = scratch + CHUNK_UNITS;
    __whence_cursor = scratch + units;
    return scratch;
}

static void stop_recording(uint64_t flag)
{
    if (whence_trace.header)
        atomic_fetch_or(&whence_trace.header[FLAGS], flag);
    whence_trace.header = NULL;
    if (whence_trace.ends_at_limit && flag == FLAG_LIMIT)
        kill(getpid(), SIGKILL);
}

/* Whether `units` lie between the cursor and the chunk's end. What was claimed beyond it, and left, has moved the cursor there. */
static int has_room(uint64_t units)
{
    const uint32_t *chunk = whence_trace.chunk;
    return chunk && __whence_cursor > chunk && __whence_cursor + units <= whence_trace.chunk_end;
}

static void close_chunk(void)
{
    if (has_room(0))
        ((uint64_t *)whence_trace.chunk)[2] = (uint64_t)(__whence_cursor - whence_trace.chunk);
    whence_trace.chunk = NULL;
}

int whence_open_trace(int create)
{
    int opened = open(whence_trace.path, O_RDWR | create | O_CLOEXEC, 0600);
    whence_trace.descriptor = fcntl(opened, F_DUPFD_CLOEXEC, TRACE_DESCRIPTOR);
    if (whence_trace.descriptor < 0)
        whence_trace.descriptor = opened;
    else
        close(opened);
    return whence_trace.descriptor;
}

/* A program that closes all descriptors closes this one too, and may open its own with that number. */
static int file_is_open(void)
{
    struct stat found;
    const struct stat *file = &whence_trace.file;
    if (!fstat(whence_trace.descriptor, &found) && found.st_ino == file->st_ino && found.st_dev == file->st_dev)
        return 1;
    return whence_open_trace(0) >= 0;
}

/* Maps the next chunk of the file, or null when the limit is reached or no room is left. */
static uint32_t *next_chunk(void)
{
    uint64_t number = atomic_fetch_add(&whence_trace.sequence, 1);
    uint64_t place = number, limit = whence_trace.header[LIMIT];
    if (number >= limit) {
        if (!(whence_trace.header[FLAGS] & FLAG_RING)) {
            stop_recording(FLAG_LIMIT);
            return NULL;
        }
        place = number % limit;
    }
    off_t offset = HEADER_BYTES + (off_t)(place * CHUNK_BYTES);
    if (!file_is_open() || (number < limit && posix_fallocate(whence_trace.descriptor, offset, CHUNK_BYTES) != 0)) {
        stop_recording(FLAG_FULL);
        return NULL;
    }
    uint64_t *mapped = (uint64_t *)whence_window(number);
    int flags = MAP_SHARED | MAP_FIXED | MAP_POPULATE;
    if (mmap(mapped, CHUNK_BYTES, PROT_READ | PROT_WRITE, flags, whence_trace.descriptor, offset) == MAP_FAILED) {
        stop_recording(FLAG_FULL);
        return NULL;
    }
    if (number >= limit || place < used_before) { /* a ring takes the oldest chunk again */
        *(volatile uint64_t *)mapped = 0;         /* what is cleared has no number, should the run be ended meanwhile */
        memset(mapped, 0, CHUNK_BYTES);
    }
    mapped[0] = number + 1;
    mapped[1] = writer = whence_thread;
    atomic_store(&whence_trace.header[CHUNKS], number + 1);
    return (uint32_t *)mapped;
}

/* Makes the cursor point to where `units` more and a change of thread have room; returns 0 where there is none. */
static int make_room(uint64_t units)
{
    if (has_room(units + 1))
        return 1;
    close_chunk();
    if (whence_trace.header)
        whence_trace.chunk = next_chunk();
    if (!whence_trace.chunk)
        return 0;
    whence_trace.chunk_end = whence_trace.chunk + CHUNK_UNITS - 1;
    __whence_cursor = whence_trace.chunk + CHUNK_HEADER_UNITS;
    return 1;
}

uint32_t *whence_take_room(uint64_t units)
{
    if (!make_room(units)) {
        if (units > CHUNK_UNITS)
            abort();
        return whence_use_scratch(units);
    }
    if (writer != whence_thread)
        *__whence_cursor++ = KIND_THREAD | (writer = whence_thread);
    uint32_t *place = __whence_cursor;
    __whence_cursor = place + units;
    return place;
}

/* As instrumented code does. */
static uint32_t *claim(uint64_t units)
{
    uint64_t before = units * sizeof *__whence_cursor;
    __asm__ volatile("xaddq %0, %1" : "+r"(before), "+m"(__whence_cursor) : : "cc");
    return (uint32_t *)before;
}

void whence_unclaim(uint64_t units, uint32_t *place)
{
    if (__whence_cursor == place + units)
        __whence_cursor = place;
}

uint32_t *whence_reserve(uint64_t units)
{
    uint32_t *place = claim(units);
    if (place + units <= __whence_end)
        return place;
    int saved = errno;
    sigset_t mask;
    whence_defer_signals(&mask);
    whence_unclaim(units, place);
    place = whence_take_room(units);
    if (whence_trace.chunk)
        __whence_end = whence_scheduling ? __whence_cursor : whence_trace.chunk_end;
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    errno = saved;
    return place;
}

void whence_note_start(unsigned thread)
{
    *whence_reserve(1) = KIND_START | thread;
}

void whence_note_threads(unsigned count)
{
    if (!whence_trace.header)
        return;
    atomic_fetch_or(&whence_trace.header[FLAGS], FLAG_THREADS);
    whence_trace.header[THREADS] = count;
}

/* Where the program's variables lie: for each module a table of their addresses, whose first word is their number. A trace
   begins with them, in effect records of no function. */
extern const uint64_t *const __whence_variables[] __attribute__((weak));
extern const uint64_t __whence_modules __attribute__((weak));

static void note_variables(void)
{
    const uint64_t modules = __whence_variables ? __whence_modules : 0;
    for (uint64_t module = 0; module < modules; module++)
        for (uint64_t done = 1; done <= __whence_variables[module][0]; done += VARIABLES) {
            uint64_t count = __whence_variables[module][0] - done + 1;
            count = count < VARIABLES ? count : VARIABLES;
            uint32_t *place = whence_reserve(2 + 2 * count);
            place[0] = KIND_EFFECT | (uint32_t)(2 + 2 * count);
            place[1] = 0;
            memcpy(place + 2, __whence_variables[module] + done, count * sizeof(uint64_t));
        }
    __whence_end = __whence_cursor; /* the next reservation begins a slice */
}

static size_t count_of(char **strings)
{
    size_t count = 0;
    while (strings && strings[count])
        count++;
    return count;
}

/* Appends where strings lie, and how long they are with their NULs. */
static void note_strings(char **strings, size_t count)
{
    for (size_t done = 0; done < count; done += VARIABLES) {
        const size_t here = count - done < VARIABLES ? count - done : VARIABLES;
        uint32_t *place = whence_reserve(2 + 4 * here);
        place[0] = KIND_EFFECT | (uint32_t)(2 + 4 * here);
        place[1] = GIVEN;
        for (size_t i = 0; i < here; i++) {
            const uint64_t words[] = {(uintptr_t)strings[done + i], strlen(strings[done + i]) + 1};
            memcpy(place + 2 + 4 * i, words, sizeof words);
        }
    }
}

void whence_note_stack(const void *lowest, uint64_t bytes)
{
    if (!whence_trace.header)
        return;
    whence_trace.header[STACK_LOWEST] = (uintptr_t)lowest;
    whence_trace.header[STACK_ROOM] = bytes;
}

void whence_note_given(char **arguments, char **variables)
{
    if (!whence_trace.header)
        return;
    const uint64_t arrays[] = {(uintptr_t)arguments, count_of(arguments), (uintptr_t)variables, count_of(variables)};
    uint32_t *place = whence_reserve(2 + 2 * 4);
    place[0] = KIND_EFFECT | (2 + 2 * 4);
    place[1] = GIVEN;
    memcpy(place + 2, arrays, sizeof arrays);
    note_strings(arguments, arrays[1]);
    note_strings(variables, arrays[3]);
    __whence_end = __whence_cursor;
}

int whence_trace_start(uint64_t limit, int is_ring)
{
    if (whence_open_trace(O_CREAT) < 0)
        return -1;
    uint64_t chunks = limit / CHUNK_BYTES ? limit / CHUNK_BYTES : 1;
    chunks += is_ring ? 1 : 0; /* the chunk that is written holds little when a run ends just after it was begun */
    /* The whole size at once: later growth would count against the subject's own limit on file sizes. */
    if (ftruncate(whence_trace.descriptor, (off_t)(HEADER_BYTES + chunks * CHUNK_BYTES)) != 0)
        return -1;
    /* Out of the way, as a session's own memory is: the subject's large blocks lie where they do in altered runs. */
    void *page = mmap(TRACE_PLACE, HEADER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, whence_trace.descriptor, 0);
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    whence_trace.windows = mmap(WINDOWS_PLACE, WINDOWS * CHUNK_BYTES, PROT_NONE, flags, -1, 0);
    if (page == MAP_FAILED || whence_trace.windows == MAP_FAILED || fstat(whence_trace.descriptor, &whence_trace.file))
        return -1;
    _Atomic uint64_t *words = page;
    /* A file that is recorded into again keeps its pages, which are far cheaper to take than fresh ones. */
    used_before = words[USED] < words[CHUNKS] ? words[CHUNKS] : words[USED];
    used_before = used_before < chunks ? used_before : chunks;
    memset(page, 0, HEADER_BYTES);
    words[USED] = used_before;
    memcpy(page, "WHNCTRC1", 8);
    words[FORMAT] = VERSION | CHUNK_UNITS << 32;
    words[LIMIT] = chunks;
    words[FLAGS] = (is_ring ? FLAG_RING : 0) | (&__whence_compact ? FLAG_COMPACT : 0);
    words[FINGERPRINT] = &__whence_fingerprint ? __whence_fingerprint : 0;
    whence_trace.sequence = 0;
    whence_trace.header = words;
    whence_trace.chunk = NULL;
    writer = 0;
    __whence_cursor = __whence_end = NULL; /* the first reservation takes the first chunk */
    note_variables();
    return 0;
}
