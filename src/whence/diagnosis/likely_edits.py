"""The likeliest edits of some statements: those that runs have told of, and those that the text has, in turn."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice, zip_longest
from typing import TYPE_CHECKING

from whence.program.source_edits import SourceEdit
from whence.run.ahead import made_ahead
from whence.techniques.bugfix.observed_conditions import At, observed_conditions
from whence.techniques.bugfix.suspects import Suspects

if TYPE_CHECKING:
    from whence.subject.runs import Runs
    from whence.subject.subject import Subject

LONG, AT_ONCE = 100_000, 40  # bytes of a file, and edits that do not wait there for those that name what nothing names
NAMING = 0.2  # of the time, in which edits are made that name what nothing names


@dataclass(frozen=True, slots=True)
class LikelyEdits:
    """``edits`` as they are made, the likeliest first, and by place the ``conditions`` that were told there.

    ``places``: of each edit made so far, how many came before it, among those that were told or among the others.
    """

    edits: Iterator[SourceEdit]
    places: dict[SourceEdit, int]
    conditions: Mapping[At, Sequence[str]]


@contextmanager
def likely_edits(
    subject: Subject,
    runs: Runs,
    suspects: Suspects,
    rows: Sequence[int],
    deadline: float,
) -> Iterator[LikelyEdits]:
    """The edits of ``suspects``, the first ones before the others, with what tells the failing cases ``rows`` apart.

    What the text itself asks for comes before what could stand at any place, and what names something that nothing else
    does in turn with it; in a long file, where these take seconds to make, behind the first few. Another process makes
    them until ``deadline`` (of ``time.monotonic``), while what conditions compare is observed.
    """
    making = time.monotonic() + NAMING * (deadline - time.monotonic())
    edits = suspects.edits()
    is_long = any(len(source.text) > LONG for source in suspects.sources.values())
    first = islice(edits, AT_ONCE if is_long else 0)
    in_turn = _in_turn(suspects.naming_unused(making), edits)
    with made_ahead(_each_once(chain(suspects.asked_for(), first, in_turn)), deadline) as ready:
        observed = observed_conditions(subject, runs, suspects, rows, deadline)
        places = {edit: place for place, edit in enumerate(observed.edits)}
        yield LikelyEdits(alternately(observed.edits, _placed(ready, places)), places, observed.conditions)


def alternately(told: Sequence[SourceEdit], others: Iterable[SourceEdit]) -> Iterator[SourceEdit]:
    """The edits that were told and others in turn, each once."""
    known = set(told)
    return _in_turn(told, (edit for edit in others if edit not in known))


def _in_turn(one: Iterable[SourceEdit], other: Iterable[SourceEdit]) -> Iterator[SourceEdit]:
    return (edit for both in zip_longest(one, other) for edit in both if edit is not None)


def _each_once(edits: Iterable[SourceEdit]) -> Iterator[SourceEdit]:
    seen = set[SourceEdit]()
    for edit in edits:
        if edit not in seen:
            seen.add(edit)
            yield edit


def _placed(edits: Iterable[SourceEdit], places: dict[SourceEdit, int]) -> Iterator[SourceEdit]:
    """The edits, whose places among them are kept."""
    for place, edit in enumerate(edits):
        places.setdefault(edit, place)
        yield edit
