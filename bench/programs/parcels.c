/* Packs parcels into boxes, first fit, and prints how full each box is: the program of bench/alter.py.

   Weights come from standard input. With "forks N" as arguments it does nothing but fork, N times, children that end
   at once, and prints the nanoseconds that each took: the bare time of the machine for a process like this one. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROOM = 100, BOXES = 64 };

struct box {
    int used, parcels;
    struct parcel *last;
};

struct parcel {
    int weight;
    struct parcel *before;
};

static struct box boxes[BOXES];
static int count;

static struct box *find_box(int weight)
{
    for (int i = 0; i < count; i++) {
        if (boxes[i].used + weight <= ROOM)
            return &boxes[i];
    }
    return count < BOXES ? &boxes[count++] : NULL;
}

static int pack(int weight)
{
    struct box *box = weight > 0 && weight <= ROOM ? find_box(weight) : NULL;
    if (!box)
        return 0;
    struct parcel *parcel = malloc(sizeof *parcel);
    parcel->weight = weight;
    parcel->before = box->last;
    box->last = parcel;
    box->used += weight;
    box->parcels++;
    return 1;
}

static int heaviest(const struct box *box)
{
    int most = 0;
    for (const struct parcel *parcel = box->last; parcel; parcel = parcel->before)
        most = parcel->weight > most ? parcel->weight : most;
    return most;
}

static void report(int refused)
{
    for (int i = 0; i < count; i++)
        printf("box %d: %d in %d parcels, heaviest %d\n", i + 1, boxes[i].used, boxes[i].parcels, heaviest(&boxes[i]));
    printf("%d boxes, %d refused\n", count, refused);
}

static long now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000L + now.tv_nsec;
}

static void fork_only(int times)
{
    long *took = calloc(times, sizeof *took);
    for (int i = 0; i < times; i++) {
        long start = now_ns();
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        waitpid(child, NULL, 0);
        took[i] = now_ns() - start;
    }
    for (int i = 0; i < times; i++)
        printf("%ld\n", took[i]);
}

int main(int argc, char **argv)
{
    int weight, refused = 0;
    if (argc == 3 && !strcmp(argv[1], "forks")) {
        fork_only(atoi(argv[2]));
        return 0;
    }
    while (scanf("%d", &weight) == 1)
        refused += !pack(weight);
    report(refused);
    return 0;
}
