/* Wrappers of wchar.h's strings and wide streams: the common ones, as their narrow counterparts. */
#include "library/library.h"

#include <time.h>
#include <wchar.h>

enum { WIDE = sizeof(wchar_t) };

static size_t whole(const wchar_t *text) { return (wcslen(text) + 1) * WIDE; }

LIBRARY(size_t, wcslen, const wchar_t *text)
{
    size_t length = wcslen(text);
    EFFECTS(wcslen) { read_bytes(text, (length + 1) * WIDE); }
    return length;
}

LIBRARY(size_t, wcsnlen, const wchar_t *text, size_t limit)
{
    size_t length = wcsnlen(text, limit);
    EFFECTS(wcsnlen) { read_bytes(text, (length + (length < limit)) * WIDE); }
    return length;
}

#define WIDE_COMPARISON(name) \
    LIBRARY(int, name, const wchar_t *a, const wchar_t *b) \
    { \
        int result = name(a, b); \
        EFFECTS(name) \
        { \
            read_bytes(a, whole(a)); \
            read_bytes(b, whole(b)); \
        } \
        return result; \
    }

WIDE_COMPARISON(wcscmp)
WIDE_COMPARISON(wcscasecmp)
WIDE_COMPARISON(wcscoll)

#define WIDE_COMPARISON_UP_TO(name) \
    LIBRARY(int, name, const wchar_t *a, const wchar_t *b, size_t limit) \
    { \
        int result = name(a, b, limit); \
        EFFECTS(name) \
        { \
            read_bytes(a, wcsnlen(a, limit) * WIDE); \
            read_bytes(b, wcsnlen(b, limit) * WIDE); \
        } \
        return result; \
    }

WIDE_COMPARISON_UP_TO(wcsncmp)
WIDE_COMPARISON_UP_TO(wcsncasecmp)

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

/* What stands in `text` and in `set` decides, up to their ends. */
static void looked_at(const wchar_t *text, const wchar_t *set)
{
    read_bytes(text, whole(text));
    read_bytes(set, whole(set));
}

#define BY_SET(type, name) \
    LIBRARY(type, name, const wchar_t *text, const wchar_t *set) \
    { \
        type found = (name)(text, set); \
        EFFECTS(name) { looked_at(text, set); } \
        return found; \
    }

BY_SET(size_t, wcsspn)
BY_SET(size_t, wcscspn)
BY_SET(wchar_t *, wcspbrk)

/* As strtok_r (string.c): looks no further than the token's end, whose character it overwrites. */
LIBRARY(wchar_t *, wcstok, wchar_t *text, const wchar_t *set, wchar_t **next)
{
    const wchar_t *start = text ? text : *next;
    wchar_t *token = wcstok(text, set, next);
    EFFECTS(wcstok)
    {
        if (!text)
            read_bytes(next, sizeof *next);
        read_bytes(set, whole(set));
        const wchar_t *end = token ? token + wcslen(token) : start ? start + wcslen(start) : NULL;
        read_bytes(start, end ? (size_t)(end - start + 1) * WIDE : 0);
        if (token && *next == end + 1)
            write_bytes(end, WIDE);
        write_bytes(next, sizeof *next);
    }
    return token;
}

LIBRARY(wchar_t *, wcpcpy, wchar_t *to, const wchar_t *from)
{
    wchar_t *end = wcpcpy(to, from);
    EFFECTS(wcpcpy) { copy_bytes(to, from, whole(to)); }
    return end;
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

LIBRARY(wchar_t *, wcsncat, wchar_t *to, const wchar_t *from, size_t limit)
{
    size_t length = whence_recording() ? wcslen(to) : 0;
    wchar_t *result = wcsncat(to, from, limit);
    EFFECTS(wcsncat)
    {
        size_t added = wcslen(to + length);
        read_bytes(to, (length + 1) * WIDE);
        copy_bytes(to + length, from, added * WIDE);
        write_bytes(to + length + added, WIDE);
    }
    return result;
}

static void copied_and_filled(wchar_t *to, const wchar_t *from, size_t size)
{
    size_t copied = wcsnlen(to, size) * WIDE;
    copy_bytes(to, from, copied);
    write_bytes((char *)to + copied, size * WIDE - copied);
}

LIBRARY(wchar_t *, wcsncpy, wchar_t *to, const wchar_t *from, size_t size)
{
    wchar_t *result = wcsncpy(to, from, size);
    EFFECTS(wcsncpy) { copied_and_filled(to, from, size); }
    return result;
}

LIBRARY(wchar_t *, wcpncpy, wchar_t *to, const wchar_t *from, size_t size)
{
    wchar_t *end = wcpncpy(to, from, size);
    EFFECTS(wcpncpy) { copied_and_filled(to, from, size); }
    return end;
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
#ifdef __GLIBC__
WIDE_COPY(wmempcpy)
#endif

LIBRARY(wchar_t *, wmemchr, const wchar_t *from, wchar_t c, size_t count)
{
    wchar_t *found = (wmemchr)(from, c, count);
    EFFECTS(wmemchr) { read_bytes(from, (found ? (size_t)(found - from + 1) : count) * WIDE); }
    return found;
}

/* Numbers: what was looked at ends behind the number. */
#define NUMBER_FROM_WIDE(type, name, call, ...) \
    LIBRARY(type, name, const wchar_t *text, __VA_ARGS__) \
    { \
        int before = errno; \
        wchar_t *end; \
        type result = call; \
        if (end_out) \
            *end_out = end; \
        EFFECTS_ERRNO(name, before) \
        { \
            read_bytes(text, (size_t)(end - text + 1) * WIDE); \
            write_bytes(end_out, end_out ? sizeof *end_out : 0); \
        } \
        return result; \
    }

NUMBER_FROM_WIDE(long, wcstol, wcstol(text, &end, base), wchar_t **end_out, int base)
NUMBER_FROM_WIDE(unsigned long, wcstoul, wcstoul(text, &end, base), wchar_t **end_out, int base)
NUMBER_FROM_WIDE(long long, wcstoll, wcstoll(text, &end, base), wchar_t **end_out, int base)
NUMBER_FROM_WIDE(unsigned long long, wcstoull, wcstoull(text, &end, base), wchar_t **end_out, int base)
LIBRARY_SAME(__isoc23_wcstol, wcstol);
LIBRARY_SAME(__isoc23_wcstoul, wcstoul);
LIBRARY_SAME(__isoc23_wcstoll, wcstoll);
LIBRARY_SAME(__isoc23_wcstoull, wcstoull);
NUMBER_FROM_WIDE(double, wcstod, wcstod(text, &end), wchar_t **end_out)
NUMBER_FROM_WIDE(float, wcstof, wcstof(text, &end), wchar_t **end_out)
NUMBER_FROM_WIDE(long double, wcstold, wcstold(text, &end), wchar_t **end_out)

/* Conversions that go on where they stopped: `from` then points behind what was read, or is null at the end. */
LIBRARY(size_t, mbsrtowcs, wchar_t *to, const char **from, size_t limit, mbstate_t *shift)
{
    int before = errno;
    const char *start = *from;
    size_t made = mbsrtowcs(to, from, limit, shift);
    EFFECTS_ERRNO(mbsrtowcs, before)
    {
        read_bytes(from, sizeof *from);
        read_bytes(start, to && *from ? (size_t)(*from - start) : strlen(start) + 1);
        if (to) {
            write_bytes(to, made == (size_t)-1 ? 0 : (made + !*from) * WIDE);
            write_bytes(from, sizeof *from);
        }
    }
    return made;
}

LIBRARY(size_t, wcsrtombs, char *to, const wchar_t **from, size_t limit, mbstate_t *shift)
{
    int before = errno;
    const wchar_t *start = *from;
    size_t made = wcsrtombs(to, from, limit, shift);
    EFFECTS_ERRNO(wcsrtombs, before)
    {
        read_bytes(from, sizeof *from);
        read_bytes(start, to && *from ? (size_t)(*from - start) * WIDE : whole(start));
        if (to) {
            write_bytes(to, made == (size_t)-1 ? 0 : made + !*from);
            write_bytes(from, sizeof *from);
        }
    }
    return made;
}

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

/* A wide format's characters that are in no character set of one byte stand in no conversion. */
static void narrow(const wchar_t *format, char *to, size_t room)
{
    size_t i = 0;
    for (; format[i] && i + 1 < room; i++)
        to[i] = format[i] > 0 && format[i] < 128 ? (char)format[i] : '?';
    to[i] = 0;
}

enum { LONGEST_FORMAT = 1024 };

static int print_wide(uint32_t function, wchar_t *to, size_t size, const wchar_t *format, va_list list, unsigned first,
                      int listed)
{
    int before = errno;
    va_list used;
    va_copy(used, list);
    int length = vswprintf(to, size, format, used);
    va_end(used);
    int after = errno_now();
    if (effects_begin(function)) {
        char text[LONGEST_FORMAT];
        narrow(format, text, sizeof text);
        read_bytes(format, whole(format));
        if (listed)
            read_list(list);
        whence_format_pieces(text, list, first, listed, (struct formatted){NULL, 0});
        if (size)
            write_bytes(to, (length < 0 ? size : (size_t)length + 1) * WIDE);
        effects_end_errno(before, after);
    }
    return length;
}

LIBRARY(int, swprintf, wchar_t *to, size_t size, const wchar_t *format, ...)
{
    va_list list;
    va_start(list, format);
    int length = print_wide(LIBRARY_swprintf, to, size, format, list, 3, 0);
    va_end(list);
    return length;
}

LIBRARY(int, vswprintf, wchar_t *to, size_t size, const wchar_t *format, va_list list)
{
    return print_wide(LIBRARY_vswprintf, to, size, format, list, 3, 1);
}

LIBRARY(size_t, wcsxfrm, wchar_t *to, const wchar_t *from, size_t size)
{
    size_t length = wcsxfrm(to, from, size);
    EFFECTS(wcsxfrm)
    {
        read_bytes(from, whole(from));
        write_bytes(to, length < size ? (length + 1) * WIDE : 0);
    }
    return length;
}

LIBRARY(size_t, wcsftime, wchar_t *to, size_t size, const wchar_t *format, const struct tm *parts)
{
    size_t length = wcsftime(to, size, format, parts);
    EFFECTS(wcsftime)
    {
        read_bytes(format, whole(format));
        read_bytes(parts, sizeof *parts);
        write_bytes(to, length ? (length + 1) * WIDE : 0);
    }
    return length;
}

LIBRARY(int, wcswidth, const wchar_t *text, size_t limit)
{
    int width = wcswidth(text, limit);
    EFFECTS(wcswidth)
    {
        size_t length = wcsnlen(text, limit);
        read_bytes(text, (length + (length < limit)) * WIDE);
    }
    return width;
}

LIBRARY(int, mbsinit, const mbstate_t *shift)
{
    int result = mbsinit(shift);
    EFFECTS(mbsinit) { read_bytes(shift, shift ? sizeof *shift : 0); }
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

static size_t encoded_text(const wchar_t *text)
{
    size_t length = 0;
    for (; *text; text++)
        length += encoded(*text);
    return length;
}

LIBRARY(wchar_t *, fgetws, wchar_t *to, int size, FILE *stream)
{
    int before = errno;
    wchar_t *line = fgetws(to, size, stream);
    EFFECTS_ERRNO(fgetws, before)
    {
        whence_stream_in(stream, line ? encoded_text(line) : 0);
        write_bytes(to, line ? whole(line) : 0);
    }
    return line;
}

LIBRARY(int, fputws, const wchar_t *text, FILE *stream)
{
    int before = errno;
    int result = fputws(text, stream);
    EFFECTS_ERRNO(fputws, before)
    {
        if (result >= 0) {
            whence_stream_out(stream, encoded_text(text));
            piece(0, 0, encoded_text(text));
        }
        read_bytes(text, whole(text));
    }
    return result;
}
