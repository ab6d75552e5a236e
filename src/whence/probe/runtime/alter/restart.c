/* Runs from the start, as the program runs by itself: with changes, or to see what an unaltered one does. */
#define _GNU_SOURCE
#include "alter/control.h"
#include "alter/session.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { NICER = 5 };

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

/* In a child of the subject's own nothing is observed: its instances would have the clocks of others. Each generation
   of them is nicer to others than the one before: a change may make a fork bomb, and whoever is to end it must get a
   turn. */
static void note_fork(void)
{
    whence_state.is_forked = 1;
    setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + NICER);
    if (whence_state.doing == DOING_OBSERVE)
        whence_end_observing();
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
