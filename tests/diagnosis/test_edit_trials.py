"""How long edits are tried: soon after the first that passes, longer where all that passed are doubtful."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

import pytest

from whence.diagnosis import edit_trials
from whence.diagnosis.edit_trials import DOUBTING, LEAST, UNGUARDED, EditTrials
from whence.program.source_edits import Kind, Part, SourceEdit
from whence.subject.candidate_edits import CandidateRuns, Sieved

EDITS = [SourceEdit("a.c", 1, (Part(Kind.REPLACE, n, n + 1, b"x"),)) for n in range(100)]


class Clock:
    """A clock that stands but for what trying takes."""

    now = 100.0

    def monotonic(self) -> float:
        return self.now


class Trying:
    """Tries an edit a second; some of them pass, others mend the failing case and break a passing one."""

    def __init__(self, clock: Clock, passing: Sequence[int], breaking: Sequence[int] = ()) -> None:
        self._clock, self._passing, self._breaking = clock, passing, breaking

    def sieve(
        self, files: Mapping[str, Any], edits: Iterable[SourceEdit], rows: Sequence[int]
    ) -> Iterator[list[Sieved]]:
        for number, edit in enumerate(edits):
            self._clock.now += 1
            broken = (1,) if number in self._breaking else ()
            yield [Sieved(edit, (0,), broken, ran=1)] if number in (*self._passing, *self._breaking) else []


def tried(monkeypatch: pytest.MonkeyPatch, passing: Sequence[int], doubtful: Sequence[int], **options: Any) -> int:
    """How many edits were tried, of which these pass, and these are doubtful."""
    clock = Clock()
    monkeypatch.setattr(edit_trials, "time", clock)
    monkeypatch.setattr(edit_trials, "AGAIN", 0.0)
    trials = EditTrials([0], 1000.0, doubts=lambda one: EDITS.index(one.edit) in doubtful, **options)
    trials.run(cast(CandidateRuns, Trying(clock, passing)), {}, EDITS, {})
    return len(trials.places)


def test_the_search_ends_soon_after_an_edit_without_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    assert tried(monkeypatch, [4], []) == 5 + LEAST + 1
    assert tried(monkeypatch, [], []) == len(EDITS)


def test_it_goes_on_where_all_that_passed_are_doubtful(monkeypatch: pytest.MonkeyPatch) -> None:
    assert tried(monkeypatch, [4, 6], [4, 6]) == 5 + DOUBTING * LEAST + 1


def test_an_edit_without_doubt_is_given_its_own_time(monkeypatch: pytest.MonkeyPatch) -> None:
    assert tried(monkeypatch, [4, 14], [4]) == 15 + LEAST + 1


def test_where_one_was_known_before_it_ends_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    assert tried(monkeypatch, [4], [4], found_before=True) == LEAST + 1


def test_doubtful_edits_are_not_enough_to_end_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edit_trials, "ENOUGH", 3)
    assert tried(monkeypatch, range(10), range(10)) == 1 + DOUBTING * LEAST + 1
    assert tried(monkeypatch, range(10), []) == 3


class Conditions:
    """A file's conditions: one for each statement, or those that were told."""

    def guarded(self, edit: SourceEdit, told: Sequence[str] = ("c",)) -> Iterator[SourceEdit]:
        (part,) = edit.parts
        for condition in told:
            text = f"if ({condition}) ".encode() + part.text
            yield SourceEdit("a.c", 1, (Part(part.kind, part.start, part.end, text),))


@pytest.mark.parametrize(("doubtful", "is_tried"), [([4], True), ([], False)])
def test_conditions_are_tried_where_all_that_passed_are_doubtful(
    monkeypatch: pytest.MonkeyPatch, doubtful: Sequence[int], is_tried: bool
) -> None:
    clock = Clock()
    monkeypatch.setattr(edit_trials, "time", clock)
    put_in = [SourceEdit("a.c", 1, (Part(Kind.BEFORE, n, n + 1, b"x;"),)) for n in range(10)]
    trials = EditTrials([0], 1000.0, doubts=lambda one: one.edit in put_in and put_in.index(one.edit) in doubtful)
    trials.run(cast(CandidateRuns, Trying(clock, [4], [5])), {}, put_in, cast(Any, {"a.c": Conditions()}))
    assert any(edit.parts[0].text == b"if (c) x;" for edit in trials.places) is is_tried


def test_when_it_is_late_conditions_are_tried_and_then_the_other_edits(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(edit_trials, "time", clock)
    trials = EditTrials([0], clock.now + 20)
    put_in = SourceEdit("a.c", 1, (Part(Kind.BEFORE, 1, 2, b"x;"),))
    edits = [put_in, *EDITS[:15]]
    trials.run(cast(CandidateRuns, Trying(clock, [], [0])), {}, edits, cast(Any, {"a.c": Conditions()}))
    (guarded,) = [place for edit, place in trials.places.items() if edit.parts[0].text == b"if (c) x;"]
    assert 20 * UNGUARDED < guarded < 15
    assert [edit for edit in trials.places if edit in edits] == edits
    assert trials.all_made


def test_observed_conditions_come_as_soon_as_a_statement_mends_all(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(edit_trials, "time", clock)
    trials = EditTrials([0], clock.now + 20)
    before, behind = (SourceEdit("a.c", 1, (Part(kind, 1, 2, b"x;"),)) for kind in (Kind.BEFORE, Kind.BEHIND))
    edits = [before, behind, *EDITS[:9]]
    observed = {("a.c", 1, 2, True): ["a < b", "p"], ("a.c", 5, 6, False): ["q"]}
    files = cast(Any, {"a.c": Conditions()})
    trials.run(cast(CandidateRuns, Trying(clock, [], [0, 1])), {}, edits, files, observed)
    texts = [edit.parts[0].text for edit in trials.places]
    assert texts[:5] == [b"x;", b"x;", b"if (a < b) x;", b"if (p) x;", b"x"]
    assert texts.count(b"if (c) x;") == 2  # those of the file come later, for both


def test_conditions_are_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(edit_trials, "time", clock)
    trials = EditTrials([0], clock.now + 20)
    edits = [SourceEdit("a.c", 1, (Part(Kind.BEFORE, n, n + 1, b"x;"),)) for n in range(15)]
    trials.run(cast(CandidateRuns, Trying(clock, [], range(15))), {}, edits, cast(Any, {"a.c": Conditions()}))
    assert len(trials.places) == clock.now - 100
