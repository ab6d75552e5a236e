"""Runs that are checked one after another: how many, what is left out, and in which order things are ranked."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from whence.errors import SubjectError, TraceError
from whence.findings import Statement
from whence.investigation.checked_runs import CheckedRuns, ranked
from whence.run.cases import Case

CASES = [Case("one"), Case("two"), Case("three")]


def runs(left: float) -> CheckedRuns:
    capture = SimpleNamespace(modules=["m"], uncaptured=["other.o"])
    watcher = SimpleNamespace(busy=lambda text: nullcontext())
    return CheckedRuns(
        SimpleNamespace(clock=SimpleNamespace(left=left), watcher=watcher, subject=SimpleNamespace(capture=capture))  # type: ignore[arg-type]
    )


def part(case: Case) -> dict[str, Any]:
    if case.name == "two":
        raise TraceError("too long")
    return {"case": case.name, "verdict": "pass", "errors": [1] if case.name == "one" else [], "remarks": ["a remark"]}


def test_what_cannot_be_checked_is_left_out_by_name() -> None:
    found, steps = runs(9.0), list[int]()
    found.check(CASES, lambda done, total: steps.append(done), part)
    assert [run["case"] for run in found.checked] == ["one", "three"]
    assert (found.left_out, steps) == (["two: too long"], [1, 2, 3])
    assert found.summary(
        "errors", "memory errors", lambda run: [f"{len(run['errors'])} here"] if run["errors"] else []
    ) == [
        "captured 1 module, checked 2 runs (1 with memory errors)",
        "`one` (pass): 1 here",
        "`one` (pass): a remark",
        "`three` (pass): a remark",
        "left out: two: too long",
        "not captured: other.o",
    ]


def test_the_first_case_is_checked_however_little_time_there_is() -> None:
    found = runs(0.0)
    found.check(CASES, lambda done, total: None, part)
    assert [run["case"] for run in found.checked] == ["one"]
    assert found.left_out == ["2 more cases: the time is used up (--budget 10m)"]


def test_no_checked_run_is_an_error() -> None:
    with pytest.raises(SubjectError, match="no run could be checked: two: too long"):
        runs(9.0).check([CASES[1]], lambda done, total: None, part)


def test_of_the_same_at_one_statement_the_first_is_told() -> None:
    here, there = Statement("a.c", 3), Statement("a.c", 1)
    placed = [
        (here, {"kind": "x", "n": 1}),
        (there, {"kind": "x", "n": 2}),
        (here, {"kind": "x", "n": 3}),
        (here, {"kind": "y", "n": 4}),
    ]
    entries = ranked(placed, lambda one: one["kind"], lambda own: {"text": [one["n"] for one in own]})
    assert [(e.statement, e.rank, e.score, e.evidence["text"]) for e in entries] == [
        (here, 1, 1.0, [1, 4]),
        (there, 2, 0.5, [2]),
    ]
