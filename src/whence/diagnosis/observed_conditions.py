"""Edits that put in conditions of which runs have shown that they tell failing cases from passing ones.

What a condition could compare is observed at the first statements of a ranking, in the failing runs and in passing
ones (``subject/observations.py``); conditions that held in each failing run and in no passing one are put in where they
held (``techniques/bugfix/telling_conditions.py``).
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING

from whence.diagnosis.edit_trials import At
from whence.errors import WhenceError
from whence.program.observation import Values
from whence.program.source_edits import SourceEdit
from whence.subject.observations import Observations
from whence.subject.runs import nearest_passing
from whence.techniques.bugfix.candidates import FileCandidates, Lacking, ordered
from whence.techniques.bugfix.telling_conditions import Told, told

if TYPE_CHECKING:
    from whence.subject.runs import Runs
    from whence.subject.subject import Subject

FAILING, PASSING = 5, 30  # cases whose runs are observed; passing ones that are nearest to the first failing one
STATEMENTS = 120  # that are observed, the first ones
OBSERVING = 0.2  # of the time of a search


@dataclass(frozen=True, slots=True)
class Observed:
    """Edits that put in conditions, the likeliest first, and by place the ``conditions`` that tell runs apart there."""

    edits: list[SourceEdit] = field(default_factory=list)
    conditions: dict[At, list[str]] = field(default_factory=dict)


def observed_conditions(
    subject: Subject,
    runs: Runs,
    files: Mapping[str, FileCandidates],
    statements: Sequence[tuple[str, int]],
    rows: Sequence[int],
    deadline: float,
    made: Mapping[str, int],
) -> Observed:
    """The conditions at the first statements that tell the failing cases ``rows`` from others, and edits with them.

    The likeliest edits come first; ``made``: how often fixes of each kind were made. A part of the time to ``deadline``
    (of ``time.monotonic``) is taken, and the files are observed in the order of their first statements. What cannot be
    built with what observes it, or has no runs in time, has no such edits.
    """
    failing, passing = rows[:FAILING], nearest_passing(runs, rows[0])[:PASSING]
    now = time.monotonic()
    lines: dict[str, list[int]] = defaultdict(list)
    for name, line in statements[:STATEMENTS]:
        if name in files:
            lines[name].append(line)
    found, conditions = defaultdict[tuple[str, int], list[tuple[int, SourceEdit]]](list), dict[At, list[str]]()
    with Observations(subject, runs, now + OBSERVING * (deadline - now)) as observations:
        for name, mine in lines.items():
            places = {(one.spot.start, one.spot.end): one for line in mine for one in files[name].lacking(line)}
            try:
                of_places = _of_file(observations, files[name], list(places.values()), failing, passing)
            except (WhenceError, OSError, TimeoutError):
                continue  # these edits are tried all the same, as others are
            for place, those in zip(places.values(), of_places, strict=False):
                conditions[name, place.spot.start, place.spot.end] = those.where
                for tier, edit in enumerate(files[name].under(place, those)):
                    found[name, edit.line].append((tier, edit))
    edits = ordered(files, statements, made, lambda file, line: iter(found[file.name, line]))
    return Observed(list(edits), conditions)


def alternately(told: Sequence[SourceEdit], others: Iterable[SourceEdit]) -> Iterator[SourceEdit]:
    """The edits that were told and others in turn, each once."""
    known = set(told)
    rest = (edit for edit in others if edit not in known)
    return (edit for both in zip_longest(told, rest) for edit in both if edit is not None)


def _of_file(
    observations: Observations,
    file: FileCandidates,
    places: Sequence[Lacking],
    failing: Sequence[int],
    passing: Sequence[int],
) -> list[Told]:
    """For each place of a file the conditions that tell failing from passing runs; none where a failing run is lost."""
    spots = [one.spot for one in places]
    seen = dict(observations.of(file.source, file.name, spots, [*failing, *passing])) if places else {}
    if not seen.keys() >= set(failing):
        return []

    def of(rows: Sequence[int], number: int) -> list[Values]:
        return [seen[row][number] for row in rows if row in seen]

    return [
        told(place.comparisons, place.spot.tests, of(failing, number), of(passing, number))
        for number, place in enumerate(places)
    ]
