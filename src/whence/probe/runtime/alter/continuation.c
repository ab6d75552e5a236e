/* One continuation: it starts at a point of change, by a snapshot or in a forked child, and ends with a verdict. */
#define _GNU_SOURCE
#include "alter/session.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* After so many snapshots in a row that did not serve, forks are taken at once; but one in so many tries again. */
enum { WAY_CHANGES = 32, TRY_AGAIN = 64, BELOW = 512 };

struct whence_result *whence_result_of(uint64_t continuation)
{
    return (struct whence_result *)FILE_AT(whence_control->file->results) + continuation;
}

const struct whence_change *whence_changes_of(uint64_t continuation, uint64_t *count)
{
    const uint64_t *offsets = FILE_AT(whence_control->file->offsets);
    *count = offsets[continuation + 1] - offsets[continuation];
    return (const struct whence_change *)FILE_AT(whence_control->file->changes) + offsets[continuation];
}

void whence_exit_now(int status)
{
    for (;;)
        whence_call(SYS_exit_group, status, 0, 0, 0, 0, 0);
}

/* ---- Verdicts ------------------------------------------------------------------------------------------------- */

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
}

static enum whence_verdict judged(struct whence_ending ending)
{
    const struct whence_session *file = whence_control->file;
    int code = ending.signal ? 128 + ending.signal : ending.status;
    if (ending.verdict != VERDICT_UNJUDGED)
        return ending.verdict;
    if (file->flags & KEEP_OUTPUT)
        return VERDICT_UNJUDGED;
    if (ending.signal && !((file->flags & JUDGE_STATUS) && file->expected_status == code))
        return VERDICT_CRASH;
    if ((file->flags & JUDGE_OUTPUT) && whence_streams.first_wrong != WHENCE_NOWHERE)
        return VERDICT_WRONG_OUTPUT;
    if ((file->flags & JUDGE_ERROR) && whence_streams.first_wrong_error != WHENCE_NOWHERE)
        return VERDICT_WRONG_OUTPUT;
    if ((file->flags & JUDGE_STATUS) && file->expected_status != code)
        return VERDICT_WRONG_STATUS;
    return VERDICT_PASS;
}

/* An output that ends too early is wrong where it ends. */
static void close_streams(void)
{
    const struct whence_session *file = whence_control->file;
    struct whence_streams *streams = &whence_streams;
    if ((file->flags & JUDGE_OUTPUT) && streams->first_wrong == WHENCE_NOWHERE && streams->written[1] < file->expected_length)
        streams->first_wrong = streams->written[1];
    if ((file->flags & JUDGE_ERROR) && streams->first_wrong_error == WHENCE_NOWHERE &&
        streams->written[2] < file->expected_error_length)
        streams->first_wrong_error = streams->written[2];
}

static void write_result(struct whence_result *result, struct whence_ending ending)
{
    if (ending.verdict == VERDICT_UNJUDGED)
        close_streams();
    result->length = __whence_clock;
    result->first_wrong = whence_streams.first_wrong;
    result->applied = whence_state.applied;
    result->status = ending.status;
    result->signal = (uint8_t)ending.signal;
    if (whence_control->file->flags & KEEP_OUTPUT)
        copy_outputs(result);
    result->verdict = (uint8_t)judged(ending);
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

/* ---- Runs from the start --------------------------------------------------------------------------------------- */

static void note_end(void)
{
    if (!whence_state.is_forked)
        whence_state.whole->length = __whence_clock;
}

/* The subject dies as it would by itself, but what is known is noted first. */
static void note_crash(int number)
{
    note_end();
    signal(number, SIG_DFL);
    raise(number);
}

/* In a child of the subject's own nothing is observed: its instances would have the clocks of others. */
static void note_fork(void)
{
    whence_state.is_forked = 1;
    if (whence_state.doing == DOING_OBSERVE) {
        whence_state.doing = DOING_NOTHING;
        whence_state.budget = 0;
        __whence_stop = UINT64_MAX;
    }
}

static void note_whole(struct whence_result *result)
{
    static char stack[16 << 10];
    stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = note_crash, .sa_flags = SA_ONSTACK | SA_NODEFER};
    whence_state.whole = result;
    atexit(note_end);
    pthread_atfork(NULL, NULL, note_fork);
    sigaltstack(&other, NULL);
    for (const int *fatal = (const int[]){SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, 0}; *fatal; fatal++)
        sigaction(*fatal, &action, NULL);
}

void whence_watch(void)
{
    note_whole(&whence_control->file->unaltered);
    whence_begin_observing(whence_control->file->endless);
}

void whence_apply(void)
{
    uint64_t count;
    const struct whence_change *changes = whence_changes_of(whence_control->index, &count);
    note_whole(whence_result_of(whence_control->index));
    whence_begin_changes(changes, count, whence_control->file);
}

void whence_out_of_budget(void)
{
    if (whence_control->file->mode >= SESSION_APPLY) {
        note_end();
        whence_state.whole->verdict = VERDICT_TIMEOUT;
        whence_exit_now(0);
    }
    whence_end((struct whence_ending){VERDICT_TIMEOUT, 0, 0});
}

/* ---- Running one ---------------------------------------------------------------------------------------------- */

/* Makes the first changes and goes on in the subject. */
static void go(uint64_t continuation, const struct whence_point *point)
{
    uint64_t count;
    const struct whence_change *changes = whence_changes_of(continuation, &count);
    whence_begin_changes(changes, count, whence_control->file);
    whence_control->is_running = 1;
    whence_hook_stack = (char *)(((uintptr_t)__builtin_frame_address(0) - BELOW) & -(uintptr_t)64); /* what lies above waits */
    whence_resume(whence_altered(point));
}

static void run_in_snapshot(uint64_t continuation, const struct whence_point *point)
{
    if (!__builtin_setjmp(whence_control->back)) {
        whence_allow(whence_control->file->patience);
        go(continuation, point);
    }
    whence_control->is_running = 0;
    if (whence_control->is_in_signal)
        whence_unblock_signals();
    whence_snapshot_restore();
    whence_take_back(1);
}

/* A child ends with its parent, and what it asks the system comes to the runtime as well. */
static void be_child(uint64_t continuation, const struct whence_point *point)
{
    whence_control->is_child = 1;
    if (whence_call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0, 0) || whence_calls_again())
        whence_exit_now(1);
    whence_snapshot_stop();
    go(continuation, point);
}

static void run_in_child(uint64_t continuation, const struct whence_point *point)
{
    struct whence_result *result = whence_result_of(continuation);
    long child = whence_call(SYS_clone, 0, 0, 0, 0, 0, 0);
    if (child == 0)
        be_child(continuation, point);
    if (child > 0) {
        whence_control->child = child;
        whence_allow(whence_control->file->patience); /* then the child is killed: whence_on_tick */
        while (whence_call(SYS_wait4, child, 0, __WALL, 0, 0, 0) == -EINTR)
            continue;
        if (result->verdict == VERDICT_RUNNING && !whence_control->child)
            result->verdict = VERDICT_TIMEOUT;
        whence_allow(0);
        whence_control->child = 0;
    }
    if (result->verdict == VERDICT_RUNNING)
        result->verdict = VERDICT_LOST;
    whence_take_back(0);
}

static int uses_snapshots(void)
{
    const struct whence_session *file = whence_control->file;
    int serves = whence_control->way_changes < WAY_CHANGES || file->done % TRY_AGAIN == 0;
    return file->way == WAY_SNAPSHOT || (file->way == WAY_AUTO && serves);
}

static int has_snapshot(void)
{
    if (!whence_control->has_snapshot && whence_snapshot_take())
        return 0;
    whence_control->has_snapshot = 1;
    return 1;
}

void whence_run_one(uint64_t continuation, const struct whence_point *point)
{
    struct whence_session *file = whence_control->file;
    struct whence_result *result = whence_result_of(continuation);
    uint64_t start = whence_control->time;
    whence_control->running = continuation;
    whence_control->has_changed_way = 1;
    result->verdict = VERDICT_RUNNING;
    if (uses_snapshots() && has_snapshot()) {
        whence_control->has_changed_way = 0;
        result->way = WAY_SNAPSHOT;
        run_in_snapshot(continuation, point);
        whence_control->way_changes = whence_control->has_changed_way ? whence_control->way_changes + 1 : 0;
    }
    if (whence_control->has_changed_way && file->way == WAY_SNAPSHOT) {
        result->verdict = VERDICT_REFUSED;
    } else if (whence_control->has_changed_way) {
        result->verdict = VERDICT_RUNNING;
        result->way = WAY_FORK;
        run_in_child(continuation, point);
    }
    whence_control->time = (uint64_t)whence_now_us();
    result->microseconds = (uint32_t)(whence_control->time - start);
    file->done++;
}
