/* Threads that the program starts, joins and cancels. */
#include "record/baton.h"
#include "record/schedule_file.h"

struct whence_thread *whence_thread_new(whence_routine *routine, void *argument, uint8_t note, int detached)
{
    sigset_t mask, until_made;
    whence_start_scheduling();
    if (whence_self == whence_threads)
        whence_notice_end();
    whence_enter_schedule(&mask);
    struct whence_thread *slot = whence_free_slot();
    if (slot) {
        whence_occupy(slot);
        slot->state = BLOCKED; /* until whence_thread_made */
        slot->until = WHENCE_NEVER;
        slot->patience = WHENCE_PATIENT;
        slot->object = slot;
        slot->routine = routine;
        slot->argument = argument;
        slot->note = note;
        slot->detached = detached;
        slot->mask = mask;
        pthread_sigmask(SIG_BLOCK, NULL, &until_made); /* which the new thread inherits */
        whence_leave_schedule(&until_made);
        return slot;
    }
    whence_tell_end(SCHEDULE_FULL);
    whence_leave_schedule(&mask);
    return NULL;
}

void whence_thread_made(struct whence_thread *thread, pthread_t handle, int failed)
{
    sigset_t until_made, mask = thread->mask;
    whence_enter_schedule(&until_made);
    thread->handle = handle;
    thread->state = failed ? UNUSED : READY;
    whence_wakes++;
    if (!failed)
        whence_note_start((unsigned)(thread - whence_threads));
    if (__whence_end)
        __whence_end = whence_slice(__whence_cursor, __whence_end);
    whence_leave_schedule(&mask);
}

whence_routine *whence_thread_begin(struct whence_thread *thread, void **argument, uint8_t *note)
{
    whence_defer_signals(NULL);
    whence_register(thread);
    pthread_mutex_lock(&whence_guard);
    whence_await_baton();
    whence_notice_end();
    whence_signal_stack(1);
    whence_leave_schedule(&thread->mask);
    *argument = thread->argument;
    *note = thread->note;
    return thread->routine;
}

static struct whence_thread *find(pthread_t handle)
{
    for (unsigned i = 0; i < whence_slots; i++)
        if (whence_threads[i].state != UNUSED && pthread_equal(whence_threads[i].handle, handle))
            return &whence_threads[i];
    return NULL;
}

unsigned whence_thread_await(pthread_t handle)
{
    struct whence_thread *thread = find(handle);
    if (!thread || thread == whence_self || thread->detached)
        return 0;
    while (thread->state != ENDED) {
        whence_wait(thread, WHENCE_PATIENT, WHENCE_NEVER);
        pthread_testcancel();
    }
    return (unsigned)(thread - whence_threads);
}

void whence_thread_release(pthread_t handle)
{
    struct whence_thread *thread = find(handle);
    if (!thread)
        return;
    thread->detached = 1;
    if (thread->state == ENDED)
        thread->state = UNUSED;
}

void whence_thread_disturb(pthread_t handle)
{
    sigset_t mask;
    struct whence_thread *thread = find(handle);
    whence_enter_schedule(&mask);
    if (thread && thread->state == BLOCKED)
        whence_wake_one(thread);
    whence_leave_schedule(&mask);
}
