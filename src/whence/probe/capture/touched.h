/* The files that a program names, copied as they were when it did so first. */
#pragma once
#include <stdint.h>
#include <stdio.h>
#include <sys/sysmacros.h>
#include <sys/types.h>

#include "notify.h"

#define NULL_DEVICE makedev(1, 3)

struct settings {
    char mark[32];
    char program[4096]; /* what is started */
    char kept[4096];    /* the folder of the invocations' folders */
    char work[4096];    /* files below it are copied */
    uint64_t most;      /* bytes of a file, and a stream */
    uint64_t all;       /* bytes of all copies of an invocation */
};
extern volatile struct settings settings;

/* Copies go to the folder `kept`, what is said of them to `about`. */
void begin_touching(int kept, FILE *about);

/* Copies what a call names, if it has not been named before. */
void touch_files(const struct seccomp_notif *call);

/* Copies the files that the program may have written, as they are at its end. */
void keep_written(void);

/* Copies a file from an offset on; gives the number of bytes, -1 where it fails or has more than `most`. */
int64_t copy_bytes(int from, int folder, const char *name, int64_t offset, uint64_t most);
