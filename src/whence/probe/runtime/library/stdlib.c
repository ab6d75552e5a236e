/* Wrappers of stdlib.h and wchar.h: numbers from text, sorting and searching, the environment, random numbers,
   multibyte characters. */
#include "library/library.h"

#include <stdlib.h>
#include <wchar.h>

/* Numbers from text. `end` is where the number ended; when there is none, reading stopped after white space. The real
   functions leave the end alone when the base is wrong. */
static void number_read(const char *text, const char *end, char **end_out)
{
    if (end == text)
        end += strspn(text, " \t\n\v\f\r") + (text[0] == '+' || text[0] == '-');
    read_bytes(text, (size_t)(end - text) + 1);
    if (end_out)
        write_bytes(end_out, sizeof *end_out);
}

#define INTEGER_FROM_TEXT(REFERENCE, type, number, name) \
    REFERENCE(type, name, const char *, char **, int); \
    LIBRARY(type, name, const char *text, char **end_out, int base) \
    { \
        int before = errno; \
        char *end = (char *)text; \
        type result = real_##name(text, &end, base); \
        if (end_out && (base == 0 || (base >= 2 && base <= 36))) \
            *end_out = end; \
        EFFECTS_ERRNO(number, before) { number_read(text, end, end_out); } \
        return result; \
    }

#define FLOAT_FROM_TEXT(type, name) \
    LIBRARY(type, name, const char *text, char **end_out) \
    { \
        int before = errno; \
        char *end; \
        type result = name(text, &end); \
        if (end_out) \
            *end_out = end; \
        EFFECTS_ERRNO(name, before) { number_read(text, end, end_out); } \
        return result; \
    }

/* atoi and its kin do not say where the number ended: `parse` is asked. */
#define NUMBER_FROM_TEXT(type, name, parse) \
    LIBRARY(type, name, const char *text) \
    { \
        int before = errno; \
        type result = name(text); \
        EFFECTS_ERRNO(name, before) \
        { \
            char *end; \
            (void)parse; \
            number_read(text, end, NULL); \
        } \
        return result; \
    }

INTEGER_FROM_TEXT(REAL, long, strtol, strtol)
INTEGER_FROM_TEXT(REAL, unsigned long, strtoul, strtoul)
INTEGER_FROM_TEXT(REAL, long long, strtoll, strtoll)
INTEGER_FROM_TEXT(REAL, unsigned long long, strtoull, strtoull)
LIBRARY_SAME(strtoimax, strtol);
LIBRARY_SAME(strtoumax, strtoul);
INTEGER_FROM_TEXT(REAL_C23, long, strtol, __isoc23_strtol)
INTEGER_FROM_TEXT(REAL_C23, unsigned long, strtoul, __isoc23_strtoul)
INTEGER_FROM_TEXT(REAL_C23, long long, strtoll, __isoc23_strtoll)
INTEGER_FROM_TEXT(REAL_C23, unsigned long long, strtoull, __isoc23_strtoull)
LIBRARY_SAME(__isoc23_strtoimax, __isoc23_strtol);
LIBRARY_SAME(__isoc23_strtoumax, __isoc23_strtoul);
FLOAT_FROM_TEXT(double, strtod)
FLOAT_FROM_TEXT(float, strtof)
FLOAT_FROM_TEXT(long double, strtold)
NUMBER_FROM_TEXT(int, atoi, real_strtol(text, &end, 10))
NUMBER_FROM_TEXT(long, atol, real_strtol(text, &end, 10))
NUMBER_FROM_TEXT(long long, atoll, real_strtoll(text, &end, 10))
NUMBER_FROM_TEXT(double, atof, strtod(text, &end))

/* Sorting and searching call back: one record before, one after. */

typedef int comparison(const void *, const void *);
typedef int comparison_with(const void *, const void *, void *);

LIBRARY(void, qsort, void *base, size_t count, size_t size, comparison *compare)
{
    int before = errno;
    EFFECTS(qsort) { read_bytes(base, count * size); }
    qsort(base, count, size, compare);
    EFFECTS_ERRNO(qsort, before)
    {
        read_bytes(base, count * size);
        write_bytes(base, count * size);
    }
}

LIBRARY(void, qsort_r, void *base, size_t count, size_t size, comparison_with *compare, void *context)
{
    int before = errno;
    EFFECTS(qsort_r) { read_bytes(base, count * size); }
    qsort_r(base, count, size, compare, context);
    EFFECTS_ERRNO(qsort_r, before)
    {
        read_bytes(base, count * size);
        write_bytes(base, count * size);
    }
}

/* The elements that a binary search looks at are read by the comparison, in the program. */
LIBRARY(void *, bsearch, const void *key, const void *base, size_t count, size_t size, comparison *compare)
{
    EFFECTS(bsearch) { }
    void *found = (bsearch)(key, base, count, size, compare);
    EFFECTS(bsearch) { read_bytes(found, found ? size : 0); }
    return found;
}

/* The environment. */

LIBRARY(char *, getenv, const char *name)
{
    char *value = getenv(name);
    EFFECTS(getenv)
    {
        read_string(name);
        state(STATE_READ, ENVIRONMENT_STATE);
    }
    return value;
}
LIBRARY_SAME(secure_getenv, getenv);

LIBRARY(int, setenv, const char *name, const char *value, int overwrite)
{
    int before = errno;
    int result = setenv(name, value, overwrite);
    EFFECTS_ERRNO(setenv, before)
    {
        read_string(name);
        read_string(value);
        state(STATE_BOTH, ENVIRONMENT_STATE);
        const char *kept = result ? NULL : getenv(name);
        if (kept && overwrite)
            copy_bytes(kept, value, strlen(kept) + 1);
    }
    return result;
}

LIBRARY(int, unsetenv, const char *name)
{
    int before = errno;
    int result = unsetenv(name);
    EFFECTS_ERRNO(unsetenv, before)
    {
        read_string(name);
        state(STATE_BOTH, ENVIRONMENT_STATE);
    }
    return result;
}

LIBRARY(int, putenv, char *setting)
{
    int before = errno;
    int result = putenv(setting);
    EFFECTS_ERRNO(putenv, before)
    {
        read_string(setting);
        state(STATE_BOTH, ENVIRONMENT_STATE);
    }
    return result;
}

/* What the command prints is not seen; it may change files. */
LIBRARY(int, system, const char *command)
{
    int before = errno;
    int result = system(command);
    EFFECTS_ERRNO(system, before)
    {
        read_string(command);
        state(STATE_BOTH, FILE_SYSTEM_STATE);
        state(STATE_READ, ENVIRONMENT_STATE);
    }
    return result;
}

LIBRARY(char *, realpath, const char *path, char *to)
{
    int before = errno;
    char *result = realpath(path, to);
    EFFECTS_ERRNO(realpath, before)
    {
        read_string(path);
        state(STATE_READ, FILE_SYSTEM_STATE);
        if (result && !to)
            whence_block_allocated(result, strlen(result) + 1);
        write_bytes(result, result ? strlen(result) + 1 : 0);
    }
    return result;
}

#ifdef __GLIBC__
REAL(char *, canonicalize_file_name, const char *);

LIBRARY(char *, canonicalize_file_name, const char *path)
{
    int before = errno;
    char *result = real_canonicalize_file_name(path);
    EFFECTS_ERRNO(canonicalize_file_name, before)
    {
        read_string(path);
        state(STATE_READ, FILE_SYSTEM_STATE);
        if (result)
            whence_block_allocated(result, strlen(result) + 1);
        write_bytes(result, result ? strlen(result) + 1 : 0);
    }
    return result;
}
#endif

/* Random numbers. */

REAL(int, getentropy, void *, size_t);

LIBRARY(int, getentropy, void *to, size_t size)
{
    int before = errno;
    int result = real_getentropy(to, size);
    EFFECTS_ERRNO(getentropy, before) { write_bytes(to, result ? 0 : size); }
    return result;
}

#define RANDOM_NUMBER(type, name) \
    LIBRARY(type, name, void) \
    { \
        type result = name(); \
        EFFECTS(name) { state(STATE_BOTH, RANDOM_STATE); } \
        return result; \
    }

#define RANDOM_SEED(type, name) \
    LIBRARY(void, name, type seed) \
    { \
        name(seed); \
        EFFECTS(name) { state(STATE_WRITE, RANDOM_STATE); } \
    }

RANDOM_NUMBER(int, rand)
RANDOM_NUMBER(long, random)
RANDOM_NUMBER(double, drand48)
RANDOM_NUMBER(long, lrand48)
RANDOM_NUMBER(long, mrand48)
RANDOM_SEED(unsigned, srand)
RANDOM_SEED(unsigned, srandom)
RANDOM_SEED(long, srand48)

LIBRARY(int, rand_r, unsigned *seed)
{
    int result = rand_r(seed);
    EFFECTS(rand_r)
    {
        read_bytes(seed, sizeof *seed);
        write_bytes(seed, sizeof *seed);
    }
    return result;
}

/* Multibyte characters. */

/* Shift state of a conversion: in the caller's object, or in the library. */
static void shift_state(const mbstate_t *shift)
{
    if (shift) {
        read_bytes(shift, sizeof *shift);
        write_bytes(shift, sizeof *shift);
    } else {
        state(STATE_BOTH, SHIFT_STATE);
    }
}

/* A character of `length` bytes was looked at: as many as were given when it is broken or incomplete. */
static void character_read(const char *text, size_t limit, size_t length)
{
    size_t known = length > limit ? limit : length;
    if (text)
        read_bytes(text, known ? known : 1);
}

LIBRARY(int, mblen, const char *text, size_t limit)
{
    int before = errno;
    int length = mblen(text, limit);
    EFFECTS_ERRNO(mblen, before) { character_read(text, limit, (size_t)length); }
    return length;
}

LIBRARY(int, mbtowc, wchar_t *to, const char *text, size_t limit)
{
    int before = errno;
    int length = mbtowc(to, text, limit);
    EFFECTS_ERRNO(mbtowc, before)
    {
        character_read(text, limit, (size_t)length);
        write_bytes(to, to && text && length >= 0 ? sizeof *to : 0);
    }
    return length;
}

LIBRARY(size_t, mbrlen, const char *text, size_t limit, mbstate_t *shift)
{
    int before = errno;
    size_t length = mbrlen(text, limit, shift);
    EFFECTS_ERRNO(mbrlen, before)
    {
        character_read(text, limit, length);
        shift_state(shift);
    }
    return length;
}

LIBRARY(size_t, mbrtowc, wchar_t *to, const char *text, size_t limit, mbstate_t *shift)
{
    int before = errno;
    size_t length = mbrtowc(to, text, limit, shift);
    EFFECTS_ERRNO(mbrtowc, before)
    {
        character_read(text, limit, length);
        shift_state(shift);
        write_bytes(to, to && text && length <= limit ? sizeof *to : 0);
    }
    return length;
}

LIBRARY(int, wctomb, char *to, wchar_t character)
{
    int before = errno;
    int length = wctomb(to, character);
    EFFECTS_ERRNO(wctomb, before) { write_bytes(to, to && length > 0 ? (size_t)length : 0); }
    return length;
}

LIBRARY(size_t, wcrtomb, char *to, wchar_t character, mbstate_t *shift)
{
    int before = errno;
    size_t length = wcrtomb(to, character, shift);
    EFFECTS_ERRNO(wcrtomb, before)
    {
        shift_state(shift);
        write_bytes(to, to && length != (size_t)-1 ? length : 0);
    }
    return length;
}

LIBRARY(size_t, mbstowcs, wchar_t *to, const char *text, size_t limit)
{
    int before = errno;
    size_t length = mbstowcs(to, text, limit);
    EFFECTS_ERRNO(mbstowcs, before)
    {
        read_string(text);
        if (to && length != (size_t)-1)
            write_bytes(to, (length < limit ? length + 1 : limit) * sizeof *to);
    }
    return length;
}

LIBRARY(size_t, wcstombs, char *to, const wchar_t *text, size_t limit)
{
    int before = errno;
    size_t length = wcstombs(to, text, limit);
    EFFECTS_ERRNO(wcstombs, before)
    {
        read_bytes(text, (wcslen(text) + 1) * sizeof *text);
        if (to && length != (size_t)-1)
            write_bytes(to, length < limit ? length + 1 : limit);
    }
    return length;
}
