/* Stands in for the runtime of the alter variant: every hook asks, and is given its own value back. Two settings in the
   environment: HOOKS_LIST names a file for a line "clock site value left right" a hook; HOOKS_CHANGE is "site value",
   what a site's value is at all its instances (of a call's: the function is skipped). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOOK __attribute__((preserve_most)) /* as the variant calls them */

uint64_t __whence_clock, __whence_stop;
extern char __whence_armed[];
extern const uint64_t __whence_armed_bytes;

static int list = -1;
static uint32_t changed_site = UINT32_MAX;
static uint64_t changed_value;

int __whence_main(int argc, char **argv, char **envp);
extern char **environ;

__attribute__((constructor(101))) static void start(void)
{
    const char *path = getenv("HOOKS_LIST"), *change = getenv("HOOKS_CHANGE");
    if (path)
        list = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (change) {
        char *rest;
        changed_site = (uint32_t)strtoul(change, &rest, 10);
        changed_value = strtoull(rest, NULL, 10);
    }
}

static void note(uint64_t clock, uint32_t site, uint64_t value, uint64_t left, uint64_t right)
{
    if (list >= 0)
        dprintf(list, "%lu %u %lu %lu %lu\n", clock, site, value, left, right);
}

HOOK uint64_t whence_stop_at(uint64_t clock, uint32_t block)
{
    if (block >= __whence_armed_bytes || __whence_armed[block])
        abort();
    return clock;
}

HOOK uint64_t whence_alter(uint64_t clock, uint32_t site, uint64_t value, void *place, void **frame)
{
    (void)frame;
    note(clock, site, value, place != NULL, 0);
    return site == changed_site ? changed_value : value;
}

HOOK uint64_t whence_compute(uint64_t clock, uint32_t site, uint64_t value, uint64_t left, uint64_t right, void **frame)
{
    (void)frame;
    note(clock, site, value, left, right);
    return site == changed_site ? changed_value : value;
}

static void nothing(void) {}

HOOK void *whence_callee(uint64_t clock, uint32_t site, void *function, void **frame)
{
    (void)frame;
    note(clock, site, function != NULL, 0, 0);
    return site == changed_site ? (void *)nothing : function;
}

/* Functions of the library that the alter variant redirects. */
__attribute__((noreturn)) void __whence_lib_exit(int status) { exit(status); }
int __whence_lib_atexit(void (*handler)(void)) { return atexit(handler); }
int __whence_lib_on_exit(void (*handler)(int, void *), void *argument) { return on_exit(handler, argument); }
FILE *__whence_lib_fopen(const char *path, const char *mode) { return fopen(path, mode); }
int __whence_lib_open(const char *path, int flags, int mode) { return open(path, flags, mode); }

int main(int argc, char **argv)
{
    return __whence_main(argc, argv, environ);
}
