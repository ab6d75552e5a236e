/* The heap laid out anew: behind each block lie a few bytes of a known value (section 5.3.1, the magic value), fresh blocks are
   full of it, and what was given back is filled with it and kept, so that nothing else comes to lie there. A run in which such
   a byte was written over ends by abort when that is seen: as the block is given back, or at the end. */
#define _GNU_SOURCE
#include "suppress/suppress.h"

#include "base/base.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { GUARD = 16, VALUE = 0xA7, SLOTS = 1 << 20, MOST = SLOTS / 2, MOST_KEPT = 256 << 20 };

struct guarded {
    const char *block; /* NULL: none */
    size_t length;
    int is_kept; /* it was given back */
};

static struct guarded *table;
static size_t used, kept;
static uint64_t *answer;

static struct guarded *slot_of(const char *block)
{
    size_t at = ((uintptr_t)block >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 44;
    while (table[at].block && table[at].block != block)
        at = (at + 1) % SLOTS;
    return &table[at];
}

static void end(const char *text)
{
    table = NULL;
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        whence_exit_now(WHENCE_START_FAILED);
    abort();
}

static void check(const struct guarded *entry)
{
    const unsigned char *block = (const unsigned char *)entry->block;
    for (size_t i = entry->is_kept ? 0 : entry->length; i < entry->length + GUARD; i++) {
        if (block[i] == VALUE)
            continue;
        *answer = (uintptr_t)(block + i);
        end("whence: memory that is no block's was written over\n");
    }
}

static void check_all(void)
{
    for (size_t i = 0; table && i < SLOTS; i++) {
        if (table[i].block)
            check(&table[i]);
    }
}

int whence_guards_start(uint64_t *overwritten)
{
    size_t size = SLOTS * sizeof *table;
    void *got = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (got == MAP_FAILED || atexit(check_all))
        return -1;
    answer = overwritten;
    table = got;
    return 0;
}

size_t whence_guarded(size_t length) { return table && length < SIZE_MAX - GUARD ? length + GUARD : length; }

void whence_guard_block(void *block, size_t length, int is_fresh)
{
    if (!table || !block || used >= MOST || whence_guarded(length) == length)
        return;
    struct guarded *entry = slot_of(block);
    used += !entry->block;
    *entry = (struct guarded){block, length, 0};
    memset(is_fresh ? block : (char *)block + length, VALUE, is_fresh ? length + GUARD : GUARD);
}

size_t whence_guarded_length(const void *block)
{
    const struct guarded *entry = table && block ? slot_of(block) : NULL;
    return entry && entry->block && !entry->is_kept ? entry->length : 0;
}

int whence_keep_block(void *block)
{
    struct guarded *entry = table && block ? slot_of(block) : NULL;
    if (!entry || !entry->block)
        return 0;
    if (entry->is_kept)
        end("free(): a block is given back again\n");
    check(entry);
    entry->is_kept = 1;
    kept += entry->length;
    if (kept > MOST_KEPT)
        end("whence: too much was given back to be kept\n");
    memset(block, VALUE, entry->length);
    return 1;
}
