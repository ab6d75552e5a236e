/* Time for threads that take turns: a pause is over when the schedule's clock says so, which is the same in every run, and
   then lasts as long as it really should. Under a schedule that was given, sleeping takes no time. */
#define _GNU_SOURCE
#include "record/schedule.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { POLL_US = 2000 };

static int64_t real_us(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

/* The time left until `absolute`. Whether it is meant on the real or the monotonic clock is not told; the latter counts
   from the machine's start, so its numbers are far smaller. */
static int64_t left_us(const struct timespec *absolute)
{
    int64_t when = absolute->tv_sec * INT64_C(1000000) + absolute->tv_nsec / 1000;
    int64_t now = real_us(CLOCK_REALTIME);
    return when - (when < now / 2 ? real_us(CLOCK_MONOTONIC) : now);
}

/* To the next ms, since the call itself came at a time that varies a little. */
uint64_t whence_deadline(const struct timespec *absolute)
{
    int64_t left = left_us(absolute);
    return left > 0 ? whence_clock() + (uint64_t)((left + 999) / 1000 * 1000) : whence_clock();
}

void whence_rest_until(const struct timespec *absolute)
{
    int saved = errno;
    int64_t left;
    while ((left = left_us(absolute)) > 0)
        whence_nap((uint64_t)left);
    errno = saved;
}

/* Waits until the monotonic clock shows `end`; returns the time left when a signal came. */
static uint64_t rest_of_sleep(int64_t end)
{
    int64_t left;
    while ((left = end - real_us(CLOCK_MONOTONIC)) > 0)
        if (whence_nap((uint64_t)left)) {
            left = end - real_us(CLOCK_MONOTONIC);
            return left > 0 ? (uint64_t)left : 0;
        }
    return 0;
}

uint64_t whence_sleep(uint64_t us)
{
    int saved = errno;
    int64_t end = real_us(CLOCK_MONOTONIC) + (int64_t)us;
    uint64_t until = whence_clock() + us;
    if (whence_wait(NULL, WHENCE_PATIENT, until) && whence_clock() < until) /* disturbed */
        return 0;
    uint64_t left = whence_is_scheduled() ? 0 : rest_of_sleep(end);
    errno = saved;
    return left;
}

static int would_block(int descriptor, short events)
{
    struct pollfd one = {descriptor, events, 0};
    const struct timespec now = {0, 0};
    return syscall(SYS_ppoll, &one, 1, &now, NULL, 0) == 0;
}

void whence_await_descriptor(int descriptor, short events)
{
    int saved = errno;
    int flags = fcntl(descriptor, F_GETFL);
    int can_wait = flags >= 0 && !(flags & O_NONBLOCK);
    while (can_wait && would_block(descriptor, events)) {
        if (whence_yield())
            continue;
        whence_wait(NULL, WHENCE_PATIENT, whence_clock() + POLL_US); /* only sleepers are left */
        can_wait = !whence_nap(POLL_US);                             /* the call itself tells that a signal came */
    }
    errno = saved;
}
