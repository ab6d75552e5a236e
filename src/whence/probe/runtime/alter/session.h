/* The top layer of altered runs: a session, one run of a case that goes back to its points of change. It stands on all others of
   this folder. */
#ifndef WHENCE_SESSION_H
#define WHENCE_SESSION_H

#include "alter/changes.h"

/* ---- session.c: offered to the server --------------------------------------------------------------------------- */

/* Opens the session that `text` ("path" or "path:index") names, before limits are set. Returns the bytes of address
   space that it takes, 0 with errno set where it cannot be opened. */
size_t whence_session_open(const char *text);
/* Runs the program where sessions run it, so that what it does is the same: recordings do. Does not return. */
void whence_run_as_session(int (*entry)(int, char **, char **), int argc, char **argv, char **envp) __attribute__((noreturn));
/* Runs the program in the session. Does not return. */
void whence_session_run(int (*entry)(int, char **, char **), int argc, char **argv, char **envp) __attribute__((noreturn));

/* ---- session.c: what hooks ask ---------------------------------------------------------------------------------- */

/* Called on the hook's stack when the run gets to a site where something may be done. */
uint64_t whence_visit(const struct whence_point *point);
/* The next clock after this one, from 1, at which the search has something to do. */
uint64_t whence_next_stop(uint64_t clock);

/* ---- continuation.c --------------------------------------------------------------------------------------------- */

/* Runs one continuation to its end, from this point. */
void whence_run_one(uint64_t continuation, const struct whence_point *point);

/* ---- reading.c -------------------------------------------------------------------------------------------------- */

/* The value that a continuation has at a site: its changes are made, then it reads there what it is to read, and may end. */
uint64_t whence_continued(const struct whence_point *point);
/* The continuation at hand begins anew: what it has read so far counts for nothing. */
void whence_forget_readings(void);

/* ---- restart.c: runs from the start ------------------------------------------------------------------------------- */

/* A run from the start: makes the changes of the session's continuation, and notes how far it comes. */
void whence_apply(void);
/* Notes how far the unaltered run from the start comes. */
void whence_watch(void);
/* The clock budget is used up. Does not return. */
void whence_out_of_budget(void) __attribute__((noreturn));

/* ---- exits.c ---------------------------------------------------------------------------------------------------- */

void whence_exits_start(void);
void __whence_lib_exit(int status) __attribute__((noreturn));

#endif
