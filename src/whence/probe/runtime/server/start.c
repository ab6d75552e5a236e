/* The start of an instrumented program: what the environment asks for. Without a server the program runs once, recording or
   counting as the variables say. */
#define _GNU_SOURCE
#include "base/base.h"
#include "record/coverage.h"
#include "record/record.h"
#include "server/server.h"
#include "suppress/suppress.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

/* Takes NAME=value out of the environment, in place, and returns the value, or null. */
static char *take_setting(const char *name)
{
    size_t length = strlen(name);
    char *value = NULL;
    char **kept = environ;
    if (!environ)
        return NULL;
    for (char **variable = environ; *variable; variable++) {
        if (!strncmp(*variable, name, length) && (*variable)[length] == '=')
            value = *variable + length + 1;
        else
            *kept++ = *variable;
    }
    *kept = NULL;
    return value;
}

static void start_recording(const char *path, const char *limit, const char *ring)
{
    size_t length = strlen(path);
    int (*start)(const char *, uint64_t, enum whence_keep) =
        length && path[length - 1] == '/' ? whence_record_in_folder : whence_record_start;
    if (start(path, limit ? strtoull(limit, NULL, 10) : 0, ring && *ring == '1' ? WHENCE_KEEP_LAST : WHENCE_KEEP_FIRST))
        whence_stop("record into", path);
}

int whence_start(void)
{
    char *control = take_setting("WHENCE_CONTROL");
    char *coverage = take_setting("WHENCE_COVERAGE");
    char *trace = take_setting("WHENCE_TRACE");
    char *limit = take_setting("WHENCE_TRACE_LIMIT");
    char *ring = take_setting("WHENCE_RING");
    char *schedule = take_setting("WHENCE_SCHEDULE");
    char *points = take_setting("WHENCE_POINTS");
    if (coverage && whence_coverage_start(coverage))
        whence_stop("count into", coverage);
    if (control)
        return atoi(control);
    if (schedule && whence_schedule_start(schedule))
        whence_stop("use the schedule", schedule);
    if (trace)
        start_recording(trace, limit, ring);
    if (points && !whence_suppression_open(points, 1))
        whence_stop("suppress what is said in", points);
    return -1;
}
