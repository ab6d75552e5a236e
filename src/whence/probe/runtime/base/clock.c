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
