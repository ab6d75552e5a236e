"""Edits in the other programs of a suite: which of the passing tests still pass."""

from __future__ import annotations

import time

import pytest

from tests.support.program_suite import LIBRARY, program_suite
from whence.findings import Statement
from whence.program.c_source import CSource
from whence.program.source_edits import Kind, Part, SourceEdit
from whence.subject.candidate_edits import CandidateRuns
from whence.subject.capture import with_captured_cases
from whence.subject.edited import NONE_ELSEWHERE, Check
from whence.subject.edited_elsewhere import NO_TIME, EditedElsewhere
from whence.subject.runs import run_all
from whence.subject.subject import Subject

CONDITION, LOWERED, RETURNED, DOUBLED = (Statement("lib.c", line) for line in (4, 5, 6, 10))


def captured(name: str) -> Subject:
    return with_captured_cases(*program_suite(name))


def check(subject: Subject, at: Statement, old: str, new: str, seconds: float = 60) -> Check:
    assert LIBRARY.count(old) == 1
    text = LIBRARY.replace(old, new).encode()
    return subject.derived(EditedElsewhere).check(at, text, time.monotonic() + seconds)


def test_the_tests_that_come_to_the_statement_tell() -> None:
    subject = captured("elsewhere")
    alone = 1  # a test of which nothing is known, since it executes nothing of the library
    assert check(subject, CONDITION, "value > most", "value >= most") == Check(1 + alone, 1 + alone)
    assert check(subject, CONDITION, "value > most", "value > 2") == Check(found="test `t/below` fails with it")
    assert check(subject, DOUBLED, "value + value", "value * value") == Check(found="test `t/doubled` fails with it")
    assert check(subject, DOUBLED, "value + value", "2 * value") == Check(1 + alone, 1 + alone)
    assert check(subject, LOWERED, "most - 1", "most") == Check(alone, alone)  # no other one comes there


def test_of_many_edits_one_is_refuted_by_a_test_that_fails_and_by_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    elsewhere = captured("refuted").derived(EditedElsewhere)

    def fails(new: str) -> bool:
        text = LIBRARY.replace("return value;", new).encode()
        return bool(elsewhere.sieve(RETURNED, text, time.monotonic() + 600).found)

    assert [fails(new) for new in ("return most;", "return value + 0;", "return nothing;")] == [True, False, False]
    monkeypatch.setattr("whence.subject.edited_elsewhere.Rebuild.objects", lambda *_: pytest.fail("it is known"))
    assert fails("return most;")


def test_edits_of_one_build_are_chosen_in_the_other_programs() -> None:
    subject = captured("joint")
    source, start = CSource(LIBRARY.encode()), LIBRARY.index("return value;")
    texts = (b"return most;", b"return value + 0;", b"return 3;")
    parts = [Part(Kind.REPLACE, start, start + len("return value;"), text) for text in texts]
    edits = [SourceEdit("lib.c", 6, (part,)) for part in parts]
    runs = run_all(subject)
    with CandidateRuns(subject, runs, time.monotonic() + 600) as tried:
        joint = tried.build(source, edits)
        with subject.derived(EditedElsewhere).joint(joint.objects) as there, subject.runner(confined=True) as runner:
            found = [there.check(runner, RETURNED, n, time.monotonic() + 600) for n in joint.edits]
    assert [check.found for check in found] == ["test `t/below` fails with it", "", ""]


def test_without_time_nothing_is_said() -> None:
    found = check(captured("late"), CONDITION, "value > most", "value > 2", seconds=-1)
    assert not found.found and found.trouble == NO_TIME and found.is_clean is None


def test_a_subject_without_a_suite_has_no_other_tests() -> None:
    subject, _ = program_suite("none")
    assert check(subject, CONDITION, "value > most", "value > 2") == NONE_ELSEWHERE
