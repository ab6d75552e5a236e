/* Time. */
#define _GNU_SOURCE
#include "base/base.h"

#include <time.h>

int64_t whence_now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

int whence_was_kept_waiting(int64_t passed, int64_t computed, int64_t limit)
{
    enum { MOST_WAITING = 10, SLEEPING = 20 }; /* what computed less than one part of so many does nothing */
    return passed < MOST_WAITING * limit && computed * SLEEPING >= passed && computed * 4 < limit * 3;
}
