"""The memory of a recorded run at a point, as the program itself saw it: it calls ``dump()`` there."""

from __future__ import annotations

import struct

from snippets import Snippet, snippet

from whence.probe.instrument import Variant
from whence.run.cases import Case
from whence.run.outcome import Expected
from whence.subject.known_memory import KnownMemory
from whence.subject.live_objects import RunObjects
from whence.subject.named_memory import NamedMemory
from whence.subject.recorder import Recorder
from whence.trace.trace import Trace

BEGIN = b"<<MEMORY>>"
# Writes all memory that is the program's own, of large regions the pages that hold something, and what it names.
DUMP = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static char maps[1 << 16], page[4096], nothing[4096];
const void *dumped_too;
static void put(const void *what, size_t size)
{
    for (ssize_t done; size; what = (const char *)what + done, size -= done)
        if ((done = write(1, what, size)) <= 0)
            _exit(9);
}
static void put_pages(int memory, unsigned long start, unsigned long end, int all)
{
    unsigned long size = sizeof page;
    for (; start < end; start += size)
        if (pread(memory, page, size, start) == size && (all || memcmp(page, nothing, size))) {
            put(&start, 8);
            put(&size, 8);
            put(page, size);
        }
}
void dump(void)
{
    int file = open("/proc/self/maps", O_RDONLY), memory = open("/proc/self/mem", O_RDONLY), got = 0, more;
    unsigned long end_mark[2] = {0, 0}, here = (unsigned long)&file;
    while ((more = read(file, maps + got, sizeof maps - 1 - got)) > 0)
        got += more;
    put("<<MEMORY>>", 10);
    for (char *line = maps, *end; (end = strchr(line, '\n')); line = end + 1) {
        char *rest;
        unsigned long start = strtoul(line, &rest, 16), stop = strtoul(rest + 1, &rest, 16);
        if (start <= here && here < stop)
            start = here & -4096;
        if (rest[1] == 'r' && (rest[4] == 'p' || stop - start <= 4 << 20) && !memmem(line, end - line, ".so", 3))
            put_pages(memory, start, stop, stop - start <= 4 << 20);
    }
    if (dumped_too) {
        unsigned long size = 64;
        put(&dumped_too, 8);
        put(&size, 8);
        put(dumped_too, size);
    }
    put(end_mark, 16);
    close(file);
    close(memory);
}
"""
DECLARATIONS = """#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
void dump(void);
extern const void *dumped_too;
"""


def run_to_dump(text: str, *arguments: str, **files: str) -> tuple[Snippet, Trace, int, bytes]:
    """Record a program in the variant of altered runs; returns its trace, the event of the last call of ``dump``, and
    what it wrote.
    """
    made = snippet(text, "-w", dump=DUMP, **files)
    with Recorder(made.subject, variant=Variant.REPLAY) as recorder:
        recording = recorder.record(Case("case", arguments, expected=Expected()))
    trace = recording.trace
    calls = [event for event in range(trace.events) if trace.instruction(event).callee == "@dump"]
    return made, trace, calls[-1], recording.result.stdout


def dumped(output: bytes) -> KnownMemory:
    """The memory in a program's output."""
    found, at = KnownMemory(), output.index(BEGIN) + len(BEGIN)
    while (pair := struct.unpack_from("<QQ", output, at))[1]:
        address, size = pair
        found.write(address, output[at + 16 : at + 16 + size])
        at += 16 + size
    return found


def named(text: str, *arguments: str, **files: str) -> tuple[NamedMemory, str]:
    """The named memory where a program calls ``dump`` last, and what it printed before that."""
    made, trace, event, output = run_to_dump(DECLARATIONS + text, *arguments, **files)
    memory = NamedMemory(RunObjects(made.subject, trace), event, dumped(output).read)
    return memory, output[: output.index(BEGIN)].decode()
