/* Positions in streams: where in the whole output of a descriptor a call's bytes come to stand.

   One position is kept a descriptor. It is taken from the kernel and the stream's buffer at first use and after
   everything else that moves it; where the descriptor cannot seek (pipe, socket, terminal), bytes are counted from the
   start of the run. Hidden state: a file's contents count as one state, which each write changes, so that a read of a
   temporary file depends on what was written to it; a standard stream has state only once it was moved or hit its end.
   A file that is standard output or error under another name counts as that; and what another file was put behind the
   number of (freopen, dup2) is no standard stream any more, but that file. */
#include "library/library.h"

#include <stdio_ext.h>
#include <sys/stat.h>
#include <unistd.h>

struct stream {
    uint64_t position;
    uint64_t key; /* of its hidden state */
    int known;    /* whether `position` and `key` hold */
    int moved;    /* whether there is state that a read depends on */
    int same;     /* standard output or error, where it is another name of that; 0: of neither */
    int other;    /* the number of a standard stream, behind which there is another file now */
};

static struct stream streams[UNKNOWN_STREAM + 1];

/* The files of the standard streams before the program put others in their place. */
static struct {
    dev_t device;
    ino_t file;
    int is_file; /* a regular one, or a pipe: two of these are the same only where it is one */
} standard[STDERR_FILENO + 1];
static int are_noted;

void whence_standard_streams(void)
{
    int before = errno;
    for (int stream = 0; stream <= STDERR_FILENO && !are_noted; stream++) {
        struct stat status;
        if (fstat(stream, &status) != 0)
            continue;
        standard[stream].device = status.st_dev;
        standard[stream].file = status.st_ino;
        standard[stream].is_file = S_ISREG(status.st_mode) || S_ISFIFO(status.st_mode);
    }
    are_noted = 1;
    errno = before;
}

static int is_standard(int stream, const struct stat *status)
{
    return standard[stream].device == status->st_dev && standard[stream].file == status->st_ino;
}

static int slot_of(int descriptor)
{
    return descriptor < 0 || descriptor >= UNKNOWN_STREAM ? UNKNOWN_STREAM : descriptor;
}

static int slot_of_stream(FILE *stream) { return slot_of(fileno(stream)); }

static uint64_t key_of(int slot)
{
    struct stat status;
    if ((slot <= STDERR_FILENO && !streams[slot].other) || slot == UNKNOWN_STREAM || fstat(slot, &status) != 0)
        return (uint64_t)slot;
    return 1ull << 39 | (((uint64_t)status.st_dev << 24 ^ (uint64_t)status.st_ino) & 0x7FFFFFFFFF);
}

/* Position of the stream after all its calls so far, or -1. ftello is not asked for standard output and error: it may
   trust a remembered position when the program also calls write(). */
static off_t position_of(FILE *stream, int slot)
{
    if (slot != STDOUT_FILENO && slot != STDERR_FILENO)
        return ftello(stream);
    off_t position = lseek(slot, 0, SEEK_CUR);
    return position < 0 ? position : position + (off_t)__fpending(stream);
}

/* The stream's slot; its position is the one before the last `length` bytes. */
static struct stream *synchronised(FILE *stream, int slot, size_t length)
{
    struct stream *known = &streams[slot];
    if (known->known)
        return known;
    off_t position = position_of(stream, slot);
    if (position >= (off_t)length)
        known->position = (uint64_t)position - length;
    known->key = key_of(slot);
    known->known = 1;
    return known;
}

static void input(struct stream *stream, size_t length)
{
    if (length)
        whence_effect(WHENCE_IN, (unsigned)(stream - streams), 2, stream->position, length, 0);
    stream->position += length;
    if (stream->moved || stream->key > UNKNOWN_STREAM)
        state(STATE_READ, stream->key);
}

static void output(struct stream *stream, uint64_t position, size_t length)
{
    unsigned number = stream->same    ? (unsigned)stream->same
                      : stream->other ? UNKNOWN_STREAM
                                      : (unsigned)(stream - streams);
    whence_effect(WHENCE_OUT, number, 2, position, length, 0);
    stream->position += length;
    if (stream->key > UNKNOWN_STREAM)
        state(STATE_BOTH, stream->key);
}

void whence_stream_in(FILE *stream, size_t length)
{
    input(synchronised(stream, slot_of_stream(stream), length), length);
}

void whence_stream_out(FILE *stream, size_t length)
{
    struct stream *known = synchronised(stream, slot_of_stream(stream), length);
    output(known, known->position, length);
}

void whence_stream_prepare(FILE *stream) { synchronised(stream, slot_of_stream(stream), 0); }

void whence_stream_in_to_position(FILE *stream)
{
    struct stream *known = synchronised(stream, slot_of_stream(stream), 0);
    off_t position = ftello(stream);
    input(known, position > (off_t)known->position ? (size_t)position - known->position : 0);
}

void whence_stream_moved(FILE *stream)
{
    struct stream *known = synchronised(stream, slot_of_stream(stream), 0);
    state(STATE_BOTH, known->key);
    known->known = 0;
    known->moved = 1;
}

void whence_stream_pushed_back(FILE *stream, int character)
{
    struct stream *known = synchronised(stream, slot_of_stream(stream), 0);
    state(STATE_BOTH, known->key);
    known->moved = 1;
    if (character != EOF && known->position)
        known->position--;
}

void whence_stream_asked(FILE *stream)
{
    struct stream *known = synchronised(stream, slot_of_stream(stream), 0);
    state(STATE_READ, known->key);
}

/* The descriptor's slot; its position is the one before the last `length` bytes. Whatever stream has the descriptor
   must ask for its position again afterwards. */
static struct stream *synchronised_descriptor(int descriptor, size_t length)
{
    struct stream *known = &streams[slot_of(descriptor)];
    off_t position = lseek(descriptor, 0, SEEK_CUR);
    if (position >= (off_t)length)
        known->position = (uint64_t)position - length;
    known->key = key_of(slot_of(descriptor));
    known->known = 0;
    return known;
}

void whence_descriptor_in(int descriptor, size_t length) { input(synchronised_descriptor(descriptor, length), length); }

/* On a pipe, bytes that stand in standard output's buffer come after those written past it. */
void whence_descriptor_out(int descriptor, size_t length)
{
    struct stream *known = synchronised_descriptor(descriptor, length);
    uint64_t position = known->position;
    if (descriptor == STDOUT_FILENO && lseek(descriptor, 0, SEEK_CUR) < 0) {
        size_t pending = __fpending(stdout);
        position -= pending < position ? pending : position;
    }
    output(known, position, length);
}

void whence_descriptor_moved(int descriptor)
{
    struct stream *known = synchronised_descriptor(descriptor, 0);
    state(STATE_BOTH, known->key);
    known->moved = 1;
}

/* The standard stream that a descriptor is another name of, as by /dev/stdout; 0: of none. */
static int same_as(int descriptor, const struct stat *status)
{
    for (int stream = STDOUT_FILENO; stream <= STDERR_FILENO; stream++)
        if (stream != descriptor && standard[stream].is_file && is_standard(stream, status))
            return stream;
    return 0;
}

void whence_descriptor_opened(int descriptor)
{
    struct stat status;
    if (descriptor < 0)
        return;
    whence_standard_streams();
    struct stream opened = {0};
    if (fstat(descriptor, &status) == 0) {
        int is_own = descriptor <= STDERR_FILENO && is_standard(descriptor, &status);
        opened.same = is_own ? 0 : same_as(descriptor, &status);
        opened.other = descriptor <= STDERR_FILENO && !is_own;
    }
    streams[slot_of(descriptor)] = opened;
}
