"""A small C program for the tests of the runner, compiled with and without the fork server.

The recorder and the counters are stand-ins: a "trace" is a file that names its limit, and coverage is an
array of four counters that the program raises by ``hit(n)``.
"""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from pathlib import Path

from whence.build.toolchain import find_toolchain, whence_home
from whence.run.cases import Case, Suite
from whence.run.outcome import Expected, Rule
from whence.run.sandbox import Limits

PATIENCE = 60.0  # seconds for something to come, on a machine that does something else
LIMITS = Limits(time=PATIENCE, memory=1 << 28, output=1 << 20, processes=40)
RUNTIME = Path(__file__).parents[2] / "src/whence/probe/runtime"

STAND_IN = r"""
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "alter/session.h"
#include "record/coverage.h"
#include "record/record.h"
#include "record/trace.h"
#include "suppress/suppress.h"

static uint32_t *counters;

size_t whence_suppression_open(const char *text, int is_command) { return 0 * *text * is_command; }

int whence_record_start(const char *path, uint64_t limit, enum whence_keep keep)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0)
        return -1;
    dprintf(fd, "limit %llu ring %d", (unsigned long long)limit, keep);
    close(fd);
    return 0;
}

int whence_record_in_folder(const char *folder, uint64_t limit, enum whence_keep keep)
{
    char path[4096];
    snprintf(path, sizeof path, "%s%ld", folder, (long)getpid());
    return whence_record_start(path, limit, keep);
}

void whence_note_stack(const void *lowest, uint64_t bytes)
{
    (void)lowest, (void)bytes;
}

void whence_note_given(char **arguments, char **variables)
{
    (void)arguments, (void)variables;
}

int whence_schedule_start(const char *path)
{
    return access(path, R_OK);
}

uint32_t *whence_coverage(size_t *sites)
{
    *sites = counters ? 4 : 0;
    return counters;
}

int whence_coverage_start(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, 16))
        return -1;
    counters = mmap(NULL, 16, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return counters == MAP_FAILED ? -1 : 0;
}

size_t whence_session_open(const char *text)
{
    (void)text;
    errno = ENOSYS;
    return 0;
}

void whence_session_run(int (*entry)(int, char **, char **), int argc, char **argv, char **envp)
{
    _exit(entry(argc, argv, envp));
}

void whence_run_as_session(int (*entry)(int, char **, char **), int argc, char **argv, char **envp)
{
    exit(entry(argc, argv, envp));
}

void hit(int site)
{
    if (counters)
        counters[site]++;
}
"""

# One program that misbehaves in every way that the runner must stand; the first argument says which.
SUBJECT = r"""
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef SERVER
#define main __whence_main
#endif
#ifdef INSTRUMENTED
void hit(int site);
#else
#define hit(site) (void)(site)
#endif

extern char **environ;
static int is(const char *mode, const char *name) { return !strcmp(mode, name); }

static int end(const char *mode, const char *text)
{
    if (is(mode, "exit")) return atoi(text);
    if (is(mode, "assert")) assert(atoi(text) > 0);
    if (is(mode, "abort")) abort();
    if (is(mode, "crash")) *(volatile int *)8 = 1;
    if (is(mode, "signal")) raise(atoi(text));
    if (is(mode, "kill-group")) kill(0, SIGKILL);
    if (is(mode, "kill-parent")) { close(creat("left", 0600)); kill(getppid(), SIGKILL); sleep(100); }
    if (is(mode, "sleep")) sleep(100);
    if (is(mode, "compute")) { /* 0.4 s of processor time */
        while (clock() < 2 * CLOCKS_PER_SEC / 5)
            ;
        return 0;
    }
    if (is(mode, "spin")) for (volatile int i = 0;; i++) hit(3);
    if (is(mode, "print-for-ever")) for (;;) puts("and again");
    return 0;
}

static int resources(const char *mode)
{
    if (is(mode, "eat")) {
        size_t taken = 0;
        for (char *block; (block = malloc(1 << 20)); taken++) memset(block, 1, 1 << 20);
        printf("%d\n", taken > 10 && taken < 5000);
    }
    if (is(mode, "bomb")) /* not without end: a limit that does not hold must not take the machine along */
        for (int i = 0; i < 3000; i++) if (fork() == 0) pause();
    if (is(mode, "orphan") && fork() == 0) {
        setsid();
        sleep(1);
        puts("too late");
        fflush(stdout);
        sleep(100);
    }
    if (is(mode, "child")) {
        if (fork() == 0) { hit(2); _exit(0); }
        wait(NULL);
        hit(2);
    }
    if (is(mode, "scribble")) { /* over all memory that it shares with another process */
        char line[512];
        for (FILE *maps = fopen("/proc/self/maps", "r"); fgets(line, sizeof line, maps);) {
            char *end, *start = (char *)strtoul(line, &end, 16);
            if (strstr(end, " rw-s ")) memset(start, 0xAA, strtoul(end + 1, NULL, 16) - (unsigned long)start);
        }
    }
    if (is(mode, "pid")) printf("%d\n", (int)getpid());
    if (is(mode, "descriptor")) printf("%d\n", open("/dev/null", O_RDONLY));
    if (is(mode, "addresses")) printf("%p %p\n", (void *)&mode, malloc(10));
    return 0;
}

static int files(const char *mode, const char *name)
{
    char text[4096];
    FILE *file = is(mode, "write") ? fopen(name, "w") : is(mode, "read") ? fopen(name, "r") : NULL;
    if (is(mode, "write")) { fputs("written", file); puts("ok"); chmod(".", 0500); }
    if (is(mode, "read")) puts(file && fgets(text, sizeof text, file) ? text : "nothing");
    if (is(mode, "folder")) puts(getcwd(text, sizeof text));
    if (is(mode, "replace-folder") && getcwd(text, sizeof text) && rmdir(text) == 0) return symlink(name, text);
    if (is(mode, "lose-folder")) return system("rm -rf -- \"${PWD%/work}\"");
    if (is(mode, "list")) return system("ls -A");
    if (is(mode, "copy")) while (fgets(text, sizeof text, stdin)) fputs(text, stdout);
    if (is(mode, "environment")) for (char **v = environ; *v; v++) puts(*v);
    return 0;
}

int main(int argc, char **argv)
{
    hit(0);
    if (argc < 2 || is(argv[1], "echo")) {
        for (int i = 0; i < argc; i++) { printf("%s\n", argv[i]); hit(1); }
        fprintf(stderr, "%d arguments\n", argc);
        return 0;
    }
    const char *text = argc > 2 ? argv[2] : "";
    int status = end(argv[1], text);
    resources(argv[1]);
    files(argv[1], text);
    return status;
}
"""

SERVED, STARTED, PLAIN = "served", "started", "plain"  # with a fork server; instrumented without; neither


def subject(kind: str) -> Path:
    """Return the executable of ``SUBJECT`` of one of the three kinds, compiled once for all sessions."""
    sources = {"subject.c": SUBJECT}
    flags = ["-g", "-O0", "-Wall", "-Wextra", "-o", "program"]
    if kind != PLAIN:
        runtime = [*RUNTIME.rglob("*.h"), *RUNTIME.glob("base/*.c"), *RUNTIME.glob("server/*.c")]
        runtime.remove(RUNTIME / "server" / ("without_main.c" if kind == SERVED else "main.c"))
        sources |= {"stand_in.c": STAND_IN} | {str(p.relative_to(RUNTIME)): p.read_text() for p in sorted(runtime)}
        flags += ["-I.", "-DINSTRUMENTED", *(["-DSERVER"] if kind == SERVED else [])]
    key = hashlib.sha256(repr((sources, flags)).encode()).hexdigest()[:24]
    target = Path(whence_home()) / "tests" / key
    if not target.exists():
        _compile(sources, flags, target)
    return target


def _compile(sources: dict[str, str], flags: list[str], target: Path) -> None:
    toolchain = find_toolchain("bundled")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        for name, text in sources.items():
            Path(folder, name).parent.mkdir(exist_ok=True)
            Path(folder, name).write_text(text)
        command = toolchain.call([*flags, *(name for name in sources if name.endswith(".c"))])
        subprocess.run(command, cwd=folder, env=toolchain.environment(), check=True)
        Path(folder, "program").rename(target)


def suite_case(folder: Path, command: str, fresh: bool = True, **more: object) -> Case:
    """A test of a suite in the folder, whose program is ``bin/prog``."""
    suite = Suite(folder, "bin/prog", fresh)
    return Case("s", command=command, suite=suite, rule=Rule.STATUS, expected=Expected(), **more)  # type: ignore[arg-type]
