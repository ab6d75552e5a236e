/* Wrappers of the printf and scanf families. What a format means is told by format.c.

   Four functions do the work, by where the text goes; `first` is the number of the first variadic argument, or of the
   va_list (`listed`). The real function gets a copy of the list, so that the list can be read again for the record. */
#include "library/library.h"

#include <stdlib.h>
#include <unistd.h>

#define CALL_WITH_COPY(result, call) \
    int before = errno; \
    va_list used; \
    va_copy(used, list); \
    int result = call; \
    va_end(used); \
    int after = errno_now()

/* The body of a variadic wrapper: `call` with the list of the arguments behind `format`. */
#define PASS_ON(call) \
    va_list list; \
    va_start(list, format); \
    int result = call; \
    va_end(list); \
    return result

static void read_format(const char *format, va_list list, int listed)
{
    read_string(format);
    if (listed)
        read_list(list);
}

static int print_stream(uint32_t function, FILE *stream, const char *format, va_list list, unsigned first, int listed)
{
    CALL_WITH_COPY(length, vfprintf(stream, format, used));
    if (effects_begin(function)) {
        size_t shown = length > 0 ? (size_t)length : 0;
        read_format(format, list, listed);
        if (shown)
            whence_stream_out(stream, shown);
        whence_format_pieces(format, list, first, listed, (struct formatted){NULL, shown});
        effects_end_errno(before, after);
    }
    return length;
}

static int print_descriptor(uint32_t function, int descriptor, const char *format, va_list list, int listed)
{
    CALL_WITH_COPY(length, vdprintf(descriptor, format, used));
    if (effects_begin(function)) {
        size_t shown = length > 0 ? (size_t)length : 0;
        read_format(format, list, listed);
        if (shown)
            whence_descriptor_out(descriptor, shown);
        whence_format_pieces(format, list, 2, listed, (struct formatted){NULL, shown});
        effects_end_errno(before, after);
    }
    return length;
}

static void printed_into(char *to, size_t size, const char *format, va_list list, unsigned first, int listed, int length)
{
    if (length < 0 || !size)
        return;
    size_t stored = (size_t)length < size ? (size_t)length : size - 1;
    write_bytes(to, stored + 1);
    whence_format_pieces(format, list, first, listed, (struct formatted){to, stored});
}

/* A size of SIZE_MAX means that nobody said how much room there is. */
static int print_buffer(uint32_t function, char *to, size_t size, const char *format, va_list list, unsigned first,
                        int listed)
{
    CALL_WITH_COPY(length, size == SIZE_MAX ? vsprintf(to, format, used) : vsnprintf(to, size, format, used));
    if (effects_begin(function)) {
        read_format(format, list, listed);
        printed_into(to, size, format, list, first, listed, length);
        effects_end_errno(before, after);
    }
    return length;
}

static int print_new(uint32_t function, char **to, const char *format, va_list list, unsigned first, int listed)
{
    CALL_WITH_COPY(length, vasprintf(to, format, used));
    if (effects_begin(function)) {
        read_format(format, list, listed);
        if (length >= 0) {
            write_bytes(to, sizeof *to);
            whence_block_allocated(*to, (size_t)length + 1);
            printed_into(*to, (size_t)length + 1, format, list, first, listed, length);
        }
        effects_end_errno(before, after);
    }
    return length;
}

LIBRARY(int, printf, const char *format, ...)
{
    PASS_ON(print_stream(LIBRARY_printf, stdout, format, list, 1, 0));
}

LIBRARY(int, vprintf, const char *format, va_list list)
{
    return print_stream(LIBRARY_vprintf, stdout, format, list, 1, 1);
}

LIBRARY(int, fprintf, FILE *stream, const char *format, ...)
{
    PASS_ON(print_stream(LIBRARY_fprintf, stream, format, list, 2, 0));
}

LIBRARY(int, vfprintf, FILE *stream, const char *format, va_list list)
{
    return print_stream(LIBRARY_vfprintf, stream, format, list, 2, 1);
}

LIBRARY(int, dprintf, int descriptor, const char *format, ...)
{
    PASS_ON(print_descriptor(LIBRARY_dprintf, descriptor, format, list, 0));
}

LIBRARY(int, vdprintf, int descriptor, const char *format, va_list list)
{
    return print_descriptor(LIBRARY_vdprintf, descriptor, format, list, 1);
}

LIBRARY(int, sprintf, char *to, const char *format, ...)
{
    PASS_ON(print_buffer(LIBRARY_sprintf, to, SIZE_MAX, format, list, 2, 0));
}

LIBRARY(int, vsprintf, char *to, const char *format, va_list list)
{
    return print_buffer(LIBRARY_vsprintf, to, SIZE_MAX, format, list, 2, 1);
}

LIBRARY(int, snprintf, char *to, size_t size, const char *format, ...)
{
    PASS_ON(print_buffer(LIBRARY_snprintf, to, size, format, list, 3, 0));
}

LIBRARY(int, vsnprintf, char *to, size_t size, const char *format, va_list list)
{
    return print_buffer(LIBRARY_vsnprintf, to, size, format, list, 3, 1);
}

LIBRARY(int, asprintf, char **to, const char *format, ...)
{
    PASS_ON(print_new(LIBRARY_asprintf, to, format, list, 2, 0));
}

LIBRARY(int, vasprintf, char **to, const char *format, va_list list)
{
    return print_new(LIBRARY_vasprintf, to, format, list, 2, 1);
}

/* Fortified variants: `flag` asks for checks of %n, `room` is the size of the buffer. */

REAL_GLIBC(void, __chk_fail, void);

static int checked(int length, size_t room)
{
    if (length >= 0 && (size_t)length >= room)
        real___chk_fail();
    return length;
}

LIBRARY(int, __printf_chk, int flag, const char *format, ...)
{
    PASS_ON(print_stream(LIBRARY___printf_chk, stdout, format, list, 2, 0));
}

LIBRARY(int, __vprintf_chk, int flag, const char *format, va_list list)
{
    return print_stream(LIBRARY___vprintf_chk, stdout, format, list, 2, 1);
}

LIBRARY(int, __fprintf_chk, FILE *stream, int flag, const char *format, ...)
{
    PASS_ON(print_stream(LIBRARY___fprintf_chk, stream, format, list, 3, 0));
}

LIBRARY(int, __vfprintf_chk, FILE *stream, int flag, const char *format, va_list list)
{
    return print_stream(LIBRARY___vfprintf_chk, stream, format, list, 3, 1);
}

LIBRARY(int, __sprintf_chk, char *to, int flag, size_t room, const char *format, ...)
{
    PASS_ON(checked(print_buffer(LIBRARY___sprintf_chk, to, room, format, list, 4, 0), room));
}

LIBRARY(int, __vsprintf_chk, char *to, int flag, size_t room, const char *format, va_list list)
{
    return checked(print_buffer(LIBRARY___vsprintf_chk, to, room, format, list, 4, 1), room);
}

LIBRARY(int, __snprintf_chk, char *to, size_t size, int flag, size_t room, const char *format, ...)
{
    if (size > room)
        real___chk_fail();
    PASS_ON(print_buffer(LIBRARY___snprintf_chk, to, size, format, list, 5, 0));
}

LIBRARY(int, __vsnprintf_chk, char *to, size_t size, int flag, size_t room, const char *format, va_list list)
{
    if (size > room)
        real___chk_fail();
    return print_buffer(LIBRARY___vsnprintf_chk, to, size, format, list, 5, 1);
}

LIBRARY(int, __asprintf_chk, char **to, int flag, const char *format, ...)
{
    PASS_ON(print_new(LIBRARY___asprintf_chk, to, format, list, 3, 0));
}

LIBRARY(int, __vasprintf_chk, char **to, int flag, const char *format, va_list list)
{
    return print_new(LIBRARY___vasprintf_chk, to, format, list, 3, 1);
}

/* The scanf family. glibc has it three times, for the C standards; which one a program means its headers have decided. */

typedef int stream_scanner(FILE *, const char *, va_list);
typedef int string_scanner(const char *, const char *, va_list);

static int scan_stream(uint32_t function, stream_scanner *scan, FILE *stream, const char *format, va_list list, int listed)
{
    int start = errno;
    if (whence_recording())
        whence_stream_prepare(stream);
    errno = start;
    CALL_WITH_COPY(assigned, scan(stream, format, used));
    if (effects_begin(function)) {
        read_format(format, list, listed);
        whence_stream_in_to_position(stream);
        whence_scan_writes(format, list, assigned, NULL);
        if (assigned < 0)
            whence_stream_moved(stream);
        effects_end_errno(before, after);
    }
    return assigned;
}

static int scan_string(uint32_t function, string_scanner *scan, const char *text, const char *format, va_list list,
                       int listed)
{
    CALL_WITH_COPY(assigned, scan(text, format, used));
    if (effects_begin(function)) {
        read_string(text);
        read_format(format, list, listed);
        whence_scan_writes(format, list, assigned, text);
        effects_end_errno(before, after);
    }
    return assigned;
}

#define SCANF_FAMILY(REFERENCE, prefix) \
    REFERENCE(int, prefix##vfscanf, FILE *, const char *, va_list); \
    REFERENCE(int, prefix##vsscanf, const char *, const char *, va_list); \
    LIBRARY(int, prefix##scanf, const char *format, ...) \
    { \
        PASS_ON(scan_stream(LIBRARY_scanf, real_##prefix##vfscanf, stdin, format, list, 0)); \
    } \
    LIBRARY(int, prefix##vscanf, const char *format, va_list list) \
    { \
        return scan_stream(LIBRARY_vscanf, real_##prefix##vfscanf, stdin, format, list, 1); \
    } \
    LIBRARY(int, prefix##fscanf, FILE *stream, const char *format, ...) \
    { \
        PASS_ON(scan_stream(LIBRARY_fscanf, real_##prefix##vfscanf, stream, format, list, 0)); \
    } \
    LIBRARY(int, prefix##vfscanf, FILE *stream, const char *format, va_list list) \
    { \
        return scan_stream(LIBRARY_vfscanf, real_##prefix##vfscanf, stream, format, list, 1); \
    } \
    LIBRARY(int, prefix##sscanf, const char *text, const char *format, ...) \
    { \
        PASS_ON(scan_string(LIBRARY_sscanf, real_##prefix##vsscanf, text, format, list, 0)); \
    } \
    LIBRARY(int, prefix##vsscanf, const char *text, const char *format, va_list list) \
    { \
        return scan_string(LIBRARY_vsscanf, real_##prefix##vsscanf, text, format, list, 1); \
    }

SCANF_FAMILY(REAL, )
SCANF_FAMILY(REAL_GLIBC, __isoc99_)
SCANF_FAMILY(REAL_C23, __isoc23_)
