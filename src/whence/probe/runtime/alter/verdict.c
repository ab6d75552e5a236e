/* The end of a run: its verdict, and the way back to the point of change. */
#include "alter/control.h"

#include <string.h>
#include <sys/syscall.h>

static uint64_t kept(uint64_t written)
{
    return written < whence_control->file->capture ? written : whence_control->file->capture;
}

static void copy_outputs(struct whence_result *result)
{
    struct whence_session *file = whence_control->file;
    uint64_t lengths[2] = {kept(whence_streams.written[1]), kept(whence_streams.written[2])};
    result->spare = file->outputs_used + lengths[0] + lengths[1] > file->outputs_limit; /* to be run again */
    if (result->spare)
        return;
    result->output = file->outputs_used;
    result->output_length = (uint32_t)lengths[0];
    result->error_length = (uint32_t)lengths[1];
    for (int stream = 0; stream < 2; stream++) {
        memcpy(FILE_AT(file->outputs + file->outputs_used), whence_control->capture[stream], lengths[stream]);
        file->outputs_used += lengths[stream];
    }
    if (!whence_keep_files()) {
        file->outputs_used = result->output;
        result->output_length = result->error_length = 0;
        result->spare = 1;
    }
}

/* `first_wrong`: of standard output and files. */
static enum whence_verdict judged(struct whence_ending ending, uint64_t first_wrong)
{
    const struct whence_session *file = whence_control->file;
    int code = ending.signal ? 128 + ending.signal : ending.status;
    if (ending.verdict != VERDICT_UNJUDGED)
        return ending.verdict;
    if (file->flags & KEEP_OUTPUT)
        return VERDICT_UNJUDGED;
    if (ending.signal && !((file->flags & JUDGE_STATUS) && file->expected_status == code))
        return VERDICT_CRASH;
    if ((file->flags & JUDGE_ERROR) && whence_streams.first_wrong_error != WHENCE_NOWHERE)
        return VERDICT_WRONG_OUTPUT;
    if (first_wrong != WHENCE_NOWHERE)
        return VERDICT_WRONG_OUTPUT;
    if ((file->flags & JUDGE_STATUS) && file->expected_status != code)
        return VERDICT_WRONG_STATUS;
    return VERDICT_PASS;
}

/* In standard output, and in the files behind it where that is right: of a run that has come to its end. */
static uint64_t first_wrong_of(struct whence_ending ending)
{
    int is_kept = (whence_control->file->flags & KEEP_OUTPUT) != 0;
    if (ending.verdict != VERDICT_UNJUDGED || is_kept || whence_streams.first_wrong != WHENCE_NOWHERE)
        return whence_streams.first_wrong;
    uint64_t place = WHENCE_NOWHERE;
    if (!whence_compare_files(&place))
        whence_refuse(SYS_open); /* a run from the start will tell */
    return place;
}

static void write_result(struct whence_result *result, struct whence_ending ending)
{
    if (ending.verdict == VERDICT_UNJUDGED)
        whence_output_end();
    result->length = __whence_clock;
    result->first_wrong = ending.verdict == VERDICT_REACHED ? whence_state.path : first_wrong_of(ending);
    result->applied = whence_state.applied;
    result->status = ending.status;
    result->signal = (uint8_t)ending.signal;
    if (whence_control->file->flags & KEEP_OUTPUT)
        copy_outputs(result);
    result->verdict = (uint8_t)judged(ending, result->first_wrong);
}

/* ---- Ends ----------------------------------------------------------------------------------------------------- */

static void leave(void) __attribute__((noreturn));
static void leave(void)
{
    whence_control->is_calling = 0;
    if (whence_control->is_child)
        whence_exit_now(0);
    __builtin_longjmp(whence_control->back, 1);
}

static void finish_session(struct whence_ending ending)
{
    struct whence_session *file = whence_control->file;
    write_result(&file->unaltered, ending);
    file->finished = 1;
    whence_exit_now(0);
}

void whence_end(struct whence_ending ending)
{
    whence_allow(0);
    if (!whence_in_continuation())
        finish_session(ending);
    write_result(whence_result_of(whence_control->running), ending);
    leave();
}

void whence_refuse(long number)
{
    struct whence_session *file = whence_control->file;
    whence_allow(0);
    if (!whence_in_continuation()) {
        file->refusal = (uint64_t)number + 1;
        file->refusal_clock = __whence_clock;
        finish_session((struct whence_ending){VERDICT_REFUSED, 0, 0});
    }
    struct whence_result *result = whence_result_of(whence_control->running);
    result->status = (int32_t)number;
    result->verdict = VERDICT_REFUSED;
    leave();
}

void whence_change_way(long number)
{
    if (whence_in_snapshot())
        whence_control->has_changed_way = 1;
    whence_refuse(number);
}
