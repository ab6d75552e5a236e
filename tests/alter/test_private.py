"""Altered runs of programs that write files, and that look at themselves: each as if it were the only one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from altering import WAYS
from snippets import snippet

from whence.alter.changes import CHANGE, Batch, Flag, Op, Verdict, Way
from whence.alter.session import Session
from whence.probe.instrument import Variant
from whence.probe.plan import FIRST
from whence.probe.sites import Form, Role
from whence.run.cases import Case
from whence.run.outcome import Expected
from whence.subject.recorder import Recorder
from whence.subject.subject import Subject

FILES = r"""
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void put(int fd, const char *text, int times)
{
    for (int i = 0; i < times; i++)
        write(fd, text, strlen(text));
}

static void show(const char *name)
{
    char text[64];
    int fd = open(name, O_RDONLY), n = fd < 0 ? -1 : (int)read(fd, text, sizeof text - 1);
    text[n < 0 ? 0 : n] = 0;
    printf("%s %d %s\n", name, n, text);
    if (fd >= 0)
        close(fd);
}

int main(void)
{
    int first = open("first", O_RDWR | O_CREAT | O_TRUNC, 0600), old = open("old", O_RDWR);
    put(first, "ab", 3);
    show("old");
    put(old, "x", 2);
    int second = openat(AT_FDCWD, "second", O_WRONLY | O_CREAT | O_EXCL, 0644);
    put(second, "new", 2);
    close(second);
    lseek(first, 1, SEEK_SET);
    put(first, "Z", 1);
    if (rename("second", "third"))
        puts("not renamed");
    chmod("third", 0600);
    int copy = dup(first);
    put(copy, "!", 2);
    show("first");
    if (unlink("first"))
        puts("not removed");
    truncate("old", 3);
    show("first");
    show("second");
    show("third");
    show("old");
    printf("%d\n", (int)lseek(first, 0, SEEK_CUR));
    return 0;
}
"""

ITSELF = r"""
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
    char c;
    int lines = 0, stack = -1, digits = 0, here = 0;
    unsigned long low = 0, high = 0, place = (unsigned long)&here;
    FILE *f = fopen("/proc/self/maps", "r");
    printf("%d\n", errno);
    while (stack < 0 && fscanf(f, "%lx-%lx", &low, &high) == 2) {
        while ((c = (char)fgetc(f)) != '\n')
            digits++;
        if (low <= place && place < high)
            stack = lines;
        lines++;
    }
    printf("%d\n", stack >= 0);
    return 0;
}
"""


def changes_everywhere(subject: Subject, case: Case) -> np.ndarray:
    """A change at each instance of a branch, load, argument or result: the other side, one more, or null."""
    with Session(subject, case) as session:
        events = session.observe().events
    plan = subject.alter_plan.sites
    events = events[np.isin(plan["role"][events["site"]], (Role.BRANCH, Role.LOAD, Role.ARGUMENT, Role.RESULT))]
    sites = plan[events["site"]]
    changes = np.zeros(len(events), CHANGE)
    changes["clock"], changes["site"] = events["clock"], events["site"]
    for name in ("block", "width", "form"):
        changes[name] = sites[name]
    pointer = sites["form"] == Form.POINTER
    changes["op"] = np.where(sites["role"] == Role.BRANCH, Op.NOT, np.where(pointer, Op.SET, Op.ADD))
    changes["value"] = np.where(pointer, 0, 1)
    changes["flags"] = np.where(sites["role"] == Role.LOAD, Flag.MEMORY, 0)
    return changes


def test_files_that_continuations_write_are_as_before_for_the_next_one(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("as it was")
    subject = snippet(FILES).subject
    case = Case("files", files=(("old", tmp_path / "old"),), expected=Expected(b""))
    batch = Batch.single(changes_everywhere(subject, case))
    results = {}
    for way in WAYS:
        with Session(subject, case, way) as session:
            results[way] = session.run(batch, outputs=True)
    outputs = {way: found.outputs or [] for way, found in results.items()}
    records = {way: found.records for way, found in results.items()}
    refused = records[Way.FORK]["status"][records[Way.FORK]["verdict"] == Verdict.REFUSED]
    assert len(refused) < len(batch) // 10, np.unique(refused, return_counts=True)
    done = {way: records[way]["verdict"] != Verdict.REFUSED for way in WAYS}
    for way in (Way.SNAPSHOT, Way.FORK):
        assert done[way].any()
        for index in np.flatnonzero(done[way]).tolist():
            assert outputs[way][index] == outputs[Way.RESTART][index], batch.changes[index]
            assert records[way]["verdict"][index] == records[Way.RESTART]["verdict"][index]


def test_a_program_that_looks_for_its_stack_has_one_clock() -> None:
    subject = snippet(ITSELF).subject
    case = Case("itself", expected=Expected(b"0\n1\n"))
    with Session(subject, case) as session:
        runs = [session.observe() for _ in range(3)]
    with Session(subject, case, Way.RESTART) as session:
        runs.append(session.observe())
    assert {int(run.result["verdict"]) for run in runs} == {Verdict.PASS}
    assert len({run.length for run in runs}) == 1
    for name in ("clock", "site"):
        assert all(np.array_equal(runs[0].events[name], run.events[name]) for run in runs)
    with Recorder(subject, variant=Variant.RECORD) as recorder:
        trace = recorder.record(case).trace
    segments = trace.plan.segments[trace.columns.segments["id"][: trace.segments]]
    blocks = segments["block"][segments["flags"] & FIRST != 0]
    assert len(blocks) == runs[0].length
    own = subject.alter_plan.sites["block"][runs[0].events["site"]]
    assert np.array_equal(blocks[runs[0].events["clock"].astype(np.int64)], own)
