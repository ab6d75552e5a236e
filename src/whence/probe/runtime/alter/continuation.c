/* One continuation: it starts at a point of change, by a snapshot or in a forked child, and ends with a verdict. */
#define _GNU_SOURCE
#include "alter/calls.h"
#include "alter/session.h"
#include "alter/snapshot.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* After so many snapshots in a row that did not serve, forks are taken at once; but one in so many tries again. */
enum { WAY_CHANGES = 32, TRY_AGAIN = 64, BELOW = 512 };

/* Makes the first changes and goes on in the subject. */
static void go(uint64_t continuation, const struct whence_point *point)
{
    uint64_t count;
    const struct whence_change *changes = whence_changes_of(continuation, &count);
    whence_begin_changes(changes, count, whence_control->file);
    whence_control->is_running = 1;
    whence_hook_stack = (char *)(((uintptr_t)__builtin_frame_address(0) - BELOW) & -(uintptr_t)64); /* what lies above waits */
    whence_resume(whence_continued(point));
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
    whence_put_back();
    whence_take_back(1);
}

/* A child ends with its parent, and what it asks the system comes to the runtime as well. */
static void be_child(uint64_t continuation, const struct whence_point *point)
{
    whence_control->is_child = 1;
    if (whence_call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0, 0) || whence_intercept_calls())
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
    whence_put_back();
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
    if (whence_control->has_snapshot)
        return 1;
    if (whence_snapshot_take())
        return 0;
    whence_control->heap_end = (uintptr_t)whence_call(SYS_brk, 0, 0, 0, 0, 0, 0);
    whence_control->has_snapshot = 1;
    return 1;
}

void whence_run_one(uint64_t continuation, const struct whence_point *point)
{
    struct whence_session *file = whence_control->file;
    struct whence_result *result = whence_result_of(continuation);
    uint64_t start = whence_control->time;
    whence_control->running = continuation;
    whence_control->more_memory = 0;
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
        whence_forget_readings();
        run_in_child(continuation, point);
    }
    whence_control->time = (uint64_t)whence_now_us();
    result->microseconds = (uint32_t)(whence_control->time - start);
    file->done++;
}
