/* Wrappers of pthread.h, threads.h and semaphore.h.

   While there are several threads, what would block asks for the object with a time that has passed: the real function
   then does all its checks, and says so where it would have waited. Then others go on until the object is released, and it is
   asked again. Condition variables and barriers have their queues in the schedule. A program with one thread calls
   the real functions. */
#include "library/library.h"
#include "record/schedule.h"
#include "suppress/suppress.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

enum { BARRIERS = 256, ONCE = 64 };

static const struct timespec PAST;

static int is_valid(const struct timespec *time) { return time->tv_nsec >= 0 && time->tv_nsec < 1000000000; }

/* What one thread leaves behind for another: its result (by its number), and its own values of keys. */
static uint64_t result_key(unsigned thread) { return THREAD_STATE + thread; }
static uint64_t specific_key(unsigned key) { return SPECIFIC_STATE + ((uint64_t)key << 12) + whence_thread; }

/* ---- Threads -------------------------------------------------------------------------------------------------- */

/* A started thread's stack, with its own variables at the end, is fresh: what was there before was another thread's. */
static void stack_of(pthread_t thread, const pthread_attr_t *how)
{
    pthread_attr_t usual;
    size_t size = 0;
    if (!how)
        pthread_attr_init(&usual);
    pthread_attr_getstacksize(how ? how : &usual, &size);
    if (!how)
        pthread_attr_destroy(&usual);
    whence_effect(WHENCE_STACK, 0, 2, (uintptr_t)thread - size, size, 0);
}

typedef void *start_routine(void *);
typedef int start_routine_c11(void *);

static void *begin(void *thread)
{
    void *argument;
    uint8_t suppressed;
    start_routine *routine = (start_routine *)whence_thread_begin(thread, &argument, &suppressed);
    whence_give_argument(0, suppressed);
    return routine(argument);
}

static int begin_c11(void *thread)
{
    void *argument;
    uint8_t suppressed;
    start_routine_c11 *routine = (start_routine_c11 *)whence_thread_begin(thread, &argument, &suppressed);
    whence_give_argument(0, suppressed);
    return routine(argument);
}

LIBRARY(int, pthread_create, pthread_t *to, const pthread_attr_t *how, start_routine *routine, void *argument)
{
    int detached = PTHREAD_CREATE_JOINABLE;
    if (!whence_recording() && !whence_scheduling && !whence_is_scheduled())
        return pthread_create(to, how, routine, argument);
    if (how)
        pthread_attr_getdetachstate(how, &detached);
    detached = detached == PTHREAD_CREATE_DETACHED;
    struct whence_thread *thread = whence_thread_new((whence_routine *)routine, argument, whence_take_argument(3), detached);
    if (!thread)
        return EAGAIN;
    int error = pthread_create(to, how, begin, thread);
    whence_thread_made(thread, error ? pthread_self() : *to, error);
    EFFECTS(pthread_create)
    {
        write_bytes(to, error ? 0 : sizeof *to);
        if (!error)
            stack_of(*to, how);
    }
    return error;
}

LIBRARY(int, thrd_create, thrd_t *to, thrd_start_t routine, void *argument)
{
    if (!whence_recording() && !whence_scheduling && !whence_is_scheduled())
        return thrd_create(to, routine, argument);
    struct whence_thread *thread = whence_thread_new((whence_routine *)routine, argument, whence_take_argument(2), 0);
    if (!thread)
        return thrd_nomem;
    int error = thrd_create(to, begin_c11, thread);
    whence_thread_made(thread, error ? pthread_self() : (pthread_t)*to, error);
    EFFECTS(thrd_create)
    {
        write_bytes(to, error ? 0 : sizeof *to);
        if (error == thrd_success)
            stack_of((pthread_t)*to, NULL);
    }
    return error;
}

/* A joined thread's result is read, and written to where the caller wants it. */
#define JOIN(name, handle, value) \
    LIBRARY(int, name, handle thread, value *to) \
    { \
        unsigned number = whence_scheduling ? whence_thread_await((pthread_t)thread) : 0; \
        int error = name(thread, to); \
        if (!error && whence_scheduling) \
            whence_thread_release((pthread_t)thread); \
        EFFECTS(name) \
        { \
            state(STATE_READ, result_key(number)); \
            write_bytes(to, to && !error ? sizeof *to : 0); \
        } \
        return error; \
    }

JOIN(pthread_join, pthread_t, void *)
JOIN(thrd_join, thrd_t, int)

#define LEAVE(name, value) \
    LIBRARY(_Noreturn void, name, value result) \
    { \
        EFFECTS(name) { state(STATE_WRITE, result_key(whence_thread)); } \
        name(result); \
    }

LEAVE(pthread_exit, void *)
LEAVE(thrd_exit, int)

#define DETACH(name, handle) \
    LIBRARY(int, name, handle thread) \
    { \
        int error = name(thread); \
        if (!error && whence_scheduling) \
            whence_thread_release((pthread_t)thread); \
        return error; \
    }

DETACH(pthread_detach, pthread_t)
DETACH(thrd_detach, thrd_t)

LIBRARY(int, pthread_cancel, pthread_t thread)
{
    int error = pthread_cancel(thread);
    if (whence_scheduling)
        whence_thread_disturb(thread);
    return error;
}

LIBRARY(int, pthread_key_create, pthread_key_t *to, void (*destructor)(void *))
{
    int error = pthread_key_create(to, destructor);
    EFFECTS(pthread_key_create) { write_bytes(to, error ? 0 : sizeof *to); }
    return error;
}
LIBRARY_SAME(tss_create, pthread_key_create);

LIBRARY(int, pthread_setspecific, pthread_key_t key, const void *value)
{
    int error = pthread_setspecific(key, value);
    EFFECTS(pthread_setspecific) { state(STATE_WRITE, specific_key(key)); }
    return error;
}
LIBRARY_SAME(tss_set, pthread_setspecific);

LIBRARY(void *, pthread_getspecific, pthread_key_t key)
{
    void *value = pthread_getspecific(key);
    EFFECTS(pthread_getspecific) { state(STATE_READ, specific_key(key)); }
    return value;
}
LIBRARY_SAME(tss_get, pthread_getspecific);

/* ---- Locks ---------------------------------------------------------------------------------------------------- */

/* Takes a lock: `again` asks for it without waiting, and gives `busy` where it would have waited. */
#define LOCK(name, lock, again, busy) \
    LIBRARY(int, name, lock *object) \
    { \
        int error; \
        enum whence_patience patience = WHENCE_RETRY; \
        if (!whence_scheduling) \
            return name(object); \
        for (; (error = again) == (busy); patience = WHENCE_INSIST) \
            whence_wait((const void *)object, patience, WHENCE_NEVER); \
        return error; \
    }

#define LOCK_TIMED(name, lock, busy) \
    LIBRARY(int, name, lock *object, const struct timespec *until) \
    { \
        int error; \
        enum whence_patience patience = WHENCE_RETRY; \
        if (!whence_scheduling || !is_valid(until)) \
            return name(object, until); \
        uint64_t deadline = whence_deadline(until); \
        for (; (error = name(object, &PAST)) == (busy); patience = WHENCE_INSIST) \
            if (!whence_wait(object, patience, deadline)) { \
                whence_rest_until(until); \
                return name(object, &PAST); \
            } \
        return error; \
    }

/* Those that have waited in vain have the next turns: a thread that takes the lock again at once would never let them in. */
#define UNLOCK(name, lock) \
    LIBRARY(int, name, lock *object) \
    { \
        int error = name(object); \
        if (whence_scheduling && whence_wake((const void *)object)) \
            whence_yield(); \
        return error; \
    }

LOCK(pthread_mutex_lock, pthread_mutex_t, pthread_mutex_timedlock(object, &PAST), ETIMEDOUT)
LOCK_TIMED(pthread_mutex_timedlock, pthread_mutex_t, ETIMEDOUT)
UNLOCK(pthread_mutex_unlock, pthread_mutex_t)
LOCK(mtx_lock, mtx_t, mtx_timedlock(object, &PAST), thrd_timedout)
LOCK_TIMED(mtx_timedlock, mtx_t, thrd_timedout)
UNLOCK(mtx_unlock, mtx_t)
LOCK(pthread_rwlock_rdlock, pthread_rwlock_t, pthread_rwlock_timedrdlock(object, &PAST), ETIMEDOUT)
LOCK_TIMED(pthread_rwlock_timedrdlock, pthread_rwlock_t, ETIMEDOUT)
LOCK(pthread_rwlock_wrlock, pthread_rwlock_t, pthread_rwlock_timedwrlock(object, &PAST), ETIMEDOUT)
LOCK_TIMED(pthread_rwlock_timedwrlock, pthread_rwlock_t, ETIMEDOUT)
UNLOCK(pthread_rwlock_unlock, pthread_rwlock_t)
LOCK(pthread_spin_lock, pthread_spinlock_t, pthread_spin_trylock(object), EBUSY)
UNLOCK(pthread_spin_unlock, pthread_spinlock_t)

/* ---- Condition variables -------------------------------------------------------------------------------------- */

/* Waits for a signal until `until` (null: for ever), without the mutex. */
static int await_signal(const void *condition, const struct timespec *until)
{
    int in_time = whence_wait(condition, WHENCE_PATIENT, until ? whence_deadline(until) : WHENCE_NEVER);
    if (!in_time)
        whence_rest_until(until);
    return in_time;
}

/* The lock is given back without giving up the turn: a signal that came before the thread waits would be lost. */
static int pthread_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until)
{
    int error = pthread_mutex_unlock(mutex);
    if (error)
        return error;
    whence_wake(mutex);
    int in_time = await_signal(condition, until);
    error = __whence_lib_pthread_mutex_lock(mutex);
    pthread_testcancel();
    return error ? error : in_time ? 0 : ETIMEDOUT;
}

LIBRARY(int, pthread_cond_wait, pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    return whence_scheduling ? pthread_wait(condition, mutex, NULL) : pthread_cond_wait(condition, mutex);
}

LIBRARY(int, pthread_cond_timedwait, pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until)
{
    if (!whence_scheduling || !is_valid(until))
        return pthread_cond_timedwait(condition, mutex, until);
    return pthread_wait(condition, mutex, until);
}

static int c11_wait(cnd_t *condition, mtx_t *mutex, const struct timespec *until)
{
    if (mtx_unlock(mutex) != thrd_success)
        return thrd_error;
    whence_wake(mutex);
    int in_time = await_signal(condition, until);
    int error = __whence_lib_mtx_lock(mutex);
    return error != thrd_success ? error : in_time ? thrd_success : thrd_timedout;
}

LIBRARY(int, cnd_wait, cnd_t *condition, mtx_t *mutex)
{
    return whence_scheduling ? c11_wait(condition, mutex, NULL) : cnd_wait(condition, mutex);
}

LIBRARY(int, cnd_timedwait, cnd_t *condition, mtx_t *mutex, const struct timespec *until)
{
    if (!whence_scheduling || !is_valid(until))
        return cnd_timedwait(condition, mutex, until);
    return c11_wait(condition, mutex, until);
}

/* The real object is signalled too: another process, or code that is not recorded, may wait there. */
#define SIGNAL(name, condition, wake) \
    LIBRARY(int, name, condition *object) \
    { \
        if (whence_scheduling) \
            wake(object); \
        return name(object); \
    }

SIGNAL(pthread_cond_signal, pthread_cond_t, whence_wake_first)
SIGNAL(pthread_cond_broadcast, pthread_cond_t, whence_wake)
SIGNAL(cnd_signal, cnd_t, whence_wake_first)
SIGNAL(cnd_broadcast, cnd_t, whence_wake)

/* ---- Barriers ------------------------------------------------------------------------------------------------- */

static struct barrier {
    const void *object;
    unsigned count, arrived, round;
} barriers[BARRIERS];

static struct barrier *find_barrier(const void *object)
{
    for (int i = 0; i < BARRIERS; i++)
        if (barriers[i].object == object)
            return &barriers[i];
    return NULL;
}

LIBRARY(int, pthread_barrier_init, pthread_barrier_t *object, const pthread_barrierattr_t *how, unsigned count)
{
    int error = pthread_barrier_init(object, how, count);
    struct barrier *barrier = find_barrier(object);
    if (!barrier)
        barrier = find_barrier(NULL);
    if (!error && barrier)
        *barrier = (struct barrier){object, count, 0, 0};
    return error;
}

LIBRARY(int, pthread_barrier_destroy, pthread_barrier_t *object)
{
    struct barrier *barrier = find_barrier(object);
    if (barrier)
        barrier->object = NULL;
    return pthread_barrier_destroy(object);
}

LIBRARY(int, pthread_barrier_wait, pthread_barrier_t *object)
{
    struct barrier *barrier = whence_scheduling ? find_barrier(object) : NULL;
    if (!barrier)
        return pthread_barrier_wait(object);
    unsigned round = barrier->round;
    if (++barrier->arrived == barrier->count) {
        barrier->arrived = 0;
        barrier->round++;
        whence_wake(object);
        return PTHREAD_BARRIER_SERIAL_THREAD;
    }
    while (barrier->object == object && barrier->round == round)
        whence_wait(object, WHENCE_PATIENT, WHENCE_NEVER);
    return 0;
}

/* ---- Once ----------------------------------------------------------------------------------------------------- */

static const void *running[ONCE]; /* what is being initialised */

static const void **find_running(const void *object)
{
    for (int i = 0; i < ONCE; i++)
        if (running[i] == object)
            return &running[i];
    return NULL;
}

/* Nobody enters the real function while another thread is in it; returns the place that says so, or null. */
static const void **once_begin(const void *object)
{
    if (!whence_scheduling)
        return NULL;
    while (find_running(object))
        whence_wait(object, WHENCE_PATIENT, WHENCE_NEVER);
    const void **place = find_running(NULL);
    if (place)
        *place = object;
    return place;
}

static void once_end(const void **place)
{
    if (!place)
        return;
    whence_wake(*place);
    *place = NULL;
}

LIBRARY(int, pthread_once, pthread_once_t *object, void (*routine)(void))
{
    const void **place = once_begin(object);
    int error = pthread_once(object, routine);
    once_end(place);
    return error;
}

LIBRARY(void, call_once, once_flag *object, void (*routine)(void))
{
    const void **place = once_begin(object);
    call_once(object, routine);
    once_end(place);
}

/* ---- Semaphores ----------------------------------------------------------------------------------------------- */

/* Asks for a semaphore until `until` (null: for ever). */
static int wait_semaphore(sem_t *object, const struct timespec *until)
{
    int error, before = errno;
    enum whence_patience patience = WHENCE_RETRY;
    uint64_t deadline = until ? whence_deadline(until) : WHENCE_NEVER;
    for (; (error = sem_trywait(object)) && errno == EAGAIN; patience = WHENCE_INSIST) {
        errno = before;
        if (!whence_wait(object, patience, deadline)) {
            whence_rest_until(until);
            errno = ETIMEDOUT;
            return -1;
        }
        pthread_testcancel();
    }
    return error;
}

LIBRARY(int, sem_wait, sem_t *object)
{
    int before = errno;
    int error = whence_scheduling ? wait_semaphore(object, NULL) : sem_wait(object);
    EFFECTS_ERRNO(sem_wait, before) { }
    return error;
}

LIBRARY(int, sem_timedwait, sem_t *object, const struct timespec *until)
{
    int before = errno;
    int error = whence_scheduling && is_valid(until) ? wait_semaphore(object, until) : sem_timedwait(object, until);
    EFFECTS_ERRNO(sem_timedwait, before) { }
    return error;
}

LIBRARY(int, sem_trywait, sem_t *object)
{
    int before = errno;
    int error = sem_trywait(object);
    EFFECTS_ERRNO(sem_trywait, before) { }
    return error;
}

LIBRARY(int, sem_post, sem_t *object)
{
    int error = sem_post(object);
    if (whence_scheduling && whence_wake_first(object))
        whence_yield();
    return error;
}

LIBRARY(int, sem_getvalue, sem_t *object, int *to)
{
    int error = sem_getvalue(object, to);
    EFFECTS(sem_getvalue) { write_bytes(to, error ? 0 : sizeof *to); }
    return error;
}
