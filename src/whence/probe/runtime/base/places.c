/* Where the runtime keeps what is its own, apart from the subject's memory. */
#define _GNU_SOURCE
#include "base/base.h"

#include <sys/mman.h>

union whence_places whence_places __attribute__((aligned(4096)));

void *whence_map_at(void *place, size_t size, int sharing, int fd)
{
    int flags = sharing | MAP_NORESERVE | MAP_FIXED_NOREPLACE | (fd < 0 ? MAP_ANONYMOUS : 0);
    void *got = mmap(place, size, PROT_READ | PROT_WRITE, flags, fd, 0);
    return got == MAP_FAILED ? NULL : got;
}

int whence_close_places(void) { return mprotect(&whence_places, sizeof whence_places, PROT_READ); }
