"""Edits in the other programs of a suite: which of the passing tests still pass."""

from __future__ import annotations

import time

import pytest

from tests.support.program_suite import LIBRARY, program_suite
from whence.findings import Statement
from whence.program.c_source import CSource
from whence.program.source_edits import Kind, Part, SourceEdit
from whence.subject.capture import with_captured_cases
from whence.subject.edited import NONE_ELSEWHERE, Check
from whence.subject.edited_elsewhere import NO_TIME, EditedElsewhere
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
    assert check(subject, CONDITION, "value > most", "value > 2") == Check(0, 2, "test `t/below` fails with it")
    assert check(subject, DOUBLED, "value + value", "value * value") == Check(0, 2, "test `t/doubled` fails with it")
    assert check(subject, DOUBLED, "value + value", "2 * value") == Check(1 + alone, 1 + alone)
    assert check(subject, LOWERED, "most - 1", "most") == Check(alone, alone)  # no other one comes there


def replacing(old: str, new: str) -> SourceEdit:
    start = LIBRARY.index(old)
    return SourceEdit("lib.c", 6, (Part(Kind.TEXT, start, start + len(old), new.encode()),))


def test_an_edit_is_refuted_by_a_test_that_fails_and_by_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    subject = captured("refuted")
    sources, elsewhere = {"lib.c": CSource(LIBRARY.encode())}, subject.derived(EditedElsewhere)
    for text, fails in (("return most;", True), ("return value + 0;", False), ("return nothing;", False)):
        assert elsewhere.refutes(sources, replacing("return value;", text), time.monotonic() + 600) is fails
    monkeypatch.setattr("whence.subject.edited_elsewhere.Rebuild.objects", lambda *_: pytest.fail("it is known"))
    assert elsewhere.refutes(sources, replacing("return value;", "return most;"), time.monotonic() + 600)


def test_without_time_nothing_is_said() -> None:
    found = check(captured("late"), CONDITION, "value > most", "value > 2", seconds=-1)
    assert not found.found and found.trouble == NO_TIME and found.is_clean is None


def test_a_subject_without_a_suite_has_no_other_tests() -> None:
    subject, _ = program_suite("none")
    assert check(subject, CONDITION, "value > most", "value > 2") == NONE_ELSEWHERE
