"""What is told of a program whose sources were changed after it was built."""

from __future__ import annotations

from types import SimpleNamespace

from whence.findings import Findings, Statement, rank
from whence.investigation.account import none_fails
from whence.investigation.stale import without_changed
from whence.run.outcome import Rule

A, B, C = Statement("a.c", 1), Statement("b.c", 2), Statement("b.c", 3)


def test_statements_and_changes_of_a_changed_file_are_left_out_and_a_warning_says_so() -> None:
    rules = [{"file": "b.c", "line": 2}, {"file": "a.c", "line": 1}]
    findings = Findings("locate", "p", rank({A: 0.2, B: 0.9, C: 0.5}), parts={"rules": rules, "slice": []})
    found = without_changed(findings, ["b.c"])
    assert [(e.statement, e.rank, e.rank_worst) for e in found.ranking] == [(A, 1, 1)]
    assert found.parts == {"rules": rules[1:], "slice": []}
    (warning,) = found.warnings
    assert warning.startswith("b.c was changed since the program was built; 2 statements there are left out: build")
    assert len(findings.ranking) == 3 and not findings.warnings


def test_without_changed_files_findings_are_what_they_were() -> None:
    findings = Findings("locate", "p", rank({A: 0.2}))
    assert without_changed(findings, []) is findings


def test_many_files_are_counted() -> None:
    found = without_changed(Findings("locate", "p"), ["a.c", "b.c", "c.c", "d.c", "e.c"])
    assert found.warnings[0].startswith("a.c, b.c, c.c and 2 more were changed")


def test_where_no_case_fails_the_fault_may_be_in_what_was_not_built_yet() -> None:
    case = SimpleNamespace(command=None, expected=None, rule=Rule.OUTPUT)
    result = SimpleNamespace(code=0, stdout=b"", stderr=b"")
    runs = SimpleNamespace(tested=[SimpleNamespace(case=case, result=result)], left_out=[], pinned=[])
    stale, *more = none_fails(runs, ["a.c", "b.c"]).hint.splitlines()  # type: ignore[arg-type]
    assert stale == "a.c, b.c were changed since the program was built: build it again"
    assert none_fails(runs, []).hint.splitlines() == more  # type: ignore[arg-type]
    *others, orders = none_fails(runs, [], has_threads=True).hint.splitlines()  # type: ignore[arg-type]
    assert others == more and "whence schedules" in orders
