/* System calls without a signal. An intercepted system call costs a signal, which takes longer than many a continuation.
   So the first time that one comes from an instruction, the instruction is made to jump to the runtime instead.

   It has two bytes: room for a jump of at most 127 bytes. Between functions lie long no-operations, and the operand of
   such a one (`0f 1f 84 SIB disp32`) is bytes that mean nothing, five of them: room for a jump anywhere. Where none is in
   reach, the operand of a shorter one leads there. A no-operation that is run as one stays one. Where there is no room,
   the instruction stays as it is, and signals serve. */
#define _GNU_SOURCE
#include "alter/calls.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { PAGE = 4096, TRAMPOLINE = 32, TRAMPOLINES = PAGE / TRAMPOLINE, HOPS = 2, JUMP = 5, SHORT_JUMP = 2 };

/* A no-operation: its bytes, and from which one on they are free. */
struct gap {
    unsigned char bytes[8];
    unsigned length, free;
};
static const struct gap long_gap = {{0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0}, 8, 3};
static const struct gap short_gaps[] = {{{0x0f, 0x1f, 0x80, 0, 0, 0, 0}, 7, 3}, {{0x0f, 0x1f, 0x44, 0, 0}, 5, 3}};

static int is_new(const char *after)
{
    const char **tried = whence_control->tried;
    unsigned i = 0;
    while (i < TRIES && tried[i] && tried[i] != after)
        i++;
    if (i == TRIES || tried[i])
        return 0;
    tried[i] = after;
    return 1;
}

int whence_is_shortcut(uintptr_t start)
{
    const struct whence_trampolines *areas = whence_control->areas;
    for (int i = 0; i < AREAS; i++) {
        if (areas[i].trampolines && start == (uintptr_t)areas[i].trampolines)
            return 1;
    }
    return 0;
}

/* ---- Trampolines ---------------------------------------------------------------------------------------------------- */

static int reaches(const void *from, const void *to)
{
    int64_t distance = (const char *)to - (const char *)from;
    return distance < INT32_MAX - PAGE && distance > INT32_MIN + PAGE;
}

/* Far below the code, where neither the heap nor other mappings grow to. */
static unsigned char *map_trampolines(const unsigned char *code)
{
    uintptr_t place = (uintptr_t)code > 2 * SHORTCUTS_BELOW ? (uintptr_t)code - SHORTCUTS_BELOW : 1 << 20;
    long got = whence_call(SYS_mmap, (long)(place & -(uintptr_t)PAGE), PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    return got < 0 && got > -4096 ? NULL : (unsigned char *)got;
}

/* A trampoline for the system call that ends at `after`: it leaves the way back in rcx and enters the runtime. */
static unsigned char *new_trampoline(const unsigned char *after)
{
    struct whence_trampolines *areas = whence_control->areas;
    for (int i = 0; i < AREAS; i++) {
        if (!areas[i].trampolines)
            areas[i].trampolines = map_trampolines(after);
        if (!areas[i].trampolines)
            return NULL;
        if (!reaches(after, areas[i].trampolines) || areas[i].used == TRAMPOLINES)
            continue;
        unsigned char *trampoline = areas[i].trampolines + TRAMPOLINE * areas[i].used++;
        uintptr_t entry = (uintptr_t)whence_control->enter_call, back = (uintptr_t)after;
        memcpy(trampoline, "\x48\xb9", 2); /* movabs $back, %rcx */
        memcpy(trampoline + 2, &back, 8);
        memcpy(trampoline + 10, "\x49\xbb", 2); /* movabs $entry, %r11 */
        memcpy(trampoline + 12, &entry, 8);
        memcpy(trampoline + 20, "\x41\xff\xe3", 3); /* jmp *%r11 */
        return trampoline;
    }
    return NULL;
}

/* ---- Jumps ---------------------------------------------------------------------------------------------------- */

/* The free bytes of the n-th such gap that a short jump at `from` reaches, or null. Only readable code is looked at. */
static unsigned char *find_gap(unsigned char *from, const struct gap *gap, int n)
{
    unsigned char *page = (unsigned char *)((uintptr_t)from & -(uintptr_t)PAGE);
    unsigned char *start = from - 120 > page ? from - 120 : page;
    unsigned char *end = from + 120 < page + PAGE ? from + 120 : page + PAGE;
    for (unsigned char *at = start; at + gap->length <= end; at++) {
        if (!memcmp(at, gap->bytes, gap->length) && n-- == 0)
            return at + gap->free;
    }
    return NULL;
}

static void jump_short(unsigned char *from, const unsigned char *to)
{
    from[0] = 0xeb;
    from[1] = (unsigned char)(to - (from + SHORT_JUMP));
}

static void jump(unsigned char *from, const unsigned char *to)
{
    int32_t distance = (int32_t)(to - (from + JUMP));
    from[0] = 0xe9;
    memcpy(from + 1, &distance, sizeof distance);
}

/* Makes two bytes at `from` lead to the trampoline, by at most so many short gaps. 0 where there is no way. */
static int lead(unsigned char *from, const unsigned char *trampoline, int hops)
{
    unsigned char *found = find_gap(from, &long_gap, 0);
    if (found) {
        jump(found, trampoline);
        jump_short(from, found);
        return 1;
    }
    for (unsigned kind = 0; hops && kind < sizeof short_gaps / sizeof *short_gaps; kind++) {
        for (int n = 0; (found = find_gap(from, &short_gaps[kind], n)); n++) {
            if (lead(found, trampoline, hops - 1)) {
                jump_short(from, found);
                return 1;
            }
        }
    }
    return 0;
}

static long allow(unsigned char *code, int rights)
{
    return whence_call(SYS_mprotect, (long)((uintptr_t)code & -(uintptr_t)PAGE), PAGE, rights, 0, 0, 0);
}

void whence_shorten(char *after)
{
    unsigned char *code = (unsigned char *)after - SHORT_JUMP;
    uintptr_t within = (uintptr_t)code & (PAGE - 1);
    if (!is_new(after) || within > PAGE - SHORT_JUMP || memcmp(code, "\x0f\x05", SHORT_JUMP))
        return;
    unsigned char *trampoline = new_trampoline((unsigned char *)after);
    if (!trampoline || allow(code, PROT_READ | PROT_WRITE | PROT_EXEC))
        return;
    lead(code, trampoline, HOPS);
    allow(code, PROT_READ | PROT_EXEC);
}
