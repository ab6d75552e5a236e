#define _GNU_SOURCE
#include "record/baton.h"
#include "unit.h"

/* So many threads, all ready, with the first one having the turn. */
static void begin(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        whence_occupy(&whence_threads[i]);
    whence_holder = whence_self = whence_threads;
}

static long chosen(unsigned from)
{
    struct whence_thread *next = whence_choose(&whence_threads[from], AT_WAIT);
    return next ? next - whence_threads : -1;
}

static void block(unsigned number, const void *object, uint64_t until)
{
    struct whence_thread *thread = &whence_threads[number];
    thread->state = BLOCKED, thread->object = object, thread->until = until;
}

TEST(the_next_in_order_of_number_has_the_turn)
{
    begin(3);
    CHECK(chosen(0) == 1 && chosen(1) == 2 && chosen(2) == 0);
    block(1, NULL, WHENCE_NEVER);
    CHECK(chosen(0) == 2);
    block(2, NULL, WHENCE_NEVER);
    CHECK(chosen(0) == 0); /* itself last */
    block(0, NULL, WHENCE_NEVER);
    CHECK(chosen(0) == -1);
}

TEST(when_all_sleep_time_jumps_to_the_first_that_wakes)
{
    begin(3);
    whence_time_us = 100;
    block(0, NULL, 900);
    block(1, NULL, 500);
    block(2, NULL, 700);
    CHECK(chosen(0) == 1 && whence_time_us == 500);
    block(1, NULL, WHENCE_NEVER);
    whence_time_us = 800;
    CHECK(chosen(0) == 2 && whence_time_us == 800); /* its time has come already */
}

TEST(who_waits_for_an_object_is_woken)
{
    static const int door, other;
    begin(4);
    block(1, &door, WHENCE_NEVER);
    block(2, &other, WHENCE_NEVER);
    block(3, &door, WHENCE_NEVER);
    whence_threads[1].patience = WHENCE_INSIST;
    CHECK(whence_wake_all(&door)); /* one insists */
    CHECK(whence_threads[1].state == READY && whence_threads[2].state == BLOCKED && whence_threads[3].woken);
    CHECK(!whence_wake_all(&other));
}

TEST(a_place_is_given_again_when_its_thread_is_gone)
{
    begin(3);
    CHECK(whence_free_slot() == &whence_threads[3]);
    whence_threads[1].state = ENDED; /* not joined yet */
    CHECK(whence_free_slot() == &whence_threads[3] && whence_alive() == 2);
    whence_threads[1].state = UNUSED;
    CHECK(whence_free_slot() == &whence_threads[1]);
}

TEST(slices_vary_within_bounds_and_always_alike)
{
    static uint32_t trace[1 << 16];
    uint32_t *limit = trace + (1 << 16);
    CHECK(whence_slice(trace, limit) == limit); /* one thread has no slices */
    whence_scheduling = 1;
    long first = whence_slice(trace, limit) - trace, second = whence_slice(trace, limit) - trace;
    CHECK(first == 8192 + (UINT64_C(1442695040888963407) >> 50));
    CHECK(first != second && second >= 8192 && second < 8192 + (1 << 14));
    CHECK(whence_slice(limit - 5, limit) == limit);
}

int main(int argc, char **argv)
{
    const char *wanted = argc > 1 ? argv[1] : "";
    RUN(the_next_in_order_of_number_has_the_turn);
    RUN(when_all_sleep_time_jumps_to_the_first_that_wakes);
    RUN(who_waits_for_an_object_is_woken);
    RUN(a_place_is_given_again_when_its_thread_is_gone);
    RUN(slices_vary_within_bounds_and_always_alike);
    return 2;
}
