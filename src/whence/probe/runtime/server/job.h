/* Jobs of the fork server as run/protocol.py packs them, and what its files share: set_up.c and child.c run a job,
   processes.c waits for its end, server.c speaks with the other side. */
#ifndef WHENCE_JOB_H
#define WHENCE_JOB_H

#include "server/server.h"

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* `length` counts everything from this header on. */
struct job {
    uint32_t length, id;
    uint32_t wall_ms, cpu_s;
    uint64_t memory, output;
    uint32_t processes, flags;
    uint64_t trace_limit;
    int64_t row;
    uint32_t arguments, variables;
};
enum { JOB_PREPARED = 1, JOB_RING = 2, JOB_END_AT_LIMIT = 4, JOB_CONFINED = 8 };
enum text { WORK, SPARE, INPUT, OUTPUT, ERRORS, TRACE, MATRIX, SESSION, SCHEDULE, START, TEXTS };

struct reply {
    uint32_t id, flags;
    int32_t status, signal;
    int32_t error;
    uint32_t stage;
    uint64_t wall_us, max_rss_kb;
};
enum { TIMED_OUT = 1, SPARE_USED = 2, TOO_MANY_PROCESSES = 4, DEADLOCKED = 8 };
enum stage { AT_FOLDER = 1, AT_INPUT, AT_OUTPUT, AT_ERRORS, AT_TRACE, AT_LIMITS, AT_PROGRAM, AT_FORK, AT_MESSAGE, AT_MATRIX, AT_SESSION, AT_SCHEDULE };

struct hello {
    char magic[8];
    uint32_t version, reserved;
    uint64_t sites;
};

/* What a child tells about a set-up that failed, in memory shared with the server. */
struct failure {
    int32_t error;
    uint32_t stage;
};

struct whence_server {
    int control;
    whence_entry entry;
    sigset_t unblocked;
    uint32_t *counters;
    size_t sites;
    struct job *job;
    char **pointers; /* the job's strings: TEXTS paths, arguments, null, variables, null */
    volatile struct failure *failure;
};

/* Address space for the server and the recorder, beside what the program may use. */
#define OWN_MEMORY (UINT64_C(128) << 20)

/* set_up.c, in the process that is to run the program */

/* What cannot be done is told, and the process ends. */
void whence_fail(const struct whence_server *server, enum stage stage) __attribute__((noreturn));
/* A session of its own, its folder and its streams. */
void whence_set_up(const struct whence_server *server);
/* The job's limits; beside them it needs `own_memory` of address space, and may write a file of `own_file` bytes. */
void whence_set_limits(const struct whence_server *server, uint64_t own_memory, uint64_t own_file);
/* Signals are as they were before there was a server. */
void whence_restore_signals(const struct whence_server *server);

/* child.c: runs the program as the job says, in a process that has been forked for it. Does not return. */
void whence_run_child(const struct whence_server *server) __attribute__((noreturn));

/* confine.c: refuses what this process, which runs in `work`, must not do to others, or ends it there; 0, or nonzero where
   it cannot. */
int whence_confine(const char *work, int ends);

/* processes.c */

void whence_kill_group(pid_t pid);
/* Waits until the child has ended, or ends it; the child stays a zombie, so that its group can be addressed. When
   the other side of the socket is gone, there is nobody to serve, and this process ends. Returns flags of the reply. */
uint32_t whence_await_end(pid_t pid, const struct whence_server *server);
/* Ends and collects whatever the run left behind: orphans come to this process, which is their subreaper. */
void whence_reap_orphans(void);

#endif
