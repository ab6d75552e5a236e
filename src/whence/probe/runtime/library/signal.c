/* Wrappers of signal.h: handlers, masks and sets. */
#include "library/library.h"

#include <signal.h>

LIBRARY(int, sigaction, int number, const struct sigaction *new, struct sigaction *old)
{
    int before = errno;
    int result = sigaction(number, new, old);
    EFFECTS_ERRNO(sigaction, before)
    {
        read_bytes(new, new ? sizeof *new : 0);
        write_bytes(old, old && !result ? sizeof *old : 0);
    }
    return result;
}

LIBRARY(int, sigprocmask, int how, const sigset_t *new, sigset_t *old)
{
    int before = errno;
    int result = sigprocmask(how, new, old);
    EFFECTS_ERRNO(sigprocmask, before)
    {
        read_bytes(new, new ? sizeof *new : 0);
        write_bytes(old, old && !result ? sizeof *old : 0);
    }
    return result;
}

LIBRARY(int, pthread_sigmask, int how, const sigset_t *new, sigset_t *old)
{
    int result = pthread_sigmask(how, new, old);
    EFFECTS(pthread_sigmask)
    {
        read_bytes(new, new ? sizeof *new : 0);
        write_bytes(old, old && !result ? sizeof *old : 0);
    }
    return result;
}

LIBRARY(int, sigaltstack, const stack_t *new, stack_t *old)
{
    int before = errno;
    int result = sigaltstack(new, old);
    EFFECTS_ERRNO(sigaltstack, before)
    {
        read_bytes(new, new ? sizeof *new : 0);
        write_bytes(old, old && !result ? sizeof *old : 0);
    }
    return result;
}

LIBRARY(int, sigismember, const sigset_t *set, int number)
{
    int result = sigismember(set, number);
    EFFECTS(sigismember) { read_bytes(set, sizeof *set); }
    return result;
}

LIBRARY(int, sigfillset, sigset_t *set)
{
    int result = sigfillset(set);
    EFFECTS(sigfillset) { write_bytes(set, sizeof *set); }
    return result;
}

LIBRARY(int, sigdelset, sigset_t *set, int number)
{
    int result = sigdelset(set, number);
    EFFECTS(sigdelset)
    {
        read_bytes(set, sizeof *set);
        write_bytes(set, sizeof *set);
    }
    return result;
}

LIBRARY(int, sigemptyset, sigset_t *set)
{
    int result = sigemptyset(set);
    EFFECTS(sigemptyset) { write_bytes(set, sizeof *set); }
    return result;
}

LIBRARY(int, sigaddset, sigset_t *set, int number)
{
    int result = sigaddset(set, number);
    EFFECTS(sigaddset)
    {
        read_bytes(set, sizeof *set);
        write_bytes(set, sizeof *set);
    }
    return result;
}
