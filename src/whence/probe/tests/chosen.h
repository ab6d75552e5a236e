/* One test of a test program: which one a run is to do. Functions of the framework come by here (--wrap), whichever way
   the framework was linked. The environment names the test; without a name all run as ever, and "?" asks for the names:
   one a line on standard output, behind LISTED. */
#ifndef WHENCE_CHOSEN_H
#define WHENCE_CHOSEN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VARIABLE "WHENCE_TEST"
#define LISTED "##whence-test "

/* Whether a test is to run; where names are asked for it is named instead, unless another process has to judge it. */
static inline int is_chosen(const char *name, int is_own_judge)
{
    const char *chosen = getenv(VARIABLE);
    if (!chosen)
        return 1;
    if (strcmp(chosen, "?"))
        return !strcmp(chosen, name);
    if (is_own_judge)
        dprintf(STDOUT_FILENO, LISTED "%s\n", name);
    return 0;
}

/* Whether one test alone is to run: then its first check that fails ends the run, where it fails. */
static inline int is_single(void)
{
    const char *chosen = getenv(VARIABLE);
    return chosen && strcmp(chosen, "?");
}

/* Says which check failed, in words that Whence knows (run/oracle.py). */
static inline void say_failed(const char *file, unsigned line, const char *text)
{
    fprintf(stderr, "%s:%u: check failed: %s\n", file, line, text);
}

#endif
