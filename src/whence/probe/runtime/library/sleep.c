/* Wrappers of what lets time pass: while there are several threads, it does so in their schedule first. */
#include "library/library.h"
#include "record/schedule.h"

#include <pthread.h>
#include <sched.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static int is_valid(const struct timespec *time) { return time->tv_nsec >= 0 && time->tv_nsec < 1000000000; }

LIBRARY(int, sched_yield, void)
{
    if (!whence_scheduling)
        return sched_yield();
    whence_yield();
    return 0;
}
LIBRARY_SAME(pthread_yield, sched_yield);
LIBRARY_SAME(thrd_yield, sched_yield);

/* Sleeps in the schedule; returns the µs left when it was ended early. */
static uint64_t sleep_us(uint64_t us)
{
    uint64_t left = whence_sleep(us);
    pthread_testcancel();
    return left;
}

LIBRARY(unsigned, sleep, unsigned seconds)
{
    if (!whence_scheduling)
        return sleep(seconds);
    return (unsigned)((sleep_us(seconds * UINT64_C(1000000)) + 999999) / 1000000);
}

LIBRARY(int, usleep, useconds_t us)
{
    if (!whence_scheduling)
        return usleep(us);
    if (!sleep_us(us))
        return 0;
    errno = EINTR;
    return -1;
}

/* Returns whether the whole time was slept, else says in `rest` what is left. */
static int sleep_span(const struct timespec *time, struct timespec *rest)
{
    uint64_t left = sleep_us((uint64_t)time->tv_sec * 1000000 + (uint64_t)(time->tv_nsec + 999) / 1000);
    if (left && rest)
        *rest = (struct timespec){(time_t)(left / 1000000), (long)(left % 1000000 * 1000)};
    return left == 0;
}

LIBRARY(int, nanosleep, const struct timespec *time, struct timespec *rest)
{
    int before = errno, error;
    if (!whence_scheduling || !is_valid(time) || time->tv_sec < 0)
        error = nanosleep(time, rest);
    else if ((error = sleep_span(time, rest) ? 0 : -1))
        errno = EINTR;
    EFFECTS_ERRNO(nanosleep, before)
    {
        read_bytes(time, sizeof *time);
        write_bytes(rest, error && rest ? sizeof *rest : 0);
    }
    return error;
}

LIBRARY(int, thrd_sleep, const struct timespec *time, struct timespec *rest)
{
    int error;
    if (!whence_scheduling || !is_valid(time) || time->tv_sec < 0)
        error = thrd_sleep(time, rest);
    else
        error = sleep_span(time, rest) ? 0 : -1;
    EFFECTS(thrd_sleep)
    {
        read_bytes(time, sizeof *time);
        write_bytes(rest, error && rest ? sizeof *rest : 0);
    }
    return error;
}

/* A time of day to wake at is turned into the time to sleep. */
LIBRARY(int, clock_nanosleep, clockid_t clock, int flags, const struct timespec *time, struct timespec *rest)
{
    struct timespec left = *time, now;
    if (!whence_scheduling || !is_valid(time) || clock_gettime(clock, &now))
        return clock_nanosleep(clock, flags, time, rest);
    if (flags & TIMER_ABSTIME) {
        int64_t ns = (time->tv_sec - now.tv_sec) * INT64_C(1000000000) + time->tv_nsec - now.tv_nsec;
        left = ns > 0 ? (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)} : (struct timespec){0, 0};
    }
    return sleep_span(&left, flags & TIMER_ABSTIME ? NULL : rest) ? 0 : EINTR;
}
