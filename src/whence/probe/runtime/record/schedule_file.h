/* A schedule as run/schedule.py writes it, and what the run tells of it: which thread goes on where. All in one file that both
   sides map; words of 64 bits, little endian. The lists follow the header in the order of their counts. */
#ifndef WHENCE_SCHEDULE_FILE_H
#define WHENCE_SCHEDULE_FILE_H

#include <stdint.h>

#define SCHEDULE_MAGIC UINT64_C(0x31484353434e4857) /* "WHNCSCH1" */

enum schedule_way {
    BY_POINTS,    /* as the points say, else by default */
    BY_CHANCE,    /* any thread that can go on */
    BY_PRIORITIES /* the thread of the highest priority; at some moments that of the one with the turn falls */
};
enum schedule_end { SCHEDULE_DEADLOCK = 1, SCHEDULE_FULL = 2 /* more threads were wanted than can be held */ };

struct schedule_file {
    uint64_t magic, way, seed;
    uint64_t chance;  /* by chance: of 65,536 */
    uint64_t changes; /* by priorities: how often one falls, within so many moments: */
    uint64_t length;
    uint64_t slice;   /* steps after which a turn ends by itself, so that nobody waits in vain for others */
    uint64_t points, choices_room, moments_room, sites; /* sizes of the lists; the last in bytes, 0: each step counts */
    /* what the run tells */
    uint64_t end, choices, moments, considered, threads;
};

/* Thread `thread` does not begin its step number at >> 1 (from 1) before `next` has had a turn; where at & 1 is set: it
   waits, yields or ends in that step, and `next` goes on. */
struct schedule_point {
    uint32_t thread, next;
    uint64_t at;
};

/* Where another thread could have gone on: bits of the threads that could, the one with the turn among them if it can. */
struct schedule_moment {
    struct schedule_point point;
    uint64_t ready;
    uint32_t segment, reserved;
};

#endif
