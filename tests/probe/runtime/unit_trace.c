#define _GNU_SOURCE
#include "record/trace.h"
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { CHUNK_HEADER = 8 };

/* Records into a new file with room for so many chunks. */
static void begin(uint64_t chunks, int is_ring)
{
    snprintf(whence_trace.path, sizeof whence_trace.path, "/tmp/whence-unit-%d", (int)getpid());
    CHECK(whence_trace_start(chunks * CHUNK_BYTES, is_ring) == 0);
    unlink(whence_trace.path);
}

static uint32_t unit_at(uint64_t chunk, uint64_t unit)
{
    uint32_t found;
    off_t place = HEADER_BYTES + (off_t)(chunk * CHUNK_BYTES + unit * sizeof found);
    CHECK(pread(whence_trace.descriptor, &found, sizeof found, place) == sizeof found);
    return found;
}

TEST(the_header_says_what_follows)
{
    begin(3, 0);
    CHECK(!memcmp(whence_trace.header, "WHNCTRC1", 8));
    CHECK(whence_trace.header[FORMAT] >> 32 == CHUNK_UNITS && whence_trace.header[LIMIT] == 3);
    CHECK(whence_trace.header[CHUNKS] == 0 && whence_trace.header[FLAGS] == 0);
}

TEST(units_follow_one_another)
{
    begin(1, 0);
    errno = 5;
    whence_reserve(2)[1] = 77;
    whence_reserve(1)[0] = 78;
    CHECK(errno == 5);
    CHECK(whence_trace.header[CHUNKS] == 1 && unit_at(0, 0) == 1);
    CHECK(unit_at(0, CHUNK_HEADER + 1) == 77 && unit_at(0, CHUNK_HEADER + 2) == 78 && unit_at(0, CHUNK_HEADER + 3) == 0);
}

TEST(what_has_no_room_goes_into_the_next_chunk)
{
    begin(2, 0);
    whence_reserve(CHUNK_UNITS - 100);
    *whence_reserve(200) = 5;
    CHECK(whence_trace.header[CHUNKS] == 2);
    CHECK(unit_at(0, 4) == CHUNK_UNITS - 100 + CHUNK_HEADER); /* units used */
    CHECK(unit_at(1, 0) == 2 && unit_at(1, CHUNK_HEADER) == 5);
}

TEST(another_thread_is_told)
{
    begin(1, 0);
    whence_reserve(1)[0] = 1;
    whence_thread = 3;
    *whence_take_room(1) = 9;
    CHECK(unit_at(0, CHUNK_HEADER + 1) == (KIND_THREAD | 3) && unit_at(0, CHUNK_HEADER + 2) == 9);
    whence_note_start(4);
    whence_note_threads(5);
    CHECK(unit_at(0, CHUNK_HEADER + 3) == (KIND_START | 4));
    CHECK(whence_trace.header[FLAGS] == FLAG_THREADS && whence_trace.header[THREADS] == 5);
}

TEST(at_the_limit_recording_ends_and_the_run_goes_on)
{
    begin(1, 0);
    _Atomic uint64_t *header = whence_trace.header;
    whence_reserve(CHUNK_UNITS - 100);
    for (int i = 0; i < 1000; i++)
        *whence_reserve(1000) = 1; /* in scratch memory */
    CHECK(header[FLAGS] == FLAG_LIMIT && header[CHUNKS] == 1 && !whence_trace.header);
}

TEST(a_ring_keeps_the_last_chunks)
{
    begin(2, 1); /* and the one that is written */
    for (uint32_t i = 1; i <= 5; i++)
        *whence_reserve(CHUNK_UNITS - 100) = i;
    CHECK(whence_trace.header[FLAGS] == FLAG_RING && whence_trace.header[CHUNKS] == 5);
    CHECK(unit_at(2, 0) == 3 && unit_at(2, CHUNK_HEADER) == 3);
    CHECK(unit_at(0, 0) == 4 && unit_at(0, CHUNK_HEADER) == 4);
    CHECK(unit_at(1, 0) == 5 && unit_at(1, CHUNK_HEADER) == 5);
}

TEST(a_closed_descriptor_is_opened_again)
{
    snprintf(whence_trace.path, sizeof whence_trace.path, "/tmp/whence-unit-%d", (int)getpid());
    CHECK(whence_trace_start(2 * CHUNK_BYTES, 0) == 0);
    whence_reserve(CHUNK_UNITS - 100);
    close(whence_trace.descriptor);
    *whence_reserve(200) = 6;
    CHECK(whence_trace.header && whence_trace.header[CHUNKS] == 2 && unit_at(1, CHUNK_HEADER) == 6);
    unlink(whence_trace.path);
}

int main(int argc, char **argv)
{
    const char *wanted = argc > 1 ? argv[1] : "";
    RUN(the_header_says_what_follows);
    RUN(units_follow_one_another);
    RUN(what_has_no_room_goes_into_the_next_chunk);
    RUN(another_thread_is_told);
    RUN(at_the_limit_recording_ends_and_the_run_goes_on);
    RUN(a_ring_keeps_the_last_chunks);
    RUN(a_closed_descriptor_is_opened_again);
    return 2;
}
