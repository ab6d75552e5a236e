/* Suppression of instances and of all that depends on them: the points at which it starts, the shadow of memory, and what
   library calls do to it. */
#define _GNU_SOURCE
#include "suppress/suppress.h"

#include "base/base.h"
#include "record/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- The file of points: alter/suppression.py writes it ----------------------------------------------------------- */

/* The instance of a block in a thread (from 0) and how many from it on, and which of its definitions; `ranges` are what a library
   call wrote there. */
struct point {
    uint32_t block, index;
    uint64_t instance;
    uint32_t first_range, ranges;
    uint64_t reached, count, thread;
};

struct range {
    uint64_t address, length;
};

enum { PAGE = 4096, LINES = 256 };

/* How many processes with a command line there have been. */
struct line {
    _Atomic uint64_t hash, count;
};

/* A page, which all processes of a command share; in what follows each has counts of its own. Behind the points come the ranges, then
   the places of locals that are laid out anew. */
struct points {
    char magic[8];
    uint64_t count, ranges, places, guards;
    uint64_t nowhere, overwritten; /* answers: where suppressed accesses go; the first byte of a guard that was written over */
    struct whence_process process; /* the one that is meant; `line` 0: each */
    char unused[PAGE - 7 * 8 - sizeof(struct whence_process)];
    struct line lines[LINES];
    struct point at[];
};

static struct points *points;
static struct points *shared; /* its first pages, as all processes have them */
static const struct range *ranges;
static const char magic[8] = "WHNCSUPP";

/* Whether the points count in this process: it is the one that is meant, or has not yet forked the one that leads there. */
static int is_meant;
static uint64_t depth, forks; /* forked processes up to this one on the way to that; its own forks */

/* A byte for each block: whether a point lies in it. */
extern uint8_t __whence_points[] __attribute__((weak));

/* Where the locals lie in the areas of their functions, in a program whose variables can be laid out anew. */
extern uint64_t __whence_places[] __attribute__((weak));

/* What suppressed accesses go to. */
__attribute__((aligned(16))) char __whence_nowhere[4096];
__thread uint8_t __whence_argument_taint[64];
__thread uint8_t __whence_result_taint;

/* ---- The shadow --------------------------------------------------------------------------------------------------- */

#define TURNED UINT64_C(0x500000000000) /* also in probe/suppress_hooks.py */

/* Shadows of the executable and the heap behind it, of libraries, mappings and stacks, and of what lies low. */
static const struct range places[] = {
    {0x055000000000, UINT64_C(0x3000000000)},
    {0x200000000000, UINT64_C(0x100000000000)},
    {0x500000000000, UINT64_C(0x100000000)},
};

static uint8_t *shadow(const void *address) { return (uint8_t *)((uintptr_t)address ^ TURNED); }

int whence_tainted(const void *address, uint64_t length)
{
    const uint8_t *at = shadow(address);
    for (uint64_t i = 0; i < length; i++) {
        if (at[i])
            return 1;
    }
    return 0;
}

void whence_mark(void *address, uint64_t length, int taint) { memset(shadow(address), taint ? 0xFF : 0, length); }

void whence_mark_copy(void *to, const void *from, uint64_t length) { memmove(shadow(to), shadow(from), length); }

/* ---- Opening ------------------------------------------------------------------------------------------------------ */

/* Before any constructor of the program, whose code has taints as well. */
__attribute__((constructor(101), used)) static void map_shadow(void)
{
    for (size_t i = 0; __whence_points && i < sizeof places / sizeof *places; i++) {
        if (!whence_map_at((void *)places[i].address, places[i].length, MAP_PRIVATE, -1))
            _exit(WHENCE_START_FAILED);
    }
}

static struct points *map_points(const char *path)
{
    struct stat about;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    struct points *found = fstat(fd, &about) ? NULL : whence_map_at(FILE_PLACE, (size_t)about.st_size, MAP_PRIVATE, fd);
    shared = found ? mmap(NULL, sizeof *found, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    close(fd);
    if (shared == MAP_FAILED)
        return NULL;
    if (memcmp(found->magic, magic, sizeof magic)) {
        munmap(found, (size_t)about.st_size);
        munmap(shared, sizeof *found);
        errno = 0; /* another session's */
        found = NULL;
    }
    return found;
}

/* The number, from 0 on, of the calling process among those with the same command line. */
static uint64_t number_in_line(uint64_t hash)
{
    for (size_t i = 0; i < LINES; i++) {
        struct line *line = &shared->lines[(hash + i) % LINES];
        uint64_t found = 0;
        if (atomic_compare_exchange_strong(&line->hash, &found, hash) || found == hash)
            return atomic_fetch_add(&line->count, 1);
    }
    return UINT64_MAX; /* of too many command lines to tell which */
}

static void on_fork(void) { forks++; }

/* The one of the two that the process which is meant does not come of has no more points. */
static void after_fork(int is_on_way)
{
    int leads_on = depth < points->process.depth && points->process.forks[depth] == forks;
    is_meant = is_meant && (is_on_way ? leads_on : !leads_on);
}

static void after_fork_in_parent(void) { after_fork(0); }

static void after_fork_in_child(void)
{
    after_fork(1);
    whence_note_fork(forks);
    depth++;
    forks = 0;
}

/* Which of a command's processes this is, and whether it is the one that the points are for. */
static void begin_process(void)
{
    struct whence_process *own = whence_note_process();
    own->number = number_in_line(own->line);
    is_meant = own->line == points->process.line && own->number == points->process.number;
    pthread_atfork(on_fork, after_fork_in_parent, after_fork_in_child);
}

size_t whence_suppression_open(const char *text, int is_command)
{
    size_t size = 0;
    struct points *found = __whence_points ? map_points(text) : NULL;
    if (!found)
        return 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        size += places[i].length;
    points = found;
    is_meant = 1;
    shared->nowhere = (uintptr_t)__whence_nowhere;
    ranges = (const struct range *)(found->at + found->count);
    if (is_command)
        begin_process();
    for (uint64_t i = 0; is_meant && i < found->count; i++)
        __whence_points[found->at[i].block] = 1;
    if (__whence_places)
        memcpy(__whence_places, ranges + found->ranges, sizeof *__whence_places * found->places);
    if (is_meant && found->guards && whence_guards_start(&shared->overwritten))
        return 0;
    return size + 2 * sizeof *found;
}

/* ---- Points ------------------------------------------------------------------------------------------------------- */

/* The definitions of the block that starts now with which suppression starts: a bit for each of 64 from 64 * `word` on. The
   instance is counted with word 0, in the points themselves. */
uint64_t whence_suppression_at(uint32_t block, uint32_t word)
{
    uint64_t found = 0;
    for (uint64_t i = 0; is_meant && i < points->count; i++) {
        struct point *point = &points->at[i];
        if (point->block != block || point->thread != whence_thread)
            continue;
        uint64_t at = word ? point->reached - 1 : point->reached++;
        if (at - point->instance < point->count && point->index / 64 == word)
            found |= UINT64_C(1) << point->index % 64;
    }
    return found;
}

uint8_t whence_take_argument(unsigned number)
{
    uint8_t taint = __whence_argument_taint[number];
    __whence_argument_taint[number] = 0;
    return taint;
}

void whence_give_argument(unsigned number, uint8_t taint) { __whence_argument_taint[number] = taint; }

/* Stands in the place of a function whose call is suppressed. */
void whence_nothing(void);
void whence_nothing(void) {}

/* A suppressed call of a library function: what it wrote in the run before is suppressed, and what it would have written
   at `to` as far as that is known (`length` 0: text). */
void whence_call_suppressed(uint32_t block, uint32_t index, char *to, uint64_t length)
{
    for (uint64_t i = 0; is_meant && i < points->count; i++) {
        const struct point *point = &points->at[i];
        if (point->block != block || point->index != index || point->thread != whence_thread)
            continue;
        if (point->reached != point->instance + 1 || !point->ranges)
            continue;
        const struct range *first = ranges + point->first_range;
        uint64_t moved = to ? (uintptr_t)to - first->address : 0; /* variables may have been laid out anew */
        for (uint32_t k = 0; k < point->ranges; k++)
            whence_mark((void *)(first[k].address + moved), first[k].length, 1);
        to = NULL;
    }
    if (to)
        whence_mark(to, length ? length : strnlen(to, 4096) + 1, 1);
}

/* ---- Library calls ------------------------------------------------------------------------------------------------ */

/* Whether the byte at an address can be read: the kernel looks there before it refuses what is asked. */
static int is_readable(const char *address)
{
    int before = errno;
    syscall(SYS_rt_sigprocmask, -1, (uintptr_t)address & ~(uintptr_t)7, NULL, sizeof(uint64_t));
    int found = errno != EFAULT;
    errno = before;
    return found;
}

/* Whether text has a suppressed byte, up to its end. What cannot be read is left to the call that is given it: the run
   ends there, with the pointer recorded. */
int whence_text_tainted(const char *text)
{
    if (!points || !points->count)
        return 0;
    for (size_t i = 0; text && i < 65536; i++) {
        if ((i == 0 || (uintptr_t)(text + i) % PAGE == 0) && !is_readable(text + i))
            return 0;
        if (*shadow(text + i))
            return 1;
        if (!text[i])
            break;
    }
    return 0;
}

/* Operation codes as in record/record.h, which stands above. */
enum { READ = 1, WRITE, COPY, ALLOC, FREE, STATE = 9 };

static int words_of(unsigned operation) { return operation == COPY ? 3 : operation == STATE ? 1 : 2; }

static uint64_t word_at(const uint32_t *units) { return units[0] | (uint64_t)units[1] << 32; }

void whence_suppression_effect(const uint32_t *units, size_t count)
{
    int taint = 0;
    for (int writing = 0; points && writing < 2; writing++) {
        for (size_t i = 0; i + 2 < count;) {
            unsigned operation = units[i] & 0xFF;
            uint64_t x = word_at(units + i + 2), y = operation == STATE ? 0 : word_at(units + i + 4);
            if (!writing && operation == READ)
                taint |= whence_tainted((void *)x, y);
            else if (writing && operation == COPY)
                whence_mark_copy((void *)x, (void *)y, word_at(units + i + 6));
            else if (writing && (operation == WRITE || operation == ALLOC))
                whence_mark((void *)x, y, operation == WRITE && taint);
            i += 2 + 2 * (size_t)words_of(operation);
        }
    }
    __whence_result_taint |= (uint8_t)taint;
}
