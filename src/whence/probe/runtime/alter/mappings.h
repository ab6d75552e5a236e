/* The list of mappings that a program reads about itself (mappings.c). */
#ifndef WHENCE_MAPPINGS_H
#define WHENCE_MAPPINGS_H

#include <stdint.h>

/* Whether a path is that list's. */
int whence_is_mappings(const char *path);
/* A descriptor of the list as it is without the runtime, the mapping that holds `stack` first; or -errno. */
long whence_open_mappings(uintptr_t stack);
/* A fork copies page tables of mappings that were written to, and leaves all others to page faults. So that children need
   not fault for code, a byte of each mapping of a file is written, as it is. */
void whence_prepare_forks(void);
/* In a session, where the system calls of the program come to the runtime anyway. */
int whence_calls_are_seen(void);

#endif
