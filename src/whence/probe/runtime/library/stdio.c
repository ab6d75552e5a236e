/* Wrappers of stdio.h, apart from the printf and scanf families (print.c): characters, lines, blocks, files. */
#include "library/library.h"
#include "alter/mappings.h"

#include <stdio_ext.h>
#include <stdlib.h>

/* Opening and closing. */

static void opened(FILE *stream)
{
    if (!stream)
        return;
    whence_descriptor_opened(fileno(stream));
    whence_stream_moved(stream);
}

static FILE *open_path(const char *path, const char *mode)
{
    char here;
    if (whence_calls_are_seen() || !path || !whence_is_mappings(path))
        return fopen(path, mode);
    long descriptor = whence_open_mappings((uintptr_t)&here);
    if (descriptor < 0)
        errno = (int)-descriptor;
    return descriptor < 0 ? NULL : fdopen((int)descriptor, mode);
}

LIBRARY(FILE *, fopen, const char *path, const char *mode)
{
    int before = errno;
    FILE *stream = open_path(path, mode);
    EFFECTS_ERRNO(fopen, before)
    {
        read_string(path);
        read_string(mode);
        state(STATE_READ, FILE_SYSTEM_STATE);
        opened(stream);
    }
    return stream;
}
LIBRARY_SAME(fopen64, fopen);

LIBRARY(FILE *, freopen, const char *path, const char *mode, FILE *old)
{
    whence_standard_streams();
    int before = errno;
    FILE *stream = freopen(path, mode, old);
    EFFECTS_ERRNO(freopen, before)
    {
        read_string(path);
        read_string(mode);
        opened(stream);
    }
    return stream;
}
LIBRARY_SAME(freopen64, freopen);

LIBRARY(FILE *, fdopen, int descriptor, const char *mode)
{
    int before = errno;
    FILE *stream = fdopen(descriptor, mode);
    EFFECTS_ERRNO(fdopen, before)
    {
        read_string(mode);
        if (stream)
            whence_stream_asked(stream);
    }
    return stream;
}

LIBRARY(FILE *, tmpfile, void)
{
    int before = errno;
    FILE *stream = tmpfile();
    EFFECTS_ERRNO(tmpfile, before) { opened(stream); }
    return stream;
}
LIBRARY_SAME(tmpfile64, tmpfile);

LIBRARY(FILE *, popen, const char *command, const char *mode)
{
    int before = errno;
    FILE *stream = popen(command, mode);
    EFFECTS_ERRNO(popen, before)
    {
        read_string(command);
        read_string(mode);
        opened(stream);
    }
    return stream;
}

LIBRARY(int, fclose, FILE *stream)
{
    whence_standard_streams();
    int before = errno, descriptor = fileno(stream);
    EFFECTS(fclose) { whence_stream_moved(stream); }
    int result = fclose(stream);
    EFFECTS_ERRNO(fclose, before) { whence_descriptor_opened(descriptor); }
    return result;
}

LIBRARY(int, pclose, FILE *stream)
{
    whence_standard_streams();
    int before = errno, descriptor = fileno(stream);
    EFFECTS(pclose) { whence_stream_moved(stream); }
    int result = pclose(stream);
    EFFECTS_ERRNO(pclose, before) { whence_descriptor_opened(descriptor); }
    return result;
}

LIBRARY(int, remove, const char *path)
{
    int before = errno;
    int result = remove(path);
    EFFECTS_ERRNO(remove, before)
    {
        read_string(path);
        state(STATE_BOTH, FILE_SYSTEM_STATE);
    }
    return result;
}

LIBRARY(int, rename, const char *old, const char *new)
{
    int before = errno;
    int result = rename(old, new);
    EFFECTS_ERRNO(rename, before)
    {
        read_string(old);
        read_string(new);
        state(STATE_BOTH, FILE_SYSTEM_STATE);
    }
    return result;
}

/* Input. */

/* One character was taken, or the end was met (which later feof and reads depend on). */
static void character_in(FILE *stream, int character)
{
    if (character == EOF)
        whence_stream_moved(stream);
    else
        whence_stream_in(stream, 1);
}

LIBRARY(int, fgetc, FILE *stream)
{
    int before = errno;
    int character = getc(stream);
    EFFECTS_ERRNO(fgetc, before) { character_in(stream, character); }
    return character;
}
LIBRARY_SAME(getc, fgetc);
LIBRARY_SAME(_IO_getc, fgetc);
LIBRARY_SAME(getc_unlocked, fgetc);
LIBRARY_SAME(fgetc_unlocked, fgetc);
LIBRARY_SAME(__uflow, fgetc);

LIBRARY(int, getchar, void)
{
    int before = errno;
    int character = getchar();
    EFFECTS_ERRNO(getchar, before) { character_in(stdin, character); }
    return character;
}
LIBRARY_SAME(getchar_unlocked, getchar);

LIBRARY(int, ungetc, int character, FILE *stream)
{
    int result = ungetc(character, stream);
    EFFECTS(ungetc) { whence_stream_pushed_back(stream, result); }
    return result;
}
LIBRARY_SAME(_IO_ungetc, ungetc);

LIBRARY(int, getw, FILE *stream)
{
    int before = errno;
    int word = getw(stream);
    EFFECTS_ERRNO(getw, before) { whence_stream_in_to_position(stream); }
    return word;
}

/* A line came into a buffer of `size` bytes. A NUL byte in the input hides what follows it. */
static void line_in(FILE *stream, char *line, int size)
{
    if (!line) {
        whence_stream_moved(stream);
        return;
    }
    size_t length = strlen(line);
    int whole = (length && line[length - 1] == '\n') || length + 1 >= (size_t)size || feof(stream);
    if (whole)
        whence_stream_in(stream, length);
    else
        whence_stream_in_to_position(stream);
    write_bytes(line, whole ? length + 1 : (size_t)size);
    if (feof(stream))
        whence_stream_moved(stream);
}

LIBRARY(char *, fgets, char *line, int size, FILE *stream)
{
    int before = errno;
    char *result = fgets(line, size, stream);
    EFFECTS_ERRNO(fgets, before) { line_in(stream, result, size); }
    return result;
}
LIBRARY_SAME(fgets_unlocked, fgets);

REAL(char *, gets, char *);

LIBRARY(char *, gets, char *line)
{
    int before = errno;
    char *result = real_gets(line);
    EFFECTS_ERRNO(gets, before)
    {
        size_t length = result ? strlen(line) + !feof(stdin) : 0;
        whence_stream_in(stdin, length);
        write_bytes(line, result ? strlen(line) + 1 : 0);
        if (feof(stdin))
            whence_stream_moved(stdin);
    }
    return result;
}

/* The buffer of getline may have come, gone or moved. */
static void buffer_grown(char *old, size_t old_size, char **line, size_t *size)
{
    if (*line == old && *size == old_size)
        return;
    if (*line != old) {
        released(old, old_size);
        whence_block_allocated(*line, *size);
        write_bytes(line, sizeof *line);
    } else if (*size > old_size) {
        resized(old, *size);
        whence_block_allocated(old + old_size, *size - old_size);
    }
    write_bytes(size, sizeof *size);
}

LIBRARY(ssize_t, getdelim, char **line, size_t *size, int end, FILE *stream)
{
    int before = errno;
    char *old = *line;
    size_t old_size = old ? *size : 0;
    ssize_t length = getdelim(line, size, end, stream);
    EFFECTS_ERRNO(getdelim, before)
    {
        read_bytes(line, sizeof *line);
        read_bytes(size, sizeof *size);
        buffer_grown(old, old_size, line, size);
        if (length >= 0) {
            whence_stream_in(stream, (size_t)length);
            write_bytes(*line, (size_t)length + 1);
        }
        if (length < 0 || feof(stream))
            whence_stream_moved(stream);
    }
    return length;
}
LIBRARY_SAME(__getdelim, getdelim);

LIBRARY(ssize_t, getline, char **line, size_t *size, FILE *stream)
{
    return __whence_lib_getdelim(line, size, '\n', stream);
}

LIBRARY(size_t, fread, void *to, size_t size, size_t count, FILE *stream)
{
    int before = errno;
    size_t done = fread(to, size, count, stream);
    EFFECTS_ERRNO(fread, before)
    {
        whence_stream_in(stream, done * size);
        write_bytes(to, done * size);
        if (done < count)
            whence_stream_moved(stream);
    }
    return done;
}
LIBRARY_SAME(fread_unlocked, fread);

/* Output. */

LIBRARY(int, fputc, int character, FILE *stream)
{
    int before = errno;
    int result = putc(character, stream);
    EFFECTS_ERRNO(fputc, before)
    {
        if (result != EOF) {
            whence_stream_out(stream, 1);
            piece(0, 0, 1);
        }
    }
    return result;
}
LIBRARY_SAME(putc, fputc);
LIBRARY_SAME(_IO_putc, fputc);
LIBRARY_SAME(putc_unlocked, fputc);
LIBRARY_SAME(fputc_unlocked, fputc);

LIBRARY(int, __overflow, FILE *stream, int character) { return __whence_lib_fputc(character, stream); }

LIBRARY(int, putchar, int character)
{
    int before = errno;
    int result = putchar(character);
    EFFECTS_ERRNO(putchar, before)
    {
        if (result != EOF) {
            whence_stream_out(stdout, 1);
            piece(0, 0, 1);
        }
    }
    return result;
}
LIBRARY_SAME(putchar_unlocked, putchar);

LIBRARY(int, putw, int word, FILE *stream)
{
    int before = errno;
    int result = putw(word, stream);
    EFFECTS_ERRNO(putw, before)
    {
        if (!result) {
            whence_stream_out(stream, sizeof word);
            piece(0, 0, sizeof word);
        }
    }
    return result;
}

/* A string was read, and put out when all went well, with `more` bytes behind it. */
static void text_out(FILE *stream, const char *text, int done, size_t more)
{
    size_t length = strlen(text);
    if (done && length + more) {
        whence_stream_out(stream, length + more);
        piece(0, 0, length);
    }
    read_bytes(text, length + 1);
}

LIBRARY(int, fputs, const char *text, FILE *stream)
{
    int before = errno;
    int result = fputs(text, stream);
    EFFECTS_ERRNO(fputs, before)
    {
        text_out(stream, text, result >= 0, 0);
    }
    return result;
}
LIBRARY_SAME(fputs_unlocked, fputs);

LIBRARY(int, puts, const char *text)
{
    int before = errno;
    int result = puts(text);
    EFFECTS_ERRNO(puts, before)
    {
        text_out(stdout, text, result >= 0, 1);
    }
    return result;
}

LIBRARY(size_t, fwrite, const void *from, size_t size, size_t count, FILE *stream)
{
    int before = errno;
    size_t done = fwrite(from, size, count, stream);
    EFFECTS_ERRNO(fwrite, before)
    {
        if (done && size) {
            whence_stream_out(stream, done * size);
            piece(0, 0, done * size);
            read_bytes(from, done * size);
        }
    }
    return done;
}
LIBRARY_SAME(fwrite_unlocked, fwrite);

LIBRARY(void, perror, const char *text)
{
    int before = errno;
    perror(text);
    EFFECTS_ERRNO(perror, before)
    {
        size_t length = text && *text ? strlen(text) : 0;
        whence_stream_out(stderr, length + (length ? 2 : 0) + strlen(strerror(before)) + 1);
        piece(0, 0, length);
        read_bytes(text, length ? length + 1 : 0);
        read_bytes(&errno, sizeof errno);
    }
}

/* Positions and flags. */

LIBRARY(int, fseek, FILE *stream, long offset, int whence)
{
    int before = errno;
    int result = fseek(stream, offset, whence);
    EFFECTS_ERRNO(fseek, before) { whence_stream_moved(stream); }
    return result;
}

LIBRARY(int, fseeko, FILE *stream, off_t offset, int whence)
{
    int before = errno;
    int result = fseeko(stream, offset, whence);
    EFFECTS_ERRNO(fseeko, before) { whence_stream_moved(stream); }
    return result;
}
LIBRARY_SAME(fseeko64, fseeko);

LIBRARY(void, rewind, FILE *stream)
{
    int before = errno;
    rewind(stream);
    EFFECTS_ERRNO(rewind, before) { whence_stream_moved(stream); }
}

LIBRARY(void, clearerr, FILE *stream)
{
    clearerr(stream);
    EFFECTS(clearerr) { whence_stream_moved(stream); }
}
LIBRARY_SAME(clearerr_unlocked, clearerr);

LIBRARY(int, fgetpos, FILE *stream, fpos_t *position)
{
    int before = errno;
    int result = fgetpos(stream, position);
    EFFECTS_ERRNO(fgetpos, before)
    {
        whence_stream_asked(stream);
        write_bytes(position, result ? 0 : sizeof *position);
    }
    return result;
}
LIBRARY_SAME(fgetpos64, fgetpos);

LIBRARY(int, fsetpos, FILE *stream, const fpos_t *position)
{
    int before = errno;
    int result = fsetpos(stream, position);
    EFFECTS_ERRNO(fsetpos, before)
    {
        read_bytes(position, sizeof *position);
        whence_stream_moved(stream);
    }
    return result;
}
LIBRARY_SAME(fsetpos64, fsetpos);

LIBRARY(long, ftell, FILE *stream)
{
    int before = errno;
    long position = ftell(stream);
    EFFECTS_ERRNO(ftell, before) { whence_stream_asked(stream); }
    return position;
}

LIBRARY(off_t, ftello, FILE *stream)
{
    int before = errno;
    off_t position = ftello(stream);
    EFFECTS_ERRNO(ftello, before) { whence_stream_asked(stream); }
    return position;
}
LIBRARY_SAME(ftello64, ftello);

LIBRARY(int, feof, FILE *stream)
{
    int before = errno;
    int result = feof(stream);
    EFFECTS_ERRNO(feof, before) { whence_stream_asked(stream); }
    return result;
}
LIBRARY_SAME(feof_unlocked, feof);

LIBRARY(int, ferror, FILE *stream)
{
    int before = errno;
    int result = ferror(stream);
    EFFECTS_ERRNO(ferror, before) { whence_stream_asked(stream); }
    return result;
}
LIBRARY_SAME(ferror_unlocked, ferror);
