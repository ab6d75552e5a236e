/* The layer of snapshots: the subject's memory as it was, again. It stands on base alone; what is to be done where a state is
   too large, is for its callers to say. */
#ifndef WHENCE_SNAPSHOT_H
#define WHENCE_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

/* What becomes of a write to memory: it is a fault of the subject's, it passes now, or the snapshot has no room for its page,
   which stays protected. */
enum whence_write { WRITE_FAULTS, WRITE_PASSES, WRITE_FINDS_NO_ROOM };

size_t whence_snapshot_reserve(void); /* bytes reserved, 0 on failure */
int whence_snapshot_take(void);       /* 0, or -1 where the state is too large */
void whence_snapshot_restore(void);
void whence_snapshot_stop(void); /* all memory writable again, nothing tracked: until the next one is taken */
/* A write has faulted. */
enum whence_write whence_snapshot_fault(uintptr_t address);
/* The kernel is going to write: it would answer with EFAULT where a page is protected. */
enum whence_write whence_snapshot_touch(uintptr_t address, size_t length);
/* The subject's mappings have changed. */
void whence_snapshot_layout_changed(void);

#endif
