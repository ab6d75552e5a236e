"""The search for a run to compare with: by turns, what is preferred of what was found, and time left for comparing."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, cast

import pytest

from whence.diagnosis import reference_search
from whence.diagnosis.reference_search import (
    ALTERING,
    BETTER,
    MANY,
    SEARCHING,
    SEARCHING_SHORT,
    TURNS,
    Choice,
    Finder,
    ReferenceSearch,
)
from whence.errors import SubjectError
from whence.findings import Statement
from whence.investigation.clock import Clock
from whence.techniques.chains.reference import Kind, Reference

REPAIR, EDIT, SWITCH, PAIR, RULE, CASE = Choice
BUDGET = 1000.0


class Work:
    """Altered runs that take no time of their own; ``left``: seconds of the turn."""

    def __init__(self, clock: Clock, part: float) -> None:
        self.stopped, self._clock, self.left = "", clock, part * clock.left

    @contextmanager
    def share(self, part: float) -> Iterator[None]:
        whole, self.left = self.left, part * self.left
        yield
        self.left = whole


class Turns(Finder):
    """Finds something in its n-th turn (0: never); ``log`` notes whose turn it was and how much of the time it had."""

    def __init__(self, choice: Choice, nth: int, log: list[tuple[Choice, float]], error: str = "") -> None:
        super().__init__()
        self.choice, self.nth, self.log, self.error, self.turns = choice, nth, log, error, 0

    def found(self) -> list[Reference]:
        return [Reference(self.choice.kind, f"{self.choice.name} {n}") for n in (1, 2) if 0 < self.nth <= self.turns]

    def _look(self, work: Any) -> None:
        self.log.append((self.choice, work.left))
        if self.error:
            raise SubjectError(self.error)
        self.turns += 1

    def _why_none(self) -> str:
        return "there is none"


class Searched:
    """A search with finders that find something in these turns, for a failing run of so many events."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, nths: dict[Choice, int], error: str = "", events: int = MANY
    ) -> None:
        self.log: list[tuple[Choice, float]] = []
        clock = Clock()
        clock.start(BUDGET)
        self.whole = clock.left

        @contextmanager
        def work(text: str, share: float) -> Iterator[Work]:
            yield Work(clock, share)

        finders = {choice: Turns(choice, nth, self.log, error) for choice, nth in nths.items()}
        investigation = SimpleNamespace(clock=clock, work=work, build=lambda _: None)
        recording = SimpleNamespace(trace=SimpleNamespace(events=events))
        self.search = ReferenceSearch(cast(Any, investigation), cast(Any, recording), finders)
        monkeypatch.setattr(ReferenceSearch, "_nearest", lambda _, found: found[0])

    @property
    def turns(self) -> list[Choice]:
        return [choice for choice, _ in self.log]


@pytest.mark.parametrize(
    ("nths", "turns", "taken"),
    [
        ({REPAIR: 1, SWITCH: 1}, [REPAIR], REPAIR),
        ({REPAIR: 0, SWITCH: 1, PAIR: 1, CASE: 1}, [REPAIR, SWITCH, REPAIR], SWITCH),
        ({REPAIR: 2, SWITCH: 1, PAIR: 1}, [REPAIR, SWITCH, REPAIR], REPAIR),  # what is preferred, found in time
        ({REPAIR: 0, SWITCH: 0, PAIR: 1}, [REPAIR, SWITCH, PAIR, REPAIR, SWITCH], PAIR),
        ({REPAIR: 0, RULE: 1}, [REPAIR, REPAIR, RULE], RULE),
        ({SWITCH: 1, EDIT: 1}, [SWITCH, EDIT], EDIT),  # all cases pass with it, not only this one
        ({SWITCH: 1, EDIT: 0, PAIR: 1}, [SWITCH, EDIT], SWITCH),
        ({REPAIR: 2, EDIT: 1, CASE: 1}, [REPAIR, EDIT, REPAIR], REPAIR),
        ({PAIR: 0, EDIT: 1, CASE: 1}, [EDIT], EDIT),
        ({REPAIR: 0, SWITCH: 0, CASE: 1}, [REPAIR, SWITCH, REPAIR, SWITCH], None),
        ({SWITCH: 1}, [SWITCH], SWITCH),
    ],
)
def test_each_kind_has_its_turns_and_what_is_preferred_is_taken(monkeypatch, nths, turns, taken) -> None:
    searched = Searched(monkeypatch, nths)
    found = searched.search.best()
    assert searched.turns == turns
    assert (found[0] if found else None) == taken


@pytest.mark.parametrize(("events", "searching"), [(MANY, SEARCHING_SHORT), (MANY + 1, SEARCHING)])
def test_no_turn_takes_the_time_of_the_others_or_of_comparing(monkeypatch, events: int, searching: float) -> None:
    searched = Searched(monkeypatch, dict.fromkeys(Choice, 0), events=events)
    assert searched.search.best() is None
    whole = searching * ALTERING * searched.whole
    assert searched.log == [(choice, pytest.approx(share * whole, rel=0.01)) for choice, share in TURNS]
    only = Searched(monkeypatch, {SWITCH: 0}, events=events)
    assert only.search.best() is None and only.log[0] == (
        SWITCH,
        pytest.approx(dict(TURNS[::-1])[SWITCH] * whole, rel=0.01),
    )


def test_the_last_turn_has_all_the_time_where_the_others_are_over(monkeypatch) -> None:
    searched = Searched(monkeypatch, {SWITCH: 0, EDIT: 0, RULE: 0}, "nothing can be altered")
    assert searched.search.best() is None
    whole = SEARCHING_SHORT * ALTERING * searched.whole
    first = dict(TURNS[::-1])
    turns = [(SWITCH, first[SWITCH] * whole), (EDIT, first[EDIT] * whole), (RULE, whole)]
    assert searched.log == [(choice, pytest.approx(seconds, rel=0.01)) for choice, seconds in turns]
    edits = Searched(monkeypatch, {SWITCH: 0, EDIT: 0}, "nothing can be altered")
    assert edits.search.best() is None and edits.log[1] == (EDIT, pytest.approx(whole, rel=0.01))


def test_what_is_preferred_to_what_was_found_has_most_of_the_time(monkeypatch) -> None:
    searched = Searched(monkeypatch, {REPAIR: 0, SWITCH: 1, EDIT: 0})
    assert searched.search.best() is not None
    whole, first = SEARCHING_SHORT * ALTERING * searched.whole, dict(TURNS[::-1])
    turns = [(REPAIR, first[REPAIR]), (SWITCH, first[SWITCH]), (EDIT, BETTER), (REPAIR, BETTER)]
    assert searched.log == [(choice, pytest.approx(share * whole, rel=0.01)) for choice, share in turns]


def test_behind_a_choice_only_the_others_are_looked_for(monkeypatch) -> None:
    searched = Searched(monkeypatch, {REPAIR: 0, SWITCH: 1, PAIR: 1, RULE: 1})
    for wanted in (SWITCH, PAIR, RULE):
        found = searched.search.best(-1 if wanted is SWITCH else wanted - 1)
        assert found is not None and found[0] is wanted
    assert searched.search.best(RULE) is None and searched.turns == [REPAIR, SWITCH, REPAIR, PAIR, RULE]


def test_what_was_in_vain_is_remarked_once(monkeypatch) -> None:
    searched = Searched(monkeypatch, {REPAIR: 0, SWITCH: 0}, "no failing run can be altered")
    assert searched.search.best() is None and searched.search.best() is None
    told = "no failing run can be altered"
    assert searched.search.remarks == [f"compared with no {kind}: {told}" for kind in (Kind.RULE, Kind.SWITCH)]
    assert searched.turns == [REPAIR, SWITCH]  # an error is for good


@pytest.mark.parametrize(("nths", "told"), [({REPAIR: 0, RULE: 0}, 1), ({REPAIR: 0, RULE: 1}, 1), ({RULE: 0}, 1)])
def test_that_there_is_no_rule_is_remarked_for_one_of_two_kinds(monkeypatch, nths, told) -> None:
    searched = Searched(monkeypatch, nths)
    searched.search.best()
    assert len(searched.search.remarks) == told


def test_where_time_ended_a_turn_the_remark_says_so(monkeypatch) -> None:
    searched = Searched(monkeypatch, {SWITCH: 0})
    assert searched.search.best() is None
    assert searched.search.remarks == ["compared with no switch: there is none, in the time that there was"]


def test_what_does_not_look_at_the_clock_is_ended_and_what_was_found_is_taken(monkeypatch) -> None:
    monkeypatch.setattr(reference_search, "LATE", 0.1)
    searched = Searched(monkeypatch, {REPAIR: 1, SWITCH: 0}, events=MANY + 1)
    searched.search._investigation.clock.start(4.0)

    def endless(_: object, found: object) -> Reference:
        while True:
            time.sleep(0.01)

    monkeypatch.setattr(ReferenceSearch, "_nearest", endless)
    found = searched.search.best()
    assert found is not None and found[1].text == "REPAIR 1"
    assert searched.search._investigation.clock.left > 0.1


def test_edits_are_tried_first_where_another_patch_mends_the_run(monkeypatch) -> None:
    first, second, third = (Statement("a.c", line) for line in (1, 2, 3))
    ranked = [SimpleNamespace(statement=statement) for statement in (first, second, third)]
    monkeypatch.setattr(reference_search, "spectrum_and_slice", lambda *_: SimpleNamespace(ranking=ranked))
    for name in ("symptom_of", "TraceReader", "Evidence"):
        monkeypatch.setattr(reference_search, name, lambda *_: None)

    class Patching(Turns):
        def found(self) -> list[Reference]:
            return [Reference(Kind.SWITCH, "sent to true", statement=at) for at in (third, None)]

    subject = SimpleNamespace(folder=None, name="p")
    investigation, recording = SimpleNamespace(subject=subject, coverage=None), SimpleNamespace(trace=None)
    edits = reference_search._Edits(
        cast(Any, investigation), cast(Any, recording), (), [Patching(SWITCH, 1, []), Turns(RULE, 0, [])]
    )
    assert edits._ranking() == [third, first, second]
