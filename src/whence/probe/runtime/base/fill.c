/* What the subject finds in memory that nobody has written to. */
#define _GNU_SOURCE
#include "base/base.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdlib.h>
#include <string.h>

enum { DEAD_STACK = 32 << 10, PATTERN_STACK = 512 << 10 };

static int pattern; /* of fresh memory */

/* MALLOC_PERTURB_ makes the C library fill what it allocates with the complement of a byte (0: it does not). This process
   has started long ago, so the C library is told of it here; the stack is filled in the same way. */
void whence_take_pattern(void)
{
    const char *text = getenv("MALLOC_PERTURB_");
    int setting = text ? (int)strtol(text, NULL, 0) & 255 : 0;
    pattern = setting ? ~setting & 255 : 0;
#ifdef M_PERTURB
    if (setting)
        mallopt(M_PERTURB, setting);
#endif
}

/* What the server left below the stack pointer must not be what the program reads from uninitialised variables. */
__attribute__((noinline)) void whence_fill_stack(void)
{
    char area[pattern ? PATTERN_STACK : DEAD_STACK];
    memset(area, pattern, sizeof area);
    __asm__ volatile("" : : "r"(area) : "memory");
}
