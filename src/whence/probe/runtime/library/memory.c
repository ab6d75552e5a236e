/* Wrappers of the heap: blocks come and go, and realloc keeps their bytes. */
#include "library/library.h"
#include "suppress/suppress.h"

#include <malloc.h>
#include <stdlib.h>
#include <wchar.h>

static size_t largest; /* length of a block asked for so far */

#ifdef __GLIBC__
/* Valgrind replaces the allocator, and reports whoever looks in front of a block. */
static int under_valgrind(void)
{
    static int answer = -1;
    if (answer < 0) {
        const char *preloaded = getenv("LD_PRELOAD");
        answer = preloaded && strstr(preloaded, "vgpreload");
    }
    return answer;
}
#endif

/* With glibc the size stands in the word before the block. It is read from there, since malloc_usable_size looks at
   neighbours too: on a corrupted heap it would crash where free() ends with its own message. A size beyond all that
   was asked for is not believed. */
size_t whence_block_size(void *block)
{
    if (!block)
        return 0;
#ifdef __GLIBC__
    size_t size = under_valgrind() ? malloc_usable_size(block)
                                   : (((size_t *)block)[-1] & ~(size_t)7) - sizeof(size_t);
#else
    size_t size = malloc_usable_size(block);
#endif
    return size <= largest + 8192 ? size : 0;
}

void whence_block_allocated(void *block, size_t length)
{
    if (length > largest)
        largest = length;
    allocated(block, length);
}

LIBRARY(void *, malloc, size_t length)
{
    int before = errno;
    void *block = malloc(whence_guarded(length));
    whence_guard_block(block, length, 1);
    EFFECTS_ERRNO(malloc, before) { whence_block_allocated(block, length); }
    return block;
}

LIBRARY(void *, calloc, size_t count, size_t size)
{
    int before = errno;
    size_t whole = 0;
    int is_guarded = !__builtin_mul_overflow(count, size, &whole) && whence_guarded(whole) != whole;
    void *block = is_guarded ? calloc(1, whence_guarded(whole)) : calloc(count, size);
    if (is_guarded)
        whence_guard_block(block, whole, 0);
    EFFECTS_ERRNO(calloc, before)
    {
        whence_block_allocated(block, count * size);
        if (block)
            write_bytes(block, count * size);
    }
    return block;
}

LIBRARY(void, free, void *block)
{
    EFFECTS(free) { released(block, whence_block_size(block)); }
    if (!whence_keep_block(block))
        free(block);
}
LIBRARY_SAME(cfree, free);

/* A block that stayed where it was only gains or loses bytes at its end. */
static void reallocated(void *old, size_t old_size, void *block, size_t length)
{
    if (block == old)
        resized(block, length);
    if (block != old) {
        whence_block_allocated(block, length);
        copy_bytes(block, old, old_size < length ? old_size : length);
        released(old, old_size);
    } else if (length > old_size) {
        whence_block_allocated((char *)block + old_size, length - old_size);
    } else if (length < old_size) {
        released((char *)block + length, old_size - length);
    }
}

/* A block with a guard always moves. */
static void *moved(void *old, size_t length)
{
    size_t before = whence_guarded_length(old);
    void *block = length ? malloc(whence_guarded(length)) : NULL;
    if (block) {
        whence_guard_block(block, length, 1);
        memcpy(block, old, before < length ? before : length);
    }
    if (block || !length)
        whence_keep_block(old);
    return block;
}

LIBRARY(void *, realloc, void *old, size_t length)
{
    int before = errno;
    size_t old_size = whence_recording() ? whence_block_size(old) : 0;
    void *block = whence_guarded_length(old) ? moved(old, length) : realloc(old, length);
    EFFECTS_ERRNO(realloc, before)
    {
        if (block)
            reallocated(old, old_size, block, length);
        else if (!length)
            released(old, old_size);
    }
    return block;
}

LIBRARY(void *, reallocarray, void *old, size_t count, size_t size)
{
    int before = errno;
    size_t old_size = whence_recording() ? whence_block_size(old) : 0;
    void *block = reallocarray(old, count, size);
    EFFECTS_ERRNO(reallocarray, before)
    {
        if (block)
            reallocated(old, old_size, block, count * size);
        else if (!count || !size)
            released(old, old_size);
    }
    return block;
}

LIBRARY(void *, aligned_alloc, size_t alignment, size_t length)
{
    int before = errno;
    void *block = aligned_alloc(alignment, length);
    EFFECTS_ERRNO(aligned_alloc, before) { whence_block_allocated(block, length); }
    return block;
}

LIBRARY(void *, memalign, size_t alignment, size_t length)
{
    int before = errno;
    void *block = memalign(alignment, length);
    EFFECTS_ERRNO(memalign, before) { whence_block_allocated(block, length); }
    return block;
}

LIBRARY(int, posix_memalign, void **block, size_t alignment, size_t length)
{
    int result = posix_memalign(block, alignment, length);
    EFFECTS(posix_memalign)
    {
        if (!result) {
            write_bytes(block, sizeof *block);
            whence_block_allocated(*block, length);
        }
    }
    return result;
}

LIBRARY(char *, strdup, const char *text)
{
    int before = errno;
    char *copy = strdup(text);
    EFFECTS_ERRNO(strdup, before)
    {
        if (copy) {
            size_t length = strlen(copy) + 1;
            whence_block_allocated(copy, length);
            copy_bytes(copy, text, length);
        }
    }
    return copy;
}
LIBRARY_SAME(__strdup, strdup);

LIBRARY(char *, strndup, const char *text, size_t limit)
{
    int before = errno;
    char *copy = strndup(text, limit);
    EFFECTS_ERRNO(strndup, before)
    {
        if (copy) {
            size_t length = strlen(copy);
            whence_block_allocated(copy, length + 1);
            write_bytes(copy + length, 1);
            copy_bytes(copy, text, length);
        }
    }
    return copy;
}
LIBRARY_SAME(__strndup, strndup);

LIBRARY(wchar_t *, wcsdup, const wchar_t *text)
{
    int before = errno;
    wchar_t *copy = wcsdup(text);
    EFFECTS_ERRNO(wcsdup, before)
    {
        if (copy) {
            size_t length = (wcslen(copy) + 1) * sizeof *copy;
            whence_block_allocated(copy, length);
            copy_bytes(copy, text, length);
        }
    }
    return copy;
}
