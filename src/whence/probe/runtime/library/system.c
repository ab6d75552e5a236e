/* Wrappers of sys/utsname.h, sys/resource.h and termios.h: what the system answers in a structure, and is told in one. */
#include "library/library.h"

#include <sys/resource.h>
#include <sys/utsname.h>
#include <termios.h>

#define ANSWERED(name, call, answer, ...) \
    LIBRARY(int, name, __VA_ARGS__) \
    { \
        int before = errno; \
        int result = call; \
        EFFECTS_ERRNO(name, before) { write_bytes(answer, result ? 0 : sizeof *(answer)); } \
        return result; \
    }

ANSWERED(uname, uname(system), system, struct utsname *system)
ANSWERED(getrlimit, getrlimit(resource, limit), limit, int resource, struct rlimit *limit)
ANSWERED(getrusage, getrusage(who, usage), usage, int who, struct rusage *usage)
ANSWERED(tcgetattr, tcgetattr(descriptor, terminal), terminal, int descriptor, struct termios *terminal)
LIBRARY_SAME(getrlimit64, getrlimit);

LIBRARY(int, setrlimit, int resource, const struct rlimit *limit)
{
    int before = errno;
    int result = setrlimit(resource, limit);
    EFFECTS_ERRNO(setrlimit, before) { read_bytes(limit, sizeof *limit); }
    return result;
}
LIBRARY_SAME(setrlimit64, setrlimit);

LIBRARY(int, tcsetattr, int descriptor, int when, const struct termios *terminal)
{
    int before = errno;
    int result = tcsetattr(descriptor, when, terminal);
    EFFECTS_ERRNO(tcsetattr, before) { read_bytes(terminal, sizeof *terminal); }
    return result;
}
