/* In-process snapshots of the subject's memory.

   All writable private memory is write-protected. The first write to a page copies it and lets the page be written to
   from then on: it is *hot*. A snapshot copies the hot pages, and going back restores them; the other pages are
   protected, so they are still as they were. Runs write to the same few pages again and again, so after the first
   continuations going back costs no fault, only the copying of some pages. */
#define _GNU_SOURCE
#include "alter/session.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum {
    PAGE = 4096,
    HOT_MAX = 8192,         /* pages: 32 MiB */
    TABLE = 4 * HOT_MAX,    /* a power of two */
    REGIONS_MAX = 512,
    COOL_ABOVE = 48,        /* hot pages above which they are all protected again ... */
    COOL_EVERY = 256        /* ... after so many snapshots */
};

struct region {
    uintptr_t start, end;
};

struct whence_memory {
    int is_on, is_stale; /* stale: the mappings have changed, protection has to start anew */
    unsigned regions, hot, since_cooling;
    struct region region[REGIONS_MAX];
    uintptr_t page[HOT_MAX];
    uint32_t table[TABLE]; /* open addressing: place of a hot page + 1 */
    char text[1 << 16];    /* of the list of mappings */
    char copy[HOT_MAX][PAGE] __attribute__((aligned(PAGE)));
};
#define shot (whence_places.shot)

size_t whence_snapshot_reserve(void)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    shot = mmap(SHOT_PLACE, sizeof *shot, PROT_READ | PROT_WRITE, flags, -1, 0);
    return shot == MAP_FAILED ? 0 : sizeof *shot;
}

/* ---- The list of mappings ------------------------------------------------------------------------------------- */

static const char *hex(const char *at, uintptr_t *value)
{
    for (*value = 0;; at++) {
        char c = *at;
        if (c >= '0' && c <= '9')
            *value = *value * 16 + (uintptr_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            *value = *value * 16 + (uintptr_t)(c - 'a' + 10);
        else
            return at;
    }
}

static int is_own(uintptr_t start)
{
    return start == (uintptr_t)SHOT_PLACE || start == (uintptr_t)OWN_PLACE || start == (uintptr_t)CAPTURE_PLACE;
}

/* Takes one line, "start-end rw-p ...": private and writable, and not the session's own. */
static int take_line(const char *line)
{
    struct region region;
    const char *rights = hex(hex(line, &region.start) + 1, &region.end) + 1;
    if (memcmp(rights, "rw-p", 4) || is_own(region.start))
        return 0;
    if (shot->regions == REGIONS_MAX)
        return -1;
    shot->region[shot->regions++] = region;
    return 0;
}

static int read_mappings(void)
{
    long fd = whence_call(SYS_open, (long)"/proc/self/maps", O_RDONLY | O_CLOEXEC, 0, 0, 0, 0);
    size_t used = 0;
    long got = fd;
    shot->regions = 0;
    while (fd >= 0 && (got = whence_call(SYS_read, fd, (long)shot->text + (long)used, (long)(sizeof shot->text - used), 0, 0, 0)) > 0) {
        used += (size_t)got;
        char *line = shot->text, *end;
        while ((end = memchr(line, '\n', used - (size_t)(line - shot->text)))) {
            if (take_line(line))
                got = -1;
            line = end + 1;
        }
        used -= (size_t)(line - shot->text);
        memmove(shot->text, line, used);
        if (got < 0)
            break;
    }
    if (fd >= 0)
        whence_call(SYS_close, fd, 0, 0, 0, 0, 0);
    return got == 0 ? 0 : -1;
}

static void protect(int rights)
{
    for (unsigned i = 0; i < shot->regions; i++) {
        struct region *region = &shot->region[i];
        whence_call(SYS_mprotect, (long)region->start, (long)(region->end - region->start), rights, 0, 0, 0);
    }
}

/* ---- Hot pages ------------------------------------------------------------------------------------------------ */

static uint32_t *entry_of(uintptr_t page)
{
    size_t at = (page / PAGE * 0x9e3779b1u) & (TABLE - 1);
    while (shot->table[at] && shot->page[shot->table[at] - 1] != page)
        at = (at + 1) & (TABLE - 1);
    return &shot->table[at];
}

static int is_tracked(uintptr_t address)
{
    for (unsigned i = 0; i < shot->regions; i++) {
        if (address >= shot->region[i].start && address < shot->region[i].end)
            return 1;
    }
    return 0;
}

/* Lets a page be written to, keeping what it holds. */
static int heat(uintptr_t page)
{
    uint32_t *entry = entry_of(page);
    if (*entry)
        return 0;
    if (shot->hot == HOT_MAX)
        return -1;
    shot->page[shot->hot] = page;
    memcpy(shot->copy[shot->hot], (void *)page, PAGE);
    *entry = ++shot->hot;
    whence_call(SYS_mprotect, (long)page, PAGE, PROT_READ | PROT_WRITE, 0, 0, 0);
    return 0;
}

void whence_snapshot_stop(void)
{
    if (shot && shot->is_on) {
        protect(PROT_READ | PROT_WRITE);
        shot->is_on = 0;
    }
}

int whence_snapshot_fault(uintptr_t address)
{
    if (!shot || !shot->is_on || !is_tracked(address))
        return 0;
    uintptr_t page = address & -(uintptr_t)PAGE;
    if (*entry_of(page))
        return 0;
    if (heat(page) == 0)
        return 1;
    if (whence_in_continuation())
        whence_change_way(SYS_mprotect); /* too large */
    whence_snapshot_stop(); /* in the unaltered run nothing has to be kept */
    return 1;
}

/* The length is the subject's: it may be any number. */
void whence_snapshot_touch(uintptr_t address, size_t length)
{
    uintptr_t end = length < UINTPTR_MAX - address ? address + length : UINTPTR_MAX;
    for (unsigned i = 0; shot && shot->is_on && length && i < shot->regions; i++) {
        uintptr_t first = address > shot->region[i].start ? address : shot->region[i].start;
        uintptr_t last = end < shot->region[i].end ? end : shot->region[i].end;
        for (uintptr_t page = first & -(uintptr_t)PAGE; page < last && shot->is_on; page += PAGE) {
            if (!*entry_of(page))
                whence_snapshot_fault(page);
        }
    }
}

void whence_snapshot_layout_changed(void)
{
    if (shot)
        shot->is_stale = 1;
}

/* ---- Snapshots ------------------------------------------------------------------------------------------------ */

/* The kernel writes to the thread's own block at any time (restartable sequences). */
static void heat_thread_block(void)
{
    uintptr_t block = (uintptr_t)__builtin_thread_pointer() & -(uintptr_t)PAGE;
    for (int i = -1; i <= 1; i++) {
        if (is_tracked(block + (uintptr_t)(i * PAGE)))
            heat(block + (uintptr_t)(i * PAGE));
    }
}

static void protect_range(uintptr_t start, uintptr_t end)
{
    if (start < end)
        whence_call(SYS_mprotect, (long)start, (long)(end - start), PROT_READ, 0, 0, 0);
}

/* Protects all but the thread's block, which is hot already and must never be protected. */
static void protect_cold(void)
{
    uintptr_t first = UINTPTR_MAX, last = 0;
    for (unsigned i = 0; i < shot->hot; i++) {
        first = shot->page[i] < first ? shot->page[i] : first;
        last = shot->page[i] + PAGE > last ? shot->page[i] + PAGE : last;
    }
    for (unsigned i = 0; i < shot->regions; i++) {
        struct region *region = &shot->region[i];
        int holds = region->start < last && first < region->end;
        protect_range(region->start, holds ? first : region->end);
        protect_range(holds ? last : region->end, region->end);
    }
}

static int start(void)
{
    if (shot->is_on)
        protect(PROT_READ | PROT_WRITE);
    shot->is_on = 0;
    if (read_mappings())
        return -1;
    memset(shot->table, 0, sizeof shot->table);
    shot->hot = 0;
    shot->since_cooling = 0;
    shot->is_stale = 0;
    shot->is_on = 1;
    heat_thread_block();
    protect_cold();
    return 0;
}

int whence_snapshot_take(void)
{
    int is_cool = shot->is_on && !shot->is_stale && !(shot->hot > COOL_ABOVE && shot->since_cooling > COOL_EVERY);
    if (!is_cool && start())
        return -1;
    shot->since_cooling++;
    whence_control->heap_end = (uintptr_t)whence_call(SYS_brk, 0, 0, 0, 0, 0, 0);
    for (unsigned i = 0; i < shot->hot; i++)
        memcpy(shot->copy[i], (void *)shot->page[i], PAGE);
    return 0;
}

void whence_snapshot_restore(void)
{
    for (unsigned i = 0; i < shot->hot; i++)
        memcpy((void *)shot->page[i], shot->copy[i], PAGE);
}
