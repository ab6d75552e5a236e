/* Wrappers of wchar.h's strings and wide streams: the common ones, as their narrow counterparts. */
#include "library/library.h"

#include <wchar.h>

enum { WIDE = sizeof(wchar_t) };

static size_t whole(const wchar_t *text) { return (wcslen(text) + 1) * WIDE; }

LIBRARY(size_t, wcslen, const wchar_t *text)
{
    size_t length = wcslen(text);
    EFFECTS(wcslen) { read_bytes(text, (length + 1) * WIDE); }
    return length;
}

LIBRARY(int, wcscmp, const wchar_t *a, const wchar_t *b)
{
    int result = wcscmp(a, b);
    EFFECTS(wcscmp)
    {
        read_bytes(a, whole(a));
        read_bytes(b, whole(b));
    }
    return result;
}

LIBRARY(int, wcsncmp, const wchar_t *a, const wchar_t *b, size_t limit)
{
    int result = wcsncmp(a, b, limit);
    EFFECTS(wcsncmp)
    {
        read_bytes(a, wcsnlen(a, limit) * WIDE);
        read_bytes(b, wcsnlen(b, limit) * WIDE);
    }
    return result;
}

LIBRARY(wchar_t *, wcschr, const wchar_t *text, wchar_t c)
{
    wchar_t *found = (wcschr)(text, c);
    EFFECTS(wcschr) { read_bytes(text, found ? (size_t)(found - text + 1) * WIDE : whole(text)); }
    return found;
}

LIBRARY(wchar_t *, wcsrchr, const wchar_t *text, wchar_t c)
{
    wchar_t *found = (wcsrchr)(text, c);
    EFFECTS(wcsrchr) { read_bytes(text, whole(text)); }
    return found;
}

LIBRARY(wchar_t *, wcsstr, const wchar_t *text, const wchar_t *part)
{
    wchar_t *found = (wcsstr)(text, part);
    EFFECTS(wcsstr)
    {
        read_bytes(text, whole(text));
        read_bytes(part, whole(part));
    }
    return found;
}

LIBRARY(wchar_t *, wcscpy, wchar_t *to, const wchar_t *from)
{
    wchar_t *result = wcscpy(to, from);
    EFFECTS(wcscpy) { copy_bytes(to, from, whole(to)); }
    return result;
}

LIBRARY(wchar_t *, wcscat, wchar_t *to, const wchar_t *from)
{
    size_t length = whence_recording() ? wcslen(to) : 0;
    wchar_t *result = wcscat(to, from);
    EFFECTS(wcscat)
    {
        read_bytes(to, (length + 1) * WIDE);
        copy_bytes(to + length, from, whole(to + length));
    }
    return result;
}

LIBRARY(wchar_t *, wcsncpy, wchar_t *to, const wchar_t *from, size_t size)
{
    wchar_t *result = wcsncpy(to, from, size);
    EFFECTS(wcsncpy)
    {
        size_t copied = wcsnlen(to, size) * WIDE;
        copy_bytes(to, from, copied);
        write_bytes((char *)to + copied, size * WIDE - copied);
    }
    return result;
}

#define WIDE_COPY(name) \
    LIBRARY(wchar_t *, name, wchar_t *to, const wchar_t *from, size_t count) \
    { \
        wchar_t *result = name(to, from, count); \
        EFFECTS(name) { copy_bytes(to, from, count * WIDE); } \
        return result; \
    }

WIDE_COPY(wmemcpy)
WIDE_COPY(wmemmove)

LIBRARY(wchar_t *, wmemset, wchar_t *to, wchar_t c, size_t count)
{
    wchar_t *result = wmemset(to, c, count);
    EFFECTS(wmemset) { write_bytes(to, count * WIDE); }
    return result;
}

LIBRARY(int, wmemcmp, const wchar_t *a, const wchar_t *b, size_t count)
{
    int result = wmemcmp(a, b, count);
    EFFECTS(wmemcmp)
    {
        read_bytes(a, count * WIDE);
        read_bytes(b, count * WIDE);
    }
    return result;
}

/* Bytes that a character takes in a stream, in the locale that holds. */
static size_t encoded(wchar_t character)
{
    mbstate_t shift = {0};
    char bytes[16];
    size_t length = wcrtomb(bytes, character, &shift);
    return length == (size_t)-1 ? 1 : length;
}

LIBRARY(wint_t, fgetwc, FILE *stream)
{
    int before = errno;
    wint_t character = fgetwc(stream);
    EFFECTS_ERRNO(fgetwc, before)
    {
        if (character == WEOF)
            whence_stream_moved(stream);
        else
            whence_stream_in(stream, encoded((wchar_t)character));
    }
    return character;
}
LIBRARY_SAME(getwc, fgetwc);

LIBRARY(wint_t, getwchar, void) { return __whence_lib_fgetwc(stdin); }

LIBRARY(wint_t, fputwc, wchar_t character, FILE *stream)
{
    int before = errno;
    wint_t result = fputwc(character, stream);
    EFFECTS_ERRNO(fputwc, before)
    {
        if (result != WEOF) {
            whence_stream_out(stream, encoded(character));
            piece(0, 0, encoded(character));
        }
    }
    return result;
}
LIBRARY_SAME(putwc, fputwc);

LIBRARY(wint_t, putwchar, wchar_t character) { return __whence_lib_fputwc(character, stdout); }
