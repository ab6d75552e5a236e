"""Other initial values: an entry of a table that is wrong, mended in copies of the executable."""

from __future__ import annotations

import shutil
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rule_programs import Program
from trace_readers import record

from whence.build.static_data import stored_variables
from whence.errors import BuildError, SubjectError
from whence.program.initialisers import Initialiser
from whence.subject.initial_values import InitialValue, InitialValues
from whence.subject.runs import Runs
from whence.subject.subject import Subject
from whence.techniques.rules.initial_values import Other, other_initial_values

DAYS = Program(
    "value",
    """\
#include <stdio.h>
#include <stdlib.h>
static const int days[12] = {
    31, 28, 31, 30, 31, 30,
    31, 30, 30, 31, 30, 31, /* FAULT: August has 31 */
};
int main(int argc, char **argv)
{
    static const char other[4] = { 'a', 'b', 'c', 0 };
    int total = 0;
    for (int month = 0; month < atoi(argv[1]); month++)
        total += days[month];
    printf("%s %d\\n", other, total);
    return 0;
}
""",
    {"8": "abc 243\n", "12": "abc 365\n"},
    ("1", "2", "7"),
)


@pytest.fixture(scope="module")
def days() -> tuple[Subject, Runs, list[InitialValue]]:
    subject, runs = DAYS.run()
    known, trace = InitialValues(subject), record(subject, "8").trace
    known.reads(trace, trace.every_site(), np.ones(trace.events, np.int32))
    return subject, runs, known.entries


def test_the_wrong_entry_is_found(days):
    subject, runs, entries = days
    found = other_initial_values(subject, runs, runs.failing, entries, time.monotonic() + 60)
    best = max(found.rows, key=lambda row: (row["score"], row["line"]))
    assert (best["line"], best["f2p"], best["p2f"], best["score"]) == (DAYS.line, 2, 0, 1.0)
    assert best["rule"] == "`31` instead of `30` in `days[7]`"
    assert best["before"].startswith("31, 30, 30, 31") and best["after"].startswith("31, 31, 30, 31")
    assert found.tried > 12 and "none repairs" not in found.told
    breaks = [row for row in found.rows if row["p2f"]]
    assert all(row["doubt"] and row["score"] < 1 for row in breaks)
    first = [row for row in found.rows if row["rule"].endswith("`days[0]`")]
    assert all(row["p2f"] == 3 for row in first)  # all passing cases read January


def test_nothing_is_tried_when_the_time_is_over(days):
    subject, runs, entries = days
    found = other_initial_values(subject, runs, runs.failing, entries, time.monotonic() - 1)
    assert (found.rows, found.tried) == ([], 0)


def test_a_program_without_symbols_is_refused(days, tmp_path):
    subject, runs, entries = days
    stripped = tmp_path / "p"
    shutil.copy(subject.executable, stripped)
    strip = shutil.which("strip")
    if strip is None:
        pytest.skip("strip is not installed")
    subprocess.run([strip, stripped], check=True)
    with pytest.raises(SubjectError, match="no symbols"):
        other_initial_values(replace(subject, executable=stripped), runs, runs.failing, entries, time.monotonic() + 9)


def test_a_file_that_is_no_executable(tmp_path):
    path = Path(tmp_path, "text")
    path.write_text("nothing")
    with pytest.raises(BuildError, match="its symbols cannot be read"):
        stored_variables(path)


@pytest.mark.parametrize(
    ("old", "value", "new"),
    [
        ("30", 31, "31"),
        ("0x0Fu", 0x2A, "0x2Au"),
        ("0xff", -1, "-1"),
        ("'a'", 98, "'b'"),
        ("'a'", 39, r"'\''"),
        ("'a'", 7, "7"),
        ("10UL", 9, "9UL"),
    ],
)
def test_a_number_is_written_as_the_one_before(days, old, value, new):
    entry = replace(days[2][0], given=Initialiser(0, 4, 1, 1, old, 0))
    assert Other(entry, value, ()).text == new


STATES = Program(
    "value",
    """\
#include <stdio.h>
#include <stdlib.h>
enum light { RED, GREEN, AMBER };
static const enum light next[] = {
    GREEN,
    RED, /* FAULT: AMBER */
    RED,
};
static const char *names[] = { "red", "green", "amber" };
int main(int argc, char **argv)
{
    printf("%s\\n", names[next[atoi(argv[1])]]);
    return 0;
}
""",
    {"1": "amber\n"},
    ("0", "2"),
)


def test_an_enumerator_is_another_one():
    subject, runs = STATES.run()
    known, trace = InitialValues(subject), record(subject, "1").trace
    known.reads(trace, trace.every_site(), np.ones(trace.events, np.int32))
    (row,) = other_initial_values(subject, runs, runs.failing, known.entries, time.monotonic() + 60).rows
    assert (row["rule"], row["line"], row["p2f"]) == ("`AMBER` instead of `RED` in `next[1]`", STATES.line, 0)
    assert row["after"].startswith("AMBER,")
