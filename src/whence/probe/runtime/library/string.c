/* Wrappers of string.h and strings.h: what was read is told to the byte, and bytes that are copied stay copies. */
#include "library/library.h"

#include <strings.h>

/* Number of bytes that a comparison had to look at: up to the first difference, or the end. */
static size_t compared(const char *a, const char *b, size_t limit, int (*fold)(int))
{
    for (size_t i = 0; i < limit; i++) {
        unsigned char x = (unsigned char)a[i], y = (unsigned char)b[i];
        if ((fold ? fold(x) != fold(y) : x != y) || !x)
            return i + 1;
    }
    return limit;
}

static int lower(int c) { return c >= 'A' && c <= 'Z' ? c + 'a' - 'A' : c; }

static void read_both(const void *a, const void *b, size_t length)
{
    read_bytes(a, length);
    read_bytes(b, length);
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* Reads of a search: up to what was found, else the whole string. */
static void read_until(const char *text, const char *found, size_t more)
{
    read_bytes(text, found ? (size_t)(found - text) + more : strlen(text) + 1);
}

LIBRARY(size_t, strlen, const char *text)
{
    size_t length = strlen(text);
    EFFECTS(strlen) { read_bytes(text, length + 1); }
    return length;
}

LIBRARY(size_t, strnlen, const char *text, size_t limit)
{
    size_t length = strnlen(text, limit);
    EFFECTS(strnlen) { read_bytes(text, smaller(length + 1, limit)); }
    return length;
}

LIBRARY(int, strcmp, const char *a, const char *b)
{
    int result = strcmp(a, b);
    EFFECTS(strcmp) { read_both(a, b, compared(a, b, SIZE_MAX, NULL)); }
    return result;
}

LIBRARY(int, strncmp, const char *a, const char *b, size_t limit)
{
    int result = strncmp(a, b, limit);
    EFFECTS(strncmp) { read_both(a, b, compared(a, b, limit, NULL)); }
    return result;
}

LIBRARY(int, strcasecmp, const char *a, const char *b)
{
    int result = strcasecmp(a, b);
    EFFECTS(strcasecmp) { read_both(a, b, compared(a, b, SIZE_MAX, lower)); }
    return result;
}

LIBRARY(int, strncasecmp, const char *a, const char *b, size_t limit)
{
    int result = strncasecmp(a, b, limit);
    EFFECTS(strncasecmp) { read_both(a, b, compared(a, b, limit, lower)); }
    return result;
}

LIBRARY(int, strcoll, const char *a, const char *b)
{
    int result = strcoll(a, b);
    EFFECTS(strcoll)
    {
        read_string(a);
        read_string(b);
        state(STATE_READ, LOCALE_STATE);
    }
    return result;
}

LIBRARY(int, strverscmp, const char *a, const char *b)
{
    int result = strverscmp(a, b);
    EFFECTS(strverscmp)
    {
        read_string(a);
        read_string(b);
    }
    return result;
}

LIBRARY(size_t, strxfrm, char *to, const char *from, size_t size)
{
    size_t length = strxfrm(to, from, size);
    EFFECTS(strxfrm)
    {
        read_string(from);
        state(STATE_READ, LOCALE_STATE);
        write_bytes(to, smaller(length + 1, size));
    }
    return length;
}

/* Copies. */

LIBRARY(char *, strcpy, char *to, const char *from)
{
    char *result = strcpy(to, from);
    EFFECTS(strcpy) { copy_bytes(to, from, strlen(to) + 1); }
    return result;
}

LIBRARY(char *, stpcpy, char *to, const char *from)
{
    char *end = stpcpy(to, from);
    EFFECTS(stpcpy)
    {
        read_bytes(from, (size_t)(end - to) + 1);
        copy_bytes(to, from, (size_t)(end - to) + 1);
    }
    return end;
}

/* The copied bytes, then the padding with NUL bytes. */
static void copied_and_padded(char *to, const char *from, size_t length, size_t size)
{
    copy_bytes(to, from, smaller(length + 1, size));
    if (length + 1 < size)
        write_bytes(to + length + 1, size - length - 1);
}

LIBRARY(char *, strncpy, char *to, const char *from, size_t size)
{
    char *result = strncpy(to, from, size);
    EFFECTS(strncpy) { copied_and_padded(to, from, strnlen(to, size), size); }
    return result;
}

LIBRARY(char *, stpncpy, char *to, const char *from, size_t size)
{
    char *end = stpncpy(to, from, size);
    EFFECTS(stpncpy)
    {
        read_bytes(from, smaller((size_t)(end - to) + 1, size));
        copied_and_padded(to, from, (size_t)(end - to), size);
    }
    return end;
}

LIBRARY(char *, strcat, char *to, const char *from)
{
    size_t length = whence_recording() ? strlen(to) : 0;
    char *result = strcat(to, from);
    EFFECTS(strcat)
    {
        read_bytes(to, length + 1);
        copy_bytes(to + length, from, strlen(to + length) + 1);
    }
    return result;
}

LIBRARY(char *, strncat, char *to, const char *from, size_t size)
{
    size_t length = whence_recording() ? strlen(to) : 0;
    char *result = strncat(to, from, size);
    EFFECTS(strncat)
    {
        size_t copied = strlen(to + length);
        read_bytes(to, length + 1);
        write_bytes(to + length + copied, 1);
        copy_bytes(to + length, from, copied);
    }
    return result;
}

REAL_BSD(size_t, strlcpy, char *, const char *, size_t);
REAL_BSD(size_t, strlcat, char *, const char *, size_t);

LIBRARY(size_t, strlcpy, char *to, const char *from, size_t size)
{
    size_t length = real_strlcpy(to, from, size);
    EFFECTS(strlcpy)
    {
        size_t copied = size ? smaller(length, size - 1) : 0;
        read_bytes(from, length + 1);
        write_bytes(to + copied, size ? 1 : 0);
        copy_bytes(to, from, copied);
    }
    return length;
}

LIBRARY(size_t, strlcat, char *to, const char *from, size_t size)
{
    size_t start = whence_recording() ? strnlen(to, size) : 0;
    size_t length = real_strlcat(to, from, size);
    EFFECTS(strlcat)
    {
        read_bytes(to, smaller(start + 1, size));
        read_string(from);
        if (start < size)
            copy_bytes(to + start, from, strlen(to + start));
    }
    return length;
}

LIBRARY(void *, memcpy, void *to, const void *from, size_t length)
{
    void *result = memcpy(to, from, length);
    EFFECTS(memcpy) { copy_bytes(to, from, length); }
    return result;
}

LIBRARY(void *, memmove, void *to, const void *from, size_t length)
{
    void *result = memmove(to, from, length);
    EFFECTS(memmove) { copy_bytes(to, from, length); }
    return result;
}

LIBRARY(void *, mempcpy, void *to, const void *from, size_t length)
{
    void *result = mempcpy(to, from, length);
    EFFECTS(mempcpy) { copy_bytes(to, from, length); }
    return result;
}

LIBRARY(void, bcopy, const void *from, void *to, size_t length)
{
    memmove(to, from, length);
    EFFECTS(bcopy) { copy_bytes(to, from, length); }
}

LIBRARY(void *, memccpy, void *to, const void *from, int end, size_t limit)
{
    void *result = memccpy(to, from, end, limit);
    EFFECTS(memccpy)
    {
        size_t length = result ? (size_t)((char *)result - (char *)to) : limit;
        read_bytes(from, length);
        copy_bytes(to, from, length);
    }
    return result;
}

LIBRARY(void, swab, const void *from, void *to, ssize_t length)
{
    extern void swab(const void *, void *, ssize_t);
    swab(from, to, length);
    EFFECTS(swab)
    {
        read_bytes(from, length > 0 ? (size_t)length & ~(size_t)1 : 0);
        write_bytes(to, length > 0 ? (size_t)length & ~(size_t)1 : 0);
    }
}

LIBRARY(void *, memset, void *to, int byte, size_t length)
{
    void *result = memset(to, byte, length);
    EFFECTS(memset) { write_bytes(to, length); }
    return result;
}

LIBRARY(void, bzero, void *to, size_t length)
{
    memset(to, 0, length);
    EFFECTS(bzero) { write_bytes(to, length); }
}
LIBRARY_SAME(explicit_bzero, bzero);

/* Searches. */

LIBRARY(char *, strchr, const char *text, int c)
{
    char *found = (strchr)(text, c);
    EFFECTS(strchr) { read_until(text, found, 1); }
    return found;
}
LIBRARY_SAME(index, strchr);

LIBRARY(char *, strrchr, const char *text, int c)
{
    char *found = (strrchr)(text, c);
    EFFECTS(strrchr) { read_string(text); }
    return found;
}
LIBRARY_SAME(rindex, strrchr);

LIBRARY(char *, strchrnul, const char *text, int c)
{
    char *found = strchrnul(text, c);
    EFFECTS(strchrnul) { read_until(text, found, 1); }
    return found;
}

LIBRARY(void *, memchr, const void *bytes, int c, size_t length)
{
    char *found = (memchr)(bytes, c, length);
    EFFECTS(memchr) { read_bytes(bytes, found ? (size_t)(found - (char *)bytes) + 1 : length); }
    return found;
}

LIBRARY(void *, memrchr, const void *bytes, int c, size_t length)
{
    char *found = memrchr(bytes, c, length);
    EFFECTS(memrchr)
    {
        size_t skipped = found ? (size_t)(found - (char *)bytes) : 0;
        read_bytes((char *)bytes + skipped, length - skipped);
    }
    return found;
}

REAL_GLIBC(void *, rawmemchr, const void *, int);

LIBRARY(void *, rawmemchr, const void *bytes, int c)
{
    char *found = real_rawmemchr(bytes, c);
    EFFECTS(rawmemchr) { read_bytes(bytes, (size_t)(found - (char *)bytes) + 1); }
    return found;
}

LIBRARY(int, memcmp, const void *a, const void *b, size_t length)
{
    int result = memcmp(a, b, length);
    EFFECTS(memcmp)
    {
        size_t looked_at = 0;
        while (looked_at < length && ((char *)a)[looked_at] == ((char *)b)[looked_at])
            looked_at++;
        read_both(a, b, smaller(looked_at + 1, length));
    }
    return result;
}
LIBRARY_SAME(bcmp, memcmp);

LIBRARY(char *, strstr, const char *text, const char *part)
{
    char *found = (strstr)(text, part);
    EFFECTS(strstr)
    {
        read_string(part);
        read_until(text, found, strlen(part));
    }
    return found;
}

LIBRARY(char *, strcasestr, const char *text, const char *part)
{
    char *found = strcasestr(text, part);
    EFFECTS(strcasestr)
    {
        read_string(part);
        read_until(text, found, strlen(part));
    }
    return found;
}

LIBRARY(void *, memmem, const void *bytes, size_t length, const void *part, size_t part_length)
{
    char *found = memmem(bytes, length, part, part_length);
    EFFECTS(memmem)
    {
        read_bytes(part, part_length);
        read_bytes(bytes, found ? (size_t)(found - (char *)bytes) + part_length : length);
    }
    return found;
}

LIBRARY(size_t, strspn, const char *text, const char *set)
{
    size_t length = strspn(text, set);
    EFFECTS(strspn)
    {
        read_string(set);
        read_bytes(text, length + 1);
    }
    return length;
}

LIBRARY(size_t, strcspn, const char *text, const char *set)
{
    size_t length = strcspn(text, set);
    EFFECTS(strcspn)
    {
        read_string(set);
        read_bytes(text, length + 1);
    }
    return length;
}

LIBRARY(char *, strpbrk, const char *text, const char *set)
{
    char *found = (strpbrk)(text, set);
    EFFECTS(strpbrk)
    {
        read_string(set);
        read_until(text, found, 1);
    }
    return found;
}

/* Tokens. What strtok_r looked at ends at the token's end; the byte there was overwritten when the next call is to
   start behind it. */
static void token_taken(const char *start, const char *token, const char *next, const char *set)
{
    read_string(set);
    if (!start)
        return;
    if (!token) {
        read_string(start);
        return;
    }
    const char *end = token + strlen(token);
    read_bytes(start, (size_t)(end - start) + 1);
    if (next == end + 1)
        write_bytes(end, 1);
}

LIBRARY(char *, strtok_r, char *text, const char *set, char **next)
{
    const char *start = text ? text : *next;
    char *token = strtok_r(text, set, next);
    EFFECTS(strtok_r)
    {
        if (!text)
            read_bytes(next, sizeof *next);
        token_taken(start, token, *next, set);
        write_bytes(next, sizeof *next);
    }
    return token;
}
LIBRARY_SAME(__strtok_r, strtok_r);

/* strtok on a position of our own: the C library does not show its own. */
LIBRARY(char *, strtok, char *text, const char *set)
{
    static char *next;
    const char *start = text ? text : next;
    char *token = strtok_r(text, set, &next);
    EFFECTS(strtok)
    {
        state(text ? STATE_WRITE : STATE_BOTH, TOKEN_STATE);
        token_taken(start, token, next, set);
    }
    return token;
}

LIBRARY(char *, strsep, char **text, const char *set)
{
    char *token = strsep(text, set);
    EFFECTS(strsep)
    {
        read_bytes(text, sizeof *text);
        if (token)
            token_taken(token, token, *text, set);
        write_bytes(text, sizeof *text);
    }
    return token;
}

/* Texts of errors: in the buffer, or (GNU) text of the library's own. */
#ifdef __GLIBC__
LIBRARY(char *, strerror_r, int number, char *to, size_t size)
{
    int before = errno;
    char *text = strerror_r(number, to, size);
    EFFECTS_ERRNO(strerror_r, before) { write_bytes(to, text == to && size ? strlen(to) + 1 : 0); }
    return text;
}
#else
LIBRARY(int, strerror_r, int number, char *to, size_t size)
{
    int before = errno;
    int result = strerror_r(number, to, size);
    EFFECTS_ERRNO(strerror_r, before) { write_bytes(to, size ? strlen(to) + 1 : 0); }
    return result;
}
#endif

REAL(int, __xpg_strerror_r, int, char *, size_t);
LIBRARY(int, __xpg_strerror_r, int number, char *to, size_t size)
{
    int before = errno;
    int result = real___xpg_strerror_r(number, to, size);
    EFFECTS_ERRNO(__xpg_strerror_r, before) { write_bytes(to, size ? strlen(to) + 1 : 0); }
    return result;
}

/* The last part of a path, mostly a place in it; glibc's second one, and musl's, cuts off the slashes that the path ends with. */
REAL(char *, basename, const char *);
REAL_GLIBC(char *, __xpg_basename, char *);

#define LAST_PART(name, type) \
    LIBRARY(char *, name, type path) \
    { \
        const size_t length = path ? strlen(path) : 0; \
        char *part = real_##name(path); \
        EFFECTS(name) \
        { \
            read_bytes(path, path ? length + 1 : 0); \
            const size_t left = path ? strlen(path) : 0; \
            write_bytes(path + left, left < length); \
        } \
        return part; \
    }

LAST_PART(basename, const char *)
#ifdef __GLIBC__
LAST_PART(__xpg_basename, char *)
#endif
