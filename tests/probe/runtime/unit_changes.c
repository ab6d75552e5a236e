#include "alter/changes.h"
#include "unit.h"

#include <math.h>

uint8_t __whence_armed[8];
const uint64_t __whence_armed_bytes = sizeof __whence_armed;

enum { ADD = 1, SUB, MUL, SDIV, UDIV, SREM, UREM, SHL, LSHR, ASHR, AND, OR, XOR };
enum { FADD = 21, FREM = 25, EQ = 31, NE, SLT, SLE, SGT, SGE, ULT, ULE, OEQ = 51, UNE, OLT, UEQ = 57, ORD = 63, UNO };

static uint64_t bits(double value)
{
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

static uint64_t small(float value)
{
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

TEST(integers_have_their_width)
{
    CHECK(whence_computed(ADD, 250, 10, 8) == 4);
    CHECK(whence_computed(SUB, 0, 1, 32) == UINT32_MAX);
    CHECK(whence_computed(MUL, UINT64_C(1) << 63, 2, 64) == 0);
    CHECK(whence_computed(SDIV, (uint32_t)-7, 2, 32) == (uint32_t)-3);
    CHECK(whence_computed(UDIV, (uint32_t)-7, 2, 32) == 0x7ffffffc);
    CHECK(whence_computed(SREM, 0xf9 /* -7 */, 2, 8) == 0xff);
    CHECK(whence_computed(SHL, 1, 33, 32) == 2); /* as the processor shifts */
    CHECK(whence_computed(ASHR, 0x80, 3, 8) == 0xf0);
    CHECK(whence_computed(LSHR, 0x80, 3, 8) == 0x10);
    CHECK(whence_computed(XOR, 0xff, 0x0f, 8) == 0xf0);
}

TEST(comparisons_know_signs)
{
    CHECK(whence_computed(SLT, 0xff, 1, 8) == 1);
    CHECK(whence_computed(ULT, 0xff, 1, 8) == 0);
    CHECK(whence_computed(SGE, 0x80000000, 0x7fffffff, 32) == 0);
    CHECK(whence_computed(ULE, 3, 3, 64) == 1);
    CHECK(whence_computed(EQ, 3, 4, 1) == 0 && whence_computed(NE, 3, 4, 1) == 1);
}

TEST(floats_compare_as_C_does)
{
    CHECK(whence_computed(FADD, bits(1.5), bits(2.25), 64) == bits(3.75));
    CHECK(whence_computed(FADD, small(0.1f), small(0.2f), 32) == small(0.1f + 0.2f));
    CHECK(whence_computed(FREM, bits(7.5), bits(2), 64) == bits(1.5));
    CHECK(whence_computed(OEQ, bits(NAN), bits(NAN), 64) == 0 && whence_computed(UEQ, bits(NAN), bits(1), 64) == 1);
    CHECK(whence_computed(UNE, bits(NAN), bits(NAN), 64) == 1);
    CHECK(whence_computed(OLT, small(-0.5f), small(0.5f), 32) == 1);
    CHECK(whence_computed(UNO, bits(NAN), bits(0), 64) == 1 && whence_computed(ORD, bits(NAN), bits(0), 64) == 0);
}

static const struct whence_session no_budget;

static uint64_t at(const struct whence_change *changes, uint64_t count, struct whence_point point)
{
    whence_begin_changes(changes, count, &no_budget);
    return whence_altered(&point);
}

TEST(a_change_is_made_at_its_instance_alone)
{
    struct whence_change set = {.clock = 4, .site = 7, .op = OP_SET, .value = 99, .width = 32};
    CHECK(at(&set, 1, (struct whence_point){.clock = 5, .site = 7, .value = 1}) == 99);
    CHECK(whence_state.applied == 1);
    CHECK(at(&set, 1, (struct whence_point){.clock = 6, .site = 7, .value = 1}) == 1);
    CHECK(at(&set, 1, (struct whence_point){.clock = 5, .site = 8, .value = 1}) == 1);
    CHECK(whence_state.applied == 0);
    set.clock = WHENCE_EVERY;
    CHECK(at(&set, 1, (struct whence_point){.clock = 6, .site = 7, .value = 1}) == 99);
}

TEST(a_guard_asks_for_the_value)
{
    struct whence_change add = {
        .clock = WHENCE_EVERY, .site = 1, .op = OP_ADD, .value = 3, .width = 8, .flags = CHANGE_GUARDED, .guard = 254};
    CHECK(at(&add, 1, (struct whence_point){.clock = 1, .site = 1, .value = 254}) == 1);
    CHECK(at(&add, 1, (struct whence_point){.clock = 1, .site = 1, .value = 253}) == 253);
}

TEST(changes_of_one_site_are_made_in_order)
{
    struct whence_change both[] = {{.clock = WHENCE_EVERY, .site = 1, .op = OP_ADD, .value = 1, .width = 32},
                                   {.clock = WHENCE_EVERY, .site = 1, .op = OP_NEGATE, .width = 32}};
    CHECK(at(both, 2, (struct whence_point){.clock = 1, .site = 1, .value = 4}) == (uint32_t)-5);
    CHECK(whence_state.applied == 2);
}

TEST(operands_are_changed_before_the_operation)
{
    struct whence_change left = {
        .clock = WHENCE_EVERY, .site = 1, .op = OP_LEFT_ADD, .value = 2, .width = 32, .operation = SUB};
    struct whence_point point = {.clock = 1, .site = 1, .value = 4, .left = 7, .right = 3, .is_computed = 1};
    CHECK(at(&left, 1, point) == 6);
    left.op = OP_OPERATOR, left.operation = MUL;
    CHECK(at(&left, 1, point) == 21);
}

TEST(memory_follows_the_value_where_it_is_to)
{
    uint16_t place[2] = {5, 6};
    struct whence_change set = {
        .clock = WHENCE_EVERY, .site = 1, .op = OP_SET, .value = 0x10203, .width = 16, .flags = CHANGE_MEMORY};
    at(&set, 1, (struct whence_point){.clock = 1, .site = 1, .value = 5, .place = place});
    CHECK(place[0] == 0x203 && place[1] == 6);
}

TEST(a_skipped_call_has_its_result_from_the_same_change)
{
    struct whence_change skip = {.clock = WHENCE_EVERY, .site = 3, .op = OP_SKIP, .value = 42, .width = 32};
    struct whence_point call = {.clock = 1, .site = 3, .value = (uintptr_t)abort, .is_call = 1};
    uint64_t function = at(&skip, 1, call);
    CHECK(function != (uintptr_t)abort);
    ((void (*)(void))function)();
    struct whence_point result = {.clock = 1, .site = 4, .value = 7};
    CHECK(whence_altered(&result) == 42 && whence_state.applied == 1);
}

TEST(another_member_is_read_beside_the_place)
{
    int32_t box[3] = {5, 6, 7};
    struct whence_change other = {.clock = WHENCE_EVERY, .site = 1, .op = OP_MEMBER, .value = 4, .width = 32};
    struct whence_point point = {.clock = 1, .site = 1, .value = 6, .place = &box[1]};
    CHECK(at(&other, 1, point) == 7);
    other.value = -4ull;
    CHECK(at(&other, 1, point) == 5 && box[1] == 6);
}

/* `left && right` as `left || right`, and the other way round: both operands are asked, the right one has the outcome. */
TEST(an_exchanged_operator_has_its_outcome_at_the_right_operand)
{
    for (unsigned both = 0; both < 8; both++) {
        uint64_t left = both & 1, right = both >> 1 & 1, is_and = both >> 2;
        struct whence_change other = {.clock = WHENCE_EVERY, .site = 3, .block = 1, .op = OP_EXCHANGE, .value = is_and,
                                      .address = 5, .guard = 2, .operation = !is_and, .width = 1};
        CHECK(at(&other, 1, (struct whence_point){.clock = 1, .site = 3, .value = left}) == is_and);
        CHECK(__whence_armed[1] == 1 && __whence_armed[2] == 1 && __whence_armed[3] == 0);
        struct whence_point second = {.clock = 2, .site = 5, .value = right};
        CHECK(whence_altered(&second) == (is_and ? left | right : left & right));
        CHECK(whence_state.applied == 1);
    }
}

TEST(stops_are_changes_and_the_budget)
{
    struct whence_change three[] = {{.clock = 9}, {.clock = 4}, {.clock = WHENCE_EVERY, .block = 2}};
    struct whence_session file = {.budget = 7};
    __whence_clock = 0;
    whence_begin_changes(three, 3, &file);
    CHECK(__whence_stop == 5 && __whence_armed[2] == 1 && __whence_armed[1] == 0);
    __whence_clock = 5;
    CHECK(!whence_follow(4, 0) && whence_follow(5, 0));
    CHECK(__whence_stop == 8); /* the budget comes before the last */
    whence_begin_changes(three, 3, &no_budget);
    CHECK(__whence_stop == 10);
    __whence_clock = 10;
    CHECK(whence_follow(10, 0) && __whence_stop == UINT64_MAX);
}

TEST(what_is_to_stop_is_followed_block_by_block)
{
    struct whence_change two[] = {{.clock = 4}, {.clock = 6, .op = OP_STOP}};
    __whence_clock = 0;
    whence_begin_changes(two, 2, &no_budget);
    CHECK(__whence_stop == 0 && whence_state.path == 0);
    __whence_clock = 5;
    CHECK(whence_follow(5, 7) && whence_state.path == 8 && __whence_stop == 0);
    __whence_clock = 6;
    CHECK(!whence_follow(6, 1) && whence_state.path != 8);
}

TEST(where_the_unaltered_run_has_no_end_the_budget_counts_from_the_first_change)
{
    struct whence_change set = {.clock = 19, .site = 1, .op = OP_SET, .width = 32};
    struct whence_session file = {.budget = 5, .endless = 100};
    __whence_clock = 0;
    whence_begin_changes(&set, 1, &file);
    CHECK(whence_state.budget == 100);
    struct whence_point point = {.clock = 20, .site = 1, .value = 7};
    whence_altered(&point);
    CHECK(whence_state.budget == 25);
}

int main(int argc, char **argv)
{
    const char *wanted = argc > 1 ? argv[1] : "";
    RUN(integers_have_their_width);
    RUN(comparisons_know_signs);
    RUN(floats_compare_as_C_does);
    RUN(a_change_is_made_at_its_instance_alone);
    RUN(a_guard_asks_for_the_value);
    RUN(changes_of_one_site_are_made_in_order);
    RUN(operands_are_changed_before_the_operation);
    RUN(memory_follows_the_value_where_it_is_to);
    RUN(a_skipped_call_has_its_result_from_the_same_change);
    RUN(another_member_is_read_beside_the_place);
    RUN(an_exchanged_operator_has_its_outcome_at_the_right_operand);
    RUN(stops_are_changes_and_the_budget);
    RUN(what_is_to_stop_is_followed_block_by_block);
    RUN(where_the_unaltered_run_has_no_end_the_budget_counts_from_the_first_change);
    return 2;
}
