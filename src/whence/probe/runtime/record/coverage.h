/* The counters of the cover variant. */
#ifndef WHENCE_COVERAGE_H
#define WHENCE_COVERAGE_H

#include <stddef.h>
#include <stdint.h>

/* One 32-bit counter a site, in one array shared between parent and children.
   Null and 0 in other variants. */
uint32_t *whence_coverage(size_t *sites);
/* Maps the counters onto a shared file (made with the right size), so that they survive whatever ends the process. */
int whence_coverage_start(const char *path);

#endif
