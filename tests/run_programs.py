"""Compiles small C programs for the tests of the runner, with the fork server linked in.

The recorder and the counters are stand-ins: a "trace" is a file that names its limit, and coverage is an
array of four counters that the program raises by ``hit(n)``.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path

from whence.build.toolchain import find_toolchain, whence_home

RUNTIME = Path(__file__).parents[1] / "src/whence/probe/runtime"
SITES = 4

STAND_IN = r"""
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "whence.h"

static uint32_t *counters;

int whence_record_start(const char *path, uint64_t limit, int ring)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0)
        return -1;
    dprintf(fd, "limit %llu ring %d", (unsigned long long)limit, ring);
    close(fd);
    return 0;
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

void hit(int site)
{
    if (counters)
        counters[site]++;
}
"""

PRELUDE = r"""
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
void hit(int site);
#line 1 "subject.c"
"""


def compile_c(source: str, *, server: bool = True, instrumented: bool = True) -> Path:
    """Return an executable of the source, compiled once for all sessions.

    With ``server`` its main becomes the fork server's entry; else, if ``instrumented``, it starts from a
    constructor.
    """
    texts = [PRELUDE + source, STAND_IN, *(path.read_text() for path in sorted(RUNTIME.glob("*er.[ch]")))]
    texts += [(RUNTIME / "main.c").read_text(), repr((server, instrumented))]
    key = hashlib.sha256("\0".join(texts).encode()).hexdigest()[:24]
    target = Path(whence_home()) / "tests" / key
    if not target.exists():
        _compile(source, target, server, instrumented)
    return target


def _compile(source: str, target: Path, server: bool, instrumented: bool) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    own = target.with_suffix(f".{os.getpid()}")
    own.mkdir()
    (own / "subject.c").write_text(PRELUDE + source)
    (own / "stand_in.c").write_text(STAND_IN if instrumented else "void hit(int site) { (void)site; }")
    sources = ["subject.c", "stand_in.c"]
    if instrumented:
        sources.append(str(RUNTIME / "server.c"))
    if server:
        sources.append(str(RUNTIME / "main.c"))
    flags = ["-g", "-O1", "-Wall", "-Wextra", f"-I{RUNTIME}", "-o", "program"]
    objects = []
    toolchain = find_toolchain("zig")
    for path in sources:
        rename = ["-Dmain=__whence_main"] if path == "subject.c" and server else []
        objects.append(f"{Path(path).stem}.o")
        _call(toolchain.call([*flags[:-2], *rename, "-c", path, "-o", objects[-1]]), own)
    _call(toolchain.call([*objects, "-o", "program"]), own)
    (own / "program").rename(target)


def _call(command: list[str], folder: Path) -> None:
    subprocess.run(command, cwd=folder, env=find_toolchain("zig").environment(), check=True)
