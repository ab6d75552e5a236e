/* Output of a run: compared as it is written, so how far it has come is part of the state that a continuation goes back to. */
#include "alter/control.h"

#include <string.h>

WHENCE_HOT struct whence_streams whence_streams = {0};

void whence_output_start(void) { whence_streams.first_wrong = whence_streams.first_wrong_error = WHENCE_NOWHERE; }

/* Where bytes written at `at` first differ from what is expected there, or NOWHERE. */
static uint64_t first_difference(const char *bytes, uint64_t length, uint64_t at, uint64_t expected, uint64_t size)
{
    const char *right = FILE_AT(expected);
    uint64_t compared = at >= size ? 0 : size - at < length ? size - at : length;
    if (compared && memcmp(bytes, right + at, compared)) {
        while (*bytes == right[at])
            bytes++, at++;
        return at;
    }
    return compared < length ? at + compared : WHENCE_NOWHERE;
}

static void compare(int stream, const char *bytes, uint64_t length)
{
    const struct whence_session *file = whence_control->file;
    struct whence_streams *streams = &whence_streams;
    uint64_t at = streams->written[stream];
    if (stream == 1 && (file->flags & JUDGE_OUTPUT) && streams->first_wrong == WHENCE_NOWHERE)
        streams->first_wrong = first_difference(bytes, length, at, file->expected, file->expected_length);
    if (stream == 2 && (file->flags & JUDGE_ERROR) && streams->first_wrong_error == WHENCE_NOWHERE)
        streams->first_wrong_error = first_difference(bytes, length, at, file->expected_error, file->expected_error_length);
}

static void keep(int stream, const char *bytes, uint64_t length)
{
    uint64_t at = whence_streams.written[stream], size = whence_control->file->capture;
    uint64_t room = at < size ? size - at : 0;
    if (room)
        memcpy(whence_control->capture[stream - 1] + at, bytes, length < room ? length : room);
}

void whence_output(int stream, const char *bytes, uint64_t length)
{
    compare(stream, bytes, length);
    if (whence_control->file->flags & KEEP_OUTPUT)
        keep(stream, bytes, length);
    whence_streams.written[stream] += length;
}

int whence_output_is_wrong(void)
{
    return whence_streams.first_wrong != WHENCE_NOWHERE || whence_streams.first_wrong_error != WHENCE_NOWHERE;
}

void whence_output_end(void)
{
    const struct whence_session *file = whence_control->file;
    struct whence_streams *streams = &whence_streams;
    if ((file->flags & JUDGE_OUTPUT) && streams->first_wrong == WHENCE_NOWHERE && streams->written[1] < file->expected_length)
        streams->first_wrong = streams->written[1];
    if ((file->flags & JUDGE_ERROR) && streams->first_wrong_error == WHENCE_NOWHERE &&
        streams->written[2] < file->expected_error_length)
        streams->first_wrong_error = streams->written[2];
}
