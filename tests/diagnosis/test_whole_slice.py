"""What led to a failure before the end of a run that is too long for memory: it counts in the ranking of locate."""

from __future__ import annotations

from functools import partial

import pytest
from cli_tool import subject_folder

import whence
from whence.diagnosis import whole_slice
from whence.findings import Findings
from whence.investigation import investigation
from whence.subject import recorder
from whence.trace.long_trace import LongTrace

# The rate that the text stands for is found at the start, used at the end, and a long time passes in between.
RATES = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int rate_of(const char *name)
{
    int rate = 7;
    if (strcmp(name, "half") == 0)
        rate = 40;
    return rate;
}
static unsigned mixed(int rounds)
{
    unsigned sum = 1;
    for (int i = 0; i < rounds; i++)
        sum += i ^ (sum >> 3);
    return sum;
}
int main(int argc, char **argv)
{
    int rate = rate_of(argv[1]), rounds = atoi(argv[2]);
    unsigned sum = mixed(rounds);
    printf("%d\\n", rate + (sum == 0));
    return argc > 3;
}
"""
WRONG, USED = (RATES[: RATES.index(text)].count("\n") + 1 for text in ("        rate = 40", "    int rate = rate_of"))
ALONE = ("rules", "switch", "values", "formula", "causes", "invariants", "memory", "edits", "confirmation", "chain")


@pytest.fixture
def little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine where recordings of one MiB can be analysed as a whole, and windows are of one chunk."""
    monkeypatch.setattr(recorder, "affordable", lambda: 1 << 20)
    monkeypatch.setattr(investigation, "WINDOW", 1 << 16)
    monkeypatch.setattr(recorder, "LongTrace", partial(LongTrace, window=1))


def located(rounds: int, budget: float = 120.0, **more: bool) -> Findings:
    folder = subject_folder("whole-slice", rates_c=RATES)
    fails, passes = [(f"half {rounds}", "50\n")], [f"none {rounds}"]
    with whence.open_sources([folder / "rates.c"], fails=fails, passes=passes) as project:
        return project.find(whence.Locate(without=ALONE, generate=False, **more), budget)


def in_slice(found: Findings) -> set[int]:
    return {entry.statement.line for entry in found.ranking if entry.evidence.get("in_slice")}


def test_what_led_to_the_failure_before_the_end_counts(little_memory: None) -> None:
    found = located(150_000)
    assert {WRONG, USED} <= in_slice(found) and found.ranking[0].statement.line == WRONG
    (told,) = [line for line in found.summary if line.startswith("read all ")]
    assert "windows: " in told and told.endswith(" lines led to the failure")
    short = located(100)
    assert in_slice(short) == in_slice(found) and not any("windows" in line for line in short.summary)


def test_where_there_is_no_time_the_end_is_looked_at_and_that_is_said(
    little_memory: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whole_slice, "A_SECOND", 100)
    found = located(150_000)
    assert WRONG not in in_slice(found) and found.symptom is not None
    (told,) = [line for line in found.summary if line.startswith("the run before its end: ")]
    assert told.startswith("the run before its end: there is not enough time to read it: --budget ")
