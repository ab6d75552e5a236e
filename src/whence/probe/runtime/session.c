/* A session: one run of a case that goes back to its points of change.

   The unaltered run stops where a continuation's first change is made; each such continuation then goes on from there,
   by a snapshot of the subject's memory or in a forked child, until it ends (calls.c), and the run is back at the
   point. The session's own data lies in memory that is shared and never part of a snapshot. */
#define _GNU_SOURCE
#include "alter.h"
#include "whence.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "server.h"
#include "session.h"

enum { SUBJECT_STACK = 8 << 20, TICK_US = 10000, GIVE_UPS = 32 };
#define STACK_PLACE ((void *)0x7e0000000000)

struct whence_control *whence_control;
int whence_is_child;
static struct {
    int (*entry)(int, char **, char **);
    int argc;
    char **argv, **envp;
} program;

#define FILE_AT(offset) ((void *)((char *)whence_control->file + (offset)))

static struct whence_result *result_of(uint64_t i)
{
    return (struct whence_result *)FILE_AT(whence_control->file->results) + i;
}

static const struct whence_change *changes_of(uint64_t i, uint64_t *count)
{
    const uint64_t *offsets = FILE_AT(whence_control->file->offsets);
    *count = offsets[i + 1] - offsets[i];
    return (const struct whence_change *)FILE_AT(whence_control->file->changes) + offsets[i];
}

/* ---- Opening -------------------------------------------------------------------------------------------------- */

static void *map_pages(void *place, size_t size, int sharing)
{
    int flags = sharing | MAP_ANONYMOUS | MAP_NORESERVE | (place ? MAP_FIXED_NOREPLACE : 0);
    void *got = mmap(place, size, PROT_READ | PROT_WRITE, flags, -1, 0);
    return got == MAP_FAILED ? NULL : got;
}

size_t whence_session_open(const char *text)
{
    char path[4096];
    const char *colon = strrchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : strlen(text);
    struct stat about;
    if (length >= sizeof path) {
        errno = ENAMETOOLONG;
        return 0;
    }
    memcpy(path, text, length);
    path[length] = 0;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &about))
        return 0;
    void *file = mmap(NULL, (size_t)about.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    whence_control = map_pages(OWN_PLACE, sizeof *whence_control, MAP_PRIVATE);
    if (file == MAP_FAILED || !whence_control)
        return 0;
    whence_control->file = file;
    whence_control->index = colon ? strtoull(colon + 1, NULL, 10) : 0;
    whence_control->undo = map_pages(NULL, sizeof *whence_control->undo, MAP_SHARED);
    size_t reserved = whence_snapshot_reserve();
    if (!whence_control->undo || !reserved)
        return 0;
    return (size_t)about.st_size + reserved + sizeof *whence_control + SUBJECT_STACK;
}

int whence_session_is_open(void) { return whence_control != NULL; }

/* ---- What is kept of outputs ---------------------------------------------------------------------------------- */

void whence_keep_output(int stream, uint64_t at, const char *bytes, uint64_t length)
{
    uint64_t room = at < CAPTURE ? CAPTURE - at : 0;
    if (room)
        memcpy(whence_control->capture[stream - 1] + at, bytes, length < room ? length : room);
}

static uint64_t kept(uint64_t written)
{
    return written < CAPTURE ? written : CAPTURE;
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

/* ---- Verdicts ------------------------------------------------------------------------------------------------- */

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

static void exit_now(int status)
{
    for (;;)
        whence_call(SYS_exit_group, status, 0, 0, 0, 0, 0);
}

static void finish_session(struct whence_ending ending)
{
    struct whence_session *file = whence_control->file;
    write_result(&file->unaltered, ending);
    file->finished = 1;
    exit_now(0);
}

void whence_end(struct whence_ending ending)
{
    if (whence_state.doing != DOING_CONTINUATION)
        finish_session(ending);
    write_result(result_of(whence_control->running), ending);
    if (whence_is_child)
        exit_now(0);
    __builtin_longjmp(whence_control->back, 1);
}

void whence_give_up(long call)
{
    struct whence_session *file = whence_control->file;
    if (whence_state.doing != DOING_CONTINUATION) {
        file->refusal = (uint64_t)call + 1;
        file->refusal_clock = __whence_clock;
        finish_session((struct whence_ending){VERDICT_REFUSED, 0, 0});
    }
    if (!whence_is_child)
        whence_control->given_up = 1;
    struct whence_result *result = result_of(whence_control->running);
    result->status = (int32_t)call;
    result->verdict = VERDICT_REFUSED;
    if (whence_is_child)
        exit_now(0);
    __builtin_longjmp(whence_control->back, 1);
}

/* Of a run from the start, what an ordinary end leaves in the file; the rest is the runner's to tell. */
static void note_length(void)
{
    int applies = whence_control->file->mode == SESSION_APPLY;
    struct whence_result *result = applies ? result_of(whence_control->index) : &whence_control->file->unaltered;
    result->length = __whence_clock;
    result->applied = whence_state.applied;
}

void whence_out_of_budget(void)
{
    if (whence_control->file->mode == SESSION_APPLY) {
        note_length();
        result_of(whence_control->index)->verdict = VERDICT_TIMEOUT;
        exit_now(0);
    }
    whence_end((struct whence_ending){VERDICT_TIMEOUT, 0, 0});
}

/* ---- Continuations -------------------------------------------------------------------------------------------- */

static uint64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* Makes the first changes and goes on in the subject. */
static void go(uint64_t i, const struct whence_point *point)
{
    uint64_t count;
    const struct whence_change *changes = changes_of(i, &count);
    whence_begin_changes(changes, count, whence_control->file->budget);
    whence_hook_stack = whence_control->hook_stack + HOOK_STACK / 2; /* the upper half waits for this to end */
    whence_resume(whence_altered(point));
}

/* Signals that were blocked by a handler which the continuation's end has left. */
static void unblock_signals(void)
{
    uint64_t none = 0;
    whence_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&none, 0, sizeof none, 0, 0);
}

static void run_in_snapshot(uint64_t i, const struct whence_point *point)
{
    whence_control->given_up = 0;
    whence_control->ticks = 0;
    if (!__builtin_setjmp(whence_control->back)) {
        whence_control->is_running = 1;
        go(i, point);
    }
    whence_control->is_running = 0;
    unblock_signals();
    whence_snapshot_restore();
    whence_calls_undo(1);
}

static long fork_now(void)
{
    return whence_call(SYS_clone, SIGCHLD, 0, 0, 0, 0, 0);
}

static void wait_for(long child, struct whence_result *result)
{
    struct timespec patience = {(time_t)(whence_control->file->patience / 1000),
                                (long)(whence_control->file->patience % 1000) * 1000000};
    uint64_t child_signal = UINT64_C(1) << (SIGCHLD - 1);
    int status = 0;
    while (whence_call(SYS_wait4, child, (long)&status, WNOHANG, 0, 0, 0) != child) {
        if (whence_call(SYS_rt_sigtimedwait, (long)&child_signal, 0, (long)&patience, 8, 0, 0) == -EAGAIN) {
            whence_call(SYS_kill, child, SIGKILL, 0, 0, 0, 0);
            whence_call(SYS_wait4, child, (long)&status, 0, 0, 0, 0);
            if (result->verdict == VERDICT_RUNNING)
                result->verdict = VERDICT_TIMEOUT;
            return;
        }
    }
    if (result->verdict == VERDICT_RUNNING)
        result->verdict = VERDICT_LOST;
}

static void run_in_child(uint64_t i, const struct whence_point *point)
{
    struct whence_result *result = result_of(i);
    long child = fork_now();
    if (child == 0) {
        whence_is_child = 1;
        whence_snapshot_stop();
        if (whence_calls_again())
            exit_now(0);
        go(i, point);
    }
    if (child < 0)
        result->verdict = VERDICT_LOST;
    else
        wait_for(child, result);
    whence_calls_undo(0);
}

static int uses_snapshots(void)
{
    const struct whence_session *file = whence_control->file;
    return file->way == WAY_SNAPSHOT || (file->way == WAY_AUTO && whence_control->give_ups < GIVE_UPS);
}

/* Runs one continuation to its end, from here. */
static void run_one(uint64_t i, const struct whence_point *point)
{
    struct whence_result *result = result_of(i);
    uint64_t start = now_us();
    result->verdict = VERDICT_RUNNING;
    whence_control->running = i;
    if (uses_snapshots() && (whence_control->has_snapshot || whence_snapshot_take() == 0)) {
        whence_control->has_snapshot = 1;
        result->way = WAY_SNAPSHOT;
        run_in_snapshot(i, point);
    } else {
        whence_control->given_up = 1;
    }
    if (whence_control->given_up && whence_control->file->way != WAY_SNAPSHOT) {
        whence_control->given_up = 0;
        whence_control->give_ups += result->way == WAY_SNAPSHOT;
        result->verdict = VERDICT_RUNNING;
        result->way = WAY_FORK;
        run_in_child(i, point);
    }
    result->microseconds = (uint32_t)(now_us() - start);
    whence_control->file->done++;
}

/* ---- Points --------------------------------------------------------------------------------------------------- */

/* The first place in the order whose first change is at (clock, site) or later. */
static uint64_t first_at(uint64_t clock, uint32_t site)
{
    const struct whence_session *file = whence_control->file;
    const uint32_t *order = FILE_AT(file->order);
    uint64_t low = 0, high = file->continuations, count;
    while (low < high) {
        uint64_t middle = (low + high) / 2;
        const struct whence_change *change = changes_of(order[middle], &count);
        if (change->clock < clock || (change->clock == clock && change->site < site))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Runs the continuations whose first change is at (clock, site); `clock` as in changes. */
static void run_from(uint64_t clock, const struct whence_point *point)
{
    struct whence_session *file = whence_control->file;
    const uint32_t *order = FILE_AT(file->order);
    uint64_t count;
    for (uint64_t at = first_at(clock, point->site); at < file->continuations && !file->stop; at++) {
        const struct whence_change *first = changes_of(order[at], &count);
        if (first->clock != clock || first->site != point->site)
            return;
        if (result_of(order[at])->verdict == VERDICT_NOT_RUN)
            run_one(order[at], point);
    }
}

static void observe(const struct whence_point *point)
{
    struct whence_session *file = whence_control->file;
    struct whence_event *events = FILE_AT(file->events);
    if (file->events_count < file->events_limit)
        events[file->events_count] = (struct whence_event){point->clock - 1, point->is_call ? 0 : point->value, point->site, 0};
    file->events_count++;
}

uint64_t whence_visit(const struct whence_point *point)
{
    struct whence_session *file = whence_control->file;
    if (whence_state.doing == DOING_OBSERVE) {
        observe(point);
        return point->value;
    }
    whence_control->has_snapshot = 0;
    run_from(point->clock - 1, point);
    if (file->block_count)
        run_from(WHENCE_EVERY, point);
    if (file->stop || file->done >= file->continuations)
        exit_now(0);
    return point->value;
}

/* ---- Signals -------------------------------------------------------------------------------------------------- */

/* A fault of the subject. */
void whence_on_fault(int number, siginfo_t *info, void *context)
{
    (void)context;
    (void)info;
    if (whence_has_handler(number))
        whence_give_up(SYS_rt_sigaction);
    whence_end((struct whence_ending){VERDICT_UNJUDGED, 0, number});
}

/* Every tick: a continuation that comes to no hook and no system call has a limit too. */
void whence_on_tick(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info, (void)context;
    if (whence_control->is_running && ++whence_control->ticks * (TICK_US / 1000) > whence_control->file->patience)
        whence_end((struct whence_ending){VERDICT_TIMEOUT, 0, 0});
}

/* ---- Running -------------------------------------------------------------------------------------------------- */

static void run_subject(void)
{
    exit(program.entry(program.argc, program.argv, program.envp));
}

static void start_search(void)
{
    const struct whence_session *file = whence_control->file;
    const uint32_t *blocks = FILE_AT(file->blocks);
    whence_state.doing = DOING_SEARCH;
    for (uint64_t i = 0; i < file->block_count; i++)
        __whence_armed[blocks[i]] = 1;
    __whence_stop = whence_next_stop(0);
}

/* The next clock, from 1, at which the search has something to do. */
uint64_t whence_next_stop(uint64_t clock)
{
    const struct whence_session *file = whence_control->file;
    const uint64_t *stops = FILE_AT(file->stops);
    while (whence_control->next_stop < file->stop_count && stops[whence_control->next_stop] + 1 <= clock)
        whence_control->next_stop++;
    uint64_t end = file->budget ? file->budget + 1 : UINT64_MAX;
    uint64_t next = whence_control->next_stop < file->stop_count ? stops[whence_control->next_stop] + 1 : UINT64_MAX;
    return next < end ? next : end;
}

/* Programs of altered runs reach no other machine: sockets are refused. */
static int refuse_sockets(void)
{
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof steps / sizeof *steps, steps};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

static void begin_once(void)
{
    uint64_t count;
    refuse_sockets();
    if (whence_control->file->mode == SESSION_APPLY) {
        const struct whence_change *changes = changes_of(whence_control->index, &count);
        whence_begin_changes(changes, count, whence_control->file->budget);
    } else {
        whence_state.doing = DOING_OBSERVE;
        __whence_stop = 0;
    }
    atexit(note_length);
}

static void start_ticking(void)
{
    struct itimerval every = {{0, TICK_US}, {0, TICK_US}};
    setitimer(ITIMER_REAL, &every, NULL);
}

void whence_session_run(int (*entry)(int, char **, char **), int argc, char **argv, char **envp)
{
    struct whence_session *file = whence_control->file;
    program.entry = entry, program.argc = argc, program.argv = argv, program.envp = envp;
    char *stack = mmap(STACK_PLACE, SUBJECT_STACK, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (stack == MAP_FAILED)
        _exit(WHENCE_START_FAILED);
    if (file->mode >= SESSION_APPLY) {
        begin_once();
        whence_call_on(stack + SUBJECT_STACK - 64, run_subject);
    }
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_SETMASK, &child, NULL);
    whence_streams.first_wrong = whence_streams.first_wrong_error = WHENCE_NOWHERE;
    whence_hook_stack = whence_control->hook_stack + HOOK_STACK;
    if (file->mode == SESSION_OBSERVE) {
        whence_state.doing = DOING_OBSERVE;
        __whence_stop = 0;
    } else {
        start_search();
        start_ticking();
    }
    if (whence_calls_start()) {
        file->refusal = SYS_prctl + 1;
        _exit(0);
    }
    whence_call_on(stack + SUBJECT_STACK - 64, run_subject);
}
