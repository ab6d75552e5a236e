/* Coverage: the cover variant defines the counters in whole pages, so that a shared file can take their place. */
#define _GNU_SOURCE
#include "record/coverage.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

extern uint32_t __whence_counters[] __attribute__((weak));
extern const uint64_t __whence_counter_bytes __attribute__((weak));

uint32_t *whence_coverage(size_t *sites)
{
    *sites = __whence_counters ? __whence_counter_bytes / sizeof(uint32_t) : 0;
    return *sites ? __whence_counters : NULL;
}

int whence_coverage_start(const char *path)
{
    size_t sites;
    uint32_t *counters = whence_coverage(&sites);
    if (!counters)
        return 0;
    int opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (opened < 0)
        return -1;
    int failed = ftruncate(opened, (off_t)(sites * sizeof *counters)) != 0 ||
                 mmap(counters, sites * sizeof *counters, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, opened, 0) ==
                     MAP_FAILED;
    close(opened);
    return failed ? -1 : 0;
}
