"""``--schedule FILE``: every command works on the run that the schedule makes; files that do not fit get one line."""

from __future__ import annotations

import json
from pathlib import Path

from cli_tool import subject_folder, whence

COUNTER = """\
#include <assert.h>
#include <pthread.h>
static int counter;
static void *work(void *p)
{
    counter++;
    return p;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, work, NULL);
    pthread_create(&b, NULL, work, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(counter == 2);
    return 0;
}
"""
WORDS = ("counter.c", "--cflags=-pthread", "--fails", "")
BETWEEN = [{"thread": 1, "step": 2, "next": 2}]


def schedule(folder: Path, build: str, case: str = "fails 1") -> str:
    content = {"schema": "whence-schedule", "version": 1, "build": build, "case": case, "slice": 20000}
    (folder / "schedule.json").write_text(json.dumps(content | {"points": BETWEEN}))
    return "schedule.json"


def build_of(folder: Path) -> str:
    """The fingerprint of the program, as its traces have it."""
    trace = folder / "trace"
    assert whence(folder, "record", *WORDS, "--output", str(trace)).status == 0
    return f"{int.from_bytes(trace.read_bytes()[72:80], 'little'):016x}"


def test_a_command_works_on_the_run_under_a_schedule():
    folder = subject_folder("scheduled", counter_c=COUNTER)
    path = schedule(folder, build_of(folder))
    assert json.loads(whence(folder, "record", *WORDS, "--json").out)["outcome"] == "pass"
    assert json.loads(whence(folder, "record", *WORDS, "--json", "--schedule", path).out)["outcome"] == "assertion"
    found = whence(folder, "slice", *WORDS, "--json", "--schedule", path).json
    assert "ran 2 cases (1 passed, 1 failed)" in found["summary"][0]
    assert {"counter.c:6", "counter.c:16"} <= {f"{line['file']}:{line['line']}" for line in found["slice"]}


def test_a_schedule_that_does_not_fit_gets_one_line():
    folder = subject_folder("unscheduled", counter_c=COUNTER, plain_c="int main(void) { return 1; }\n")
    build = build_of(folder)
    told = whence(folder, "record", *WORDS, "--schedule", schedule(folder, "0123456789abcdef"))
    assert (told.status, "of another build" in told.err) == (2, True)
    told = whence(folder, "record", *WORDS, "--schedule", schedule(folder, build, "other"))
    assert (told.status, "of the case 'other'" in told.err) == (2, True)
    told = whence(folder, "record", "plain.c", "--fails", "", "--schedule", schedule(folder, build))
    assert (told.status, "starts no threads" in told.err) == (2, True)
