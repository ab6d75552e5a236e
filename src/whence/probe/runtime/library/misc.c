/* Wrappers of time.h, sys/time.h, getopt.h, locale.h, regex.h, fnmatch.h, iconv.h and libgen.h, and of the functions
   of math.h that write through a pointer. */
#include "library/library.h"

#include <fnmatch.h>
#include <getopt.h>
#include <iconv.h>
#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/time.h>
#include <time.h>

/* Time. */

LIBRARY(time_t, time, time_t *to)
{
    time_t now = time(to);
    EFFECTS(time) { write_bytes(to, to ? sizeof *to : 0); }
    return now;
}

LIBRARY(int, gettimeofday, struct timeval *to, void *zone)
{
    int before = errno;
    int result = gettimeofday(to, zone);
    EFFECTS_ERRNO(gettimeofday, before) { write_bytes(to, to ? sizeof *to : 0); }
    return result;
}

LIBRARY(int, clock_gettime, clockid_t clock, struct timespec *to)
{
    int before = errno;
    int result = clock_gettime(clock, to);
    EFFECTS_ERRNO(clock_gettime, before) { write_bytes(to, result ? 0 : sizeof *to); }
    return result;
}

#define BROKEN_DOWN(name) \
    LIBRARY(struct tm *, name, const time_t *from) \
    { \
        int before = errno; \
        struct tm *parts = name(from); \
        EFFECTS_ERRNO(name, before) \
        { \
            read_bytes(from, sizeof *from); \
            write_bytes(parts, parts ? sizeof *parts : 0); \
        } \
        return parts; \
    } \
    LIBRARY(struct tm *, name##_r, const time_t *from, struct tm *to) \
    { \
        int before = errno; \
        struct tm *parts = name##_r(from, to); \
        EFFECTS_ERRNO(name##_r, before) \
        { \
            read_bytes(from, sizeof *from); \
            write_bytes(parts, parts ? sizeof *parts : 0); \
        } \
        return parts; \
    }

BROKEN_DOWN(localtime)
BROKEN_DOWN(gmtime)

#define FROM_PARTS(name) \
    LIBRARY(time_t, name, struct tm *parts) \
    { \
        int before = errno; \
        time_t result = name(parts); \
        EFFECTS_ERRNO(name, before) \
        { \
            read_bytes(parts, sizeof *parts); \
            write_bytes(parts, sizeof *parts); \
        } \
        return result; \
    }

FROM_PARTS(mktime)
FROM_PARTS(timegm)

#define TIME_AS_TEXT(name, type) \
    LIBRARY(char *, name, const type *from) \
    { \
        char *text = name(from); \
        EFFECTS(name) \
        { \
            read_bytes(from, sizeof *from); \
            write_bytes(text, text ? strlen(text) + 1 : 0); \
        } \
        return text; \
    }

TIME_AS_TEXT(ctime, time_t)
TIME_AS_TEXT(asctime, struct tm)

#define TIME_AS_TEXT_TO(name, from) \
    LIBRARY(char *, name, const from *time, char *to) \
    { \
        int before = errno; \
        char *text = name(time, to); \
        EFFECTS_ERRNO(name, before) \
        { \
            read_bytes(time, sizeof *time); \
            write_bytes(to, text ? strlen(text) + 1 : 0); \
        } \
        return text; \
    }

TIME_AS_TEXT_TO(ctime_r, time_t)
TIME_AS_TEXT_TO(asctime_r, struct tm)

LIBRARY(size_t, strftime, char *to, size_t size, const char *format, const struct tm *parts)
{
    int before = errno;
    size_t length = strftime(to, size, format, parts);
    EFFECTS_ERRNO(strftime, before)
    {
        read_string(format);
        read_bytes(parts, sizeof *parts);
        state(STATE_READ, LOCALE_STATE);
        write_bytes(to, length ? length + 1 : 0);
    }
    return length;
}

LIBRARY(char *, strptime, const char *text, const char *format, struct tm *parts)
{
    char *end = strptime(text, format, parts);
    EFFECTS(strptime)
    {
        read_string(format);
        read_string(text);
        write_bytes(parts, sizeof *parts);
    }
    return end;
}

/* Options of the command line. */

/* What a call may look at: the position, and the arguments from there to where it came. */
static void options_read(int count, char *const *arguments, int from, int to, const char *letters)
{
    state(STATE_BOTH, OPTION_STATE);
    read_bytes(&optind, sizeof optind);
    read_bytes(&opterr, sizeof opterr);
    read_string(letters);
    read_bytes(arguments, (size_t)count * sizeof *arguments);
    for (int i = from > 0 ? from : 1; i < count && i <= to; i++)
        read_string(arguments[i]);
}

static void options_written(void)
{
    write_bytes(&optind, sizeof optind);
    write_bytes(&optarg, sizeof optarg);
    write_bytes(&optopt, sizeof optopt);
}

/* The GNU functions move arguments that are no options to the end. */
static void arguments_moved(int count, char *const *arguments, char *const *were)
{
    for (int i = 0; i < count; i++)
        if (arguments[i] != were[i])
            write_bytes(&arguments[i], sizeof arguments[i]);
}

/* Not in the heap: what the subject allocates lies in recordings where it lies in its other runs. */
static char **arguments_kept(int count, char *const *arguments)
{
    if (!whence_recording() || count <= 0)
        return NULL;
    size_t size = (size_t)count * sizeof *arguments;
    char **kept = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (kept == MAP_FAILED)
        return NULL;
    return memcpy(kept, arguments, size);
}

static void arguments_dropped(int count, char **kept)
{
    if (kept)
        munmap(kept, (size_t)count * sizeof *kept);
}

LIBRARY(int, getopt, int count, char *const arguments[], const char *letters)
{
    int before = errno, from = optind;
    char **kept = arguments_kept(count, arguments);
    int option = getopt(count, arguments, letters);
    EFFECTS_ERRNO(getopt, before)
    {
        options_read(count, arguments, from, optind, letters);
        options_written();
        if (kept)
            arguments_moved(count, arguments, kept);
    }
    arguments_dropped(count, kept);
    return option;
}

typedef int long_options(int, char *const[], const char *, const struct option *, int *);

static void long_options_read(const struct option *all, const int *index)
{
    for (const struct option *one = all; one; one++) {
        read_bytes(one, sizeof *one);
        if (!one->name)
            break;
        read_string(one->name);
    }
    if (index && *index >= 0)
        write_bytes(index, sizeof *index);
}

#define LONG_OPTIONS(name) \
    LIBRARY(int, name, int count, char *const arguments[], const char *letters, const struct option *all, int *index) \
    { \
        int before = errno, from = optind, chosen = -1; \
        char **kept = arguments_kept(count, arguments); \
        int option = name(count, arguments, letters, all, &chosen); \
        if (index && chosen >= 0) \
            *index = chosen; \
        EFFECTS_ERRNO(name, before) \
        { \
            options_read(count, arguments, from, optind, letters); \
            long_options_read(all, index); \
            if (chosen >= 0 && all[chosen].flag) \
                write_bytes(all[chosen].flag, sizeof *all[chosen].flag); \
            options_written(); \
            if (kept) \
                arguments_moved(count, arguments, kept); \
        } \
        arguments_dropped(count, kept); \
        return option; \
    }

LONG_OPTIONS(getopt_long)
LONG_OPTIONS(getopt_long_only)

/* Locale and conversion of characters. */

LIBRARY(char *, setlocale, int category, const char *name)
{
    int before = errno;
    char *result = setlocale(category, name);
    EFFECTS_ERRNO(setlocale, before)
    {
        read_string(name);
        state(name ? STATE_BOTH : STATE_READ, LOCALE_STATE);
    }
    return result;
}

LIBRARY(char *, nl_langinfo, nl_item item)
{
    char *text = nl_langinfo(item);
    EFFECTS(nl_langinfo) { state(STATE_READ, LOCALE_STATE); }
    return text;
}

LIBRARY(struct lconv *, localeconv, void)
{
    struct lconv *result = localeconv();
    EFFECTS(localeconv)
    {
        state(STATE_READ, LOCALE_STATE);
        write_bytes(result, sizeof *result);
    }
    return result;
}

LIBRARY(iconv_t, iconv_open, const char *to, const char *from)
{
    int before = errno;
    iconv_t conversion = iconv_open(to, from);
    EFFECTS_ERRNO(iconv_open, before)
    {
        read_string(to);
        read_string(from);
        state(STATE_WRITE, (uintptr_t)conversion);
    }
    return conversion;
}

LIBRARY(size_t, iconv, iconv_t conversion, char **from, size_t *from_left, char **to, size_t *to_left)
{
    int before = errno;
    const char *from_start = from ? *from : NULL, *to_start = to ? *to : NULL;
    size_t result = iconv(conversion, from, from_left, to, to_left);
    EFFECTS_ERRNO(iconv, before)
    {
        state(STATE_BOTH, (uintptr_t)conversion);
        if (from_start) {
            read_bytes(from, sizeof *from);
            read_bytes(from_left, sizeof *from_left);
            read_bytes(from_start, (size_t)(*from - from_start));
            write_bytes(from, sizeof *from);
            write_bytes(from_left, sizeof *from_left);
        }
        if (to_start) {
            write_bytes(to_start, (size_t)(*to - to_start));
            write_bytes(to, sizeof *to);
            write_bytes(to_left, sizeof *to_left);
        }
    }
    return result;
}

/* Regular expressions: what a pattern compiled to stands for the pattern. */

LIBRARY(int, regcomp, regex_t *compiled, const char *pattern, int flags)
{
    int result = regcomp(compiled, pattern, flags);
    EFFECTS(regcomp)
    {
        read_string(pattern);
        write_bytes(compiled, sizeof *compiled);
    }
    return result;
}

LIBRARY(int, regexec, const regex_t *compiled, const char *text, size_t count, regmatch_t *matches, int flags)
{
    int result = regexec(compiled, text, count, matches, flags);
    EFFECTS(regexec)
    {
        read_bytes(compiled, sizeof *compiled);
        read_string(text);
        write_bytes(matches, result ? 0 : count * sizeof *matches);
    }
    return result;
}

LIBRARY(size_t, regerror, int error, const regex_t *compiled, char *to, size_t size)
{
    size_t length = regerror(error, compiled, to, size);
    EFFECTS(regerror) { write_bytes(to, length < size ? length : size); }
    return length;
}

LIBRARY(void, regfree, regex_t *compiled)
{
    regfree(compiled);
    EFFECTS(regfree) { write_bytes(compiled, sizeof *compiled); }
}

/* Others. */

LIBRARY(int, fnmatch, const char *pattern, const char *text, int flags)
{
    int result = fnmatch(pattern, text, flags);
    EFFECTS(fnmatch)
    {
        read_string(pattern);
        read_string(text);
    }
    return result;
}

LIBRARY(ssize_t, getrandom, void *to, size_t size, unsigned flags)
{
    int before = errno;
    ssize_t length = getrandom(to, size, flags);
    EFFECTS_ERRNO(getrandom, before) { write_bytes(to, length > 0 ? (size_t)length : 0); }
    return length;
}

LIBRARY(char *, dirname, char *path)
{
    extern char *dirname(char *);
    char *result = dirname(path);
    EFFECTS(dirname)
    {
        read_string(path);
        if (path && result >= path && result <= path + strlen(path))
            write_bytes(result, strlen(result) + 1);
    }
    return result;
}

#define SPLIT_NUMBER(type, name, part) \
    LIBRARY(type, name, type number, part *to) \
    { \
        type result = name(number, to); \
        EFFECTS(name) { write_bytes(to, sizeof *to); } \
        return result; \
    }

SPLIT_NUMBER(double, frexp, int)
SPLIT_NUMBER(float, frexpf, int)
SPLIT_NUMBER(long double, frexpl, int)
SPLIT_NUMBER(double, modf, double)
SPLIT_NUMBER(float, modff, float)
SPLIT_NUMBER(long double, modfl, long double)

LIBRARY(void, sincos, double angle, double *sine, double *cosine)
{
    sincos(angle, sine, cosine);
    EFFECTS(sincos)
    {
        write_bytes(sine, sizeof *sine);
        write_bytes(cosine, sizeof *cosine);
    }
}

LIBRARY(double, remquo, double x, double y, int *quotient)
{
    double rest = remquo(x, y, quotient);
    EFFECTS(remquo) { write_bytes(quotient, sizeof *quotient); }
    return rest;
}
