#include "alter/control.h"
#include "unit.h"

uint8_t __whence_armed[8];
const uint64_t __whence_armed_bytes = sizeof __whence_armed;

enum { CAPTURE = 8, ROOM = 64 };

/* A session file: what is expected, two results, and room for outputs. */
static struct {
    struct whence_session head;
    char expected[16], expected_error[16];
    struct whence_result results[2];
    char outputs[ROOM];
} file;
static __typeof__(*whence_control) own;
static char kept[2][CAPTURE];

static void begin(const char *expected, uint64_t flags)
{
    memset(&file, 0, sizeof file);
    strcpy(file.expected, expected);
    file.head.expected = (uintptr_t)file.expected - (uintptr_t)&file;
    file.head.expected_length = strlen(expected);
    file.head.expected_error = (uintptr_t)file.expected_error - (uintptr_t)&file;
    file.head.results = (uintptr_t)file.results - (uintptr_t)&file;
    file.head.outputs = (uintptr_t)file.outputs - (uintptr_t)&file;
    file.head.outputs_limit = ROOM;
    file.head.capture = CAPTURE;
    file.head.flags = flags;
    whence_control = &own;
    own.file = &file.head;
    own.capture[0] = kept[0], own.capture[1] = kept[1];
    own.running = 1;
    own.is_running = 1;
    memset(&whence_streams, 0, sizeof whence_streams);
    whence_output_start();
}

static void put(const char *text) { whence_output(1, text, strlen(text)); }

TEST(the_first_wrong_byte_is_found_over_several_writes)
{
    begin("one two", JUDGE_OUTPUT);
    put("one ");
    CHECK(!whence_output_is_wrong());
    put("twO");
    CHECK(whence_streams.first_wrong == 6);
    put("more");
    CHECK(whence_streams.first_wrong == 6 && whence_streams.written[1] == 11);
}

TEST(more_than_is_expected_is_wrong_where_that_ends)
{
    begin("one", JUDGE_OUTPUT);
    put("one");
    CHECK(!whence_output_is_wrong());
    put("\n");
    CHECK(whence_streams.first_wrong == 3);
    begin("one", JUDGE_OUTPUT);
    put("one\n");
    CHECK(whence_streams.first_wrong == 3);
}

TEST(less_than_is_expected_is_wrong_at_the_end)
{
    begin("one\n", JUDGE_OUTPUT);
    put("one");
    CHECK(!whence_output_is_wrong());
    whence_output_end();
    CHECK(whence_streams.first_wrong == 3);
}

TEST(what_is_not_judged_is_not_wrong)
{
    begin("one", JUDGE_ERROR);
    put("two");
    CHECK(!whence_output_is_wrong());
    whence_output(2, "x", 1);
    CHECK(whence_streams.first_wrong_error == 0);
}

/* Ends the continuation, and gives its result. */
static struct whence_result *ended(struct whence_ending ending)
{
    if (!__builtin_setjmp(own.back))
        whence_end(ending);
    return whence_result_of(1);
}

TEST(a_run_is_judged_by_its_end_and_its_output)
{
    begin("one", JUDGE_OUTPUT | JUDGE_STATUS);
    put("one");
    CHECK(ended((struct whence_ending){VERDICT_UNJUDGED, 0, 0})->verdict == VERDICT_PASS);
    CHECK(ended((struct whence_ending){VERDICT_UNJUDGED, 3, 0})->verdict == VERDICT_WRONG_STATUS);
    CHECK(ended((struct whence_ending){VERDICT_UNJUDGED, 0, 11})->verdict == VERDICT_CRASH);
    CHECK(whence_result_of(1)->signal == 11 && whence_result_of(0)->verdict == VERDICT_NOT_RUN);
    CHECK(ended((struct whence_ending){VERDICT_TIMEOUT, 0, 0})->verdict == VERDICT_TIMEOUT);
    put("!");
    CHECK(ended((struct whence_ending){VERDICT_UNJUDGED, 0, 0})->verdict == VERDICT_WRONG_OUTPUT);
    file.head.expected_status = 128 + 11;
    begin("one", JUDGE_STATUS);
    file.head.expected_status = 128 + 11;
    CHECK(ended((struct whence_ending){VERDICT_UNJUDGED, 0, 11})->verdict == VERDICT_PASS);
}

TEST(outputs_are_kept_for_another_oracle)
{
    begin("", KEEP_OUTPUT);
    put("longer than is kept");
    whence_output(2, "err", 3);
    struct whence_result *result = ended((struct whence_ending){VERDICT_UNJUDGED, 0, 0});
    CHECK(result->verdict == VERDICT_UNJUDGED && result->output_length == CAPTURE && result->error_length == 3);
    CHECK(!memcmp(file.outputs + result->output, "longer terr", CAPTURE + 3));
}

TEST(what_cannot_be_taken_back_changes_the_way)
{
    begin("", JUDGE_STATUS);
    own.has_changed_way = 0;
    if (!__builtin_setjmp(own.back))
        whence_refuse(59);
    CHECK(whence_result_of(1)->verdict == VERDICT_REFUSED && whence_result_of(1)->status == 59);
    CHECK(!own.has_changed_way);
    if (!__builtin_setjmp(own.back))
        whence_change_way(59);
    CHECK(own.has_changed_way);
}

int main(int argc, char **argv)
{
    const char *wanted = argc > 1 ? argv[1] : "";
    RUN(the_first_wrong_byte_is_found_over_several_writes);
    RUN(more_than_is_expected_is_wrong_where_that_ends);
    RUN(less_than_is_expected_is_wrong_at_the_end);
    RUN(what_is_not_judged_is_not_wrong);
    RUN(a_run_is_judged_by_its_end_and_its_output);
    RUN(outputs_are_kept_for_another_oracle);
    RUN(what_cannot_be_taken_back_changes_the_way);
    return 2;
}
