/* In-process snapshots of the subject's memory.

   All writable private memory is write-protected. The first write to a page copies it and lets the page be written to
   from then on: it is *hot*. A snapshot copies the hot pages, and going back restores them; the other pages are
   protected, so they are still as they were. Runs write to the same few pages again and again, so after the first
   continuations going back costs no fault, only the copying of some pages. */
#define _GNU_SOURCE
#include "alter/snapshot.h"
#include "base/base.h"

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
    shot = whence_map_at(SHOT_PLACE, sizeof *shot, MAP_PRIVATE, -1);
    return shot ? sizeof *shot : 0;
}

/* ---- The list of mappings ------------------------------------------------------------------------------------- */

static int is_own(uintptr_t start)
{
    return start == (uintptr_t)SHOT_PLACE || start == (uintptr_t)OWN_PLACE || start == (uintptr_t)CAPTURE_PLACE;
}

/* Takes a mapping that is private and writable, and not the session's own. */
static int take_line(const struct whence_mapping *line)
{
    if (memcmp(line->rights, "rw-p", 4) || is_own(line->start))
        return 0;
    if (shot->regions == REGIONS_MAX)
        return -1;
    shot->region[shot->regions++] = (struct region){line->start, line->end};
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
        const char *at = shot->text, *end = at + used;
        struct whence_mapping line;
        while (whence_next_mapping(&at, end, &line)) {
            if (take_line(&line))
                got = -1;
        }
        used = (size_t)(end - at);
        memmove(shot->text, at, used);
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

enum whence_write whence_snapshot_fault(uintptr_t address)
{
    if (!shot || !shot->is_on || !is_tracked(address))
        return WRITE_FAULTS;
    uintptr_t page = address & -(uintptr_t)PAGE;
    if (*entry_of(page))
        return WRITE_FAULTS;
    return heat(page) == 0 ? WRITE_PASSES : WRITE_FINDS_NO_ROOM;
}

/* The length is the subject's: it may be any number. */
enum whence_write whence_snapshot_touch(uintptr_t address, size_t length)
{
    uintptr_t end = length < UINTPTR_MAX - address ? address + length : UINTPTR_MAX;
    if (!shot || !shot->is_on || !length)
        return WRITE_PASSES;
    for (unsigned i = 0; i < shot->regions; i++) {
        uintptr_t first = address > shot->region[i].start ? address : shot->region[i].start;
        uintptr_t last = end < shot->region[i].end ? end : shot->region[i].end;
        for (uintptr_t page = first & -(uintptr_t)PAGE; page < last; page += PAGE) {
            if (!*entry_of(page) && whence_snapshot_fault(page) == WRITE_FINDS_NO_ROOM)
                return WRITE_FINDS_NO_ROOM;
        }
    }
    return WRITE_PASSES;
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
    for (unsigned i = 0; i < shot->hot; i++)
        memcpy(shot->copy[i], (void *)shot->page[i], PAGE);
    return 0;
}

void whence_snapshot_restore(void)
{
    for (unsigned i = 0; i < shot->hot; i++)
        memcpy((void *)shot->page[i], shot->copy[i], PAGE);
}
