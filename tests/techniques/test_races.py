"""Data races: each small program's race is found in its lines, with each way to order threads; its twin has none."""

from __future__ import annotations

import pytest
from trace_readers import record, subject_of

from bench.threads.programs import PROGRAMS, Program
from whence.techniques.races.check import Checked, Checker

RACES = [program for program in PROGRAMS if program.kind in {"race", "harmless"} and program.name != "c11_condition"]
OTHERS = [program for program in PROGRAMS if program.kind in {"atomicity", "order"}]


def checked(text: str) -> Checked:
    subject = subject_of(text)
    return Checker(subject).check(record(subject).trace)


def lines(found: Checked) -> list[tuple[int, int]]:
    places = [[found.trace.location(a.event) for a in (race.first, race.second)] for race in found.races]
    return [(one.line, other.line) for one, other in places if one is not None and other is not None]


@pytest.mark.parametrize("program", RACES, ids=lambda program: program.name)
def test_a_race_is_found_in_its_lines(program: Program) -> None:
    found = lines(checked(program.text))
    assert found
    assert {line for pair in found for line in pair} <= program.lines


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_the_correct_twin_has_none(program: Program) -> None:
    assert lines(checked(program.right)) == []


@pytest.mark.parametrize("program", OTHERS, ids=lambda program: program.name)
def test_errors_of_order_are_no_races(program: Program) -> None:
    assert lines(checked(program.text)) == []
