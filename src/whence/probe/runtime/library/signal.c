/* Wrappers of signal.h: handlers, masks and sets. */
#include "library/library.h"

#include <signal.h>

static void exchanged(const void *new, const void *old, size_t size, int failed)
{
    read_bytes(new, new ? size : 0);
    write_bytes(old, old && !failed ? size : 0);
}

/* Functions that set something anew, and give what was set before. */
#define EXCHANGES(name, call, ...) \
    LIBRARY(int, name, __VA_ARGS__) \
    { \
        int before = errno; \
        int result = call; \
        EFFECTS_ERRNO(name, before) { exchanged(new, old, sizeof *new, result); } \
        return result; \
    }

EXCHANGES(sigaction, sigaction(number, new, old), int number, const struct sigaction *new, struct sigaction *old)
EXCHANGES(sigprocmask, sigprocmask(how, new, old), int how, const sigset_t *new, sigset_t *old)
EXCHANGES(pthread_sigmask, pthread_sigmask(how, new, old), int how, const sigset_t *new, sigset_t *old)
EXCHANGES(sigaltstack, sigaltstack(new, old), const stack_t *new, stack_t *old)

LIBRARY(int, sigismember, const sigset_t *set, int number)
{
    int result = sigismember(set, number);
    EFFECTS(sigismember) { read_bytes(set, sizeof *set); }
    return result;
}

#define WHOLE_SET(name) \
    LIBRARY(int, name, sigset_t *set) \
    { \
        int result = name(set); \
        EFFECTS(name) { write_bytes(set, sizeof *set); } \
        return result; \
    }

#define ONE_OF_SET(name) \
    LIBRARY(int, name, sigset_t *set, int number) \
    { \
        int result = name(set, number); \
        EFFECTS(name) \
        { \
            read_bytes(set, sizeof *set); \
            write_bytes(set, sizeof *set); \
        } \
        return result; \
    }

WHOLE_SET(sigemptyset)
WHOLE_SET(sigfillset)
ONE_OF_SET(sigaddset)
ONE_OF_SET(sigdelset)
