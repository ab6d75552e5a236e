"""Edits that put in conditions of which runs have shown that they tell failing cases from passing ones.

What a condition could compare is observed at the first statements of a ranking, in the failing runs and in passing
ones (``subject/observations.py``); conditions that held in each failing run and in no passing one are put in where they
held (``techniques/bugfix/telling_conditions.py``).
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from whence.errors import WhenceError
from whence.program.observation import Values
from whence.program.source_edits import SourceEdit
from whence.subject.observations import Observations
from whence.subject.runs import nearest_passing
from whence.techniques.bugfix.candidates import FileCandidates
from whence.techniques.bugfix.lacking import Lacking
from whence.techniques.bugfix.suspects import Suspects
from whence.techniques.bugfix.telling_conditions import Told, told

if TYPE_CHECKING:
    from whence.subject.runs import Runs
    from whence.subject.subject import Subject

FAILING, PASSING = 5, 30  # cases whose runs are observed; passing ones that are nearest to the first failing one
PORTIONS = (0, 16, 48, 120)  # the first statements, so many of which are observed in one build
LARGEST = 250_000  # bytes of a file: to build a larger one takes the time that there is
OBSERVING = 0.3  # of the time of a search

At = tuple[str, int, int, bool]  # a file, where in it a statement begins and ends, and whether it is behind it


@dataclass(frozen=True, slots=True)
class Observed:
    """Edits that put in conditions, the likeliest first, and by place the ``conditions`` that tell runs apart there."""

    edits: list[SourceEdit] = field(default_factory=list)
    conditions: dict[At, list[str]] = field(default_factory=dict)


def observed_conditions(
    subject: Subject,
    runs: Runs,
    suspects: Suspects,
    rows: Sequence[int],
    deadline: float,
) -> Observed:
    """The conditions at the first suspects that tell the failing cases ``rows`` from others, and edits with them.

    The likeliest edits come first. A part of the time to ``deadline`` (of ``time.monotonic``) is taken, a few
    statements after the other. What cannot be built with what observes it, or has no runs in time, has no such edits;
    without a failing or a passing case there is nothing to tell apart.
    """
    if not (rows and runs.passing):
        return Observed()
    now = time.monotonic()
    end = now + OBSERVING * (deadline - now)
    files = suspects.files
    cases = rows[:FAILING], nearest_passing(runs, rows[0])[:PASSING]
    found, conditions = defaultdict[tuple[str, int], list[tuple[int, SourceEdit]]](list), dict[At, list[str]]()
    with Observations(subject, runs, end) as observations:
        for start, stop in pairwise(PORTIONS):
            for name, places in _places(files, suspects.statements[start:stop], end).items():
                if time.monotonic() >= end:
                    break
                for place, those in _of_file(observations, files[name], places, *cases):
                    conditions[name, place.spot.start, place.spot.end, place.spot.behind] = those.where
                    for tier, edit in enumerate(files[name].under(place, those)):
                        found[name, edit.line].append((tier, edit))
    edits = suspects.edits(lambda file, line: iter(found[file.name, line]))
    return Observed(list(edits), conditions)


def _places(
    files: Mapping[str, FileCandidates], statements: Sequence[tuple[str, int]], deadline: float
) -> dict[str, list[Lacking]]:
    """The places of statements at which a condition may be missing, by file, each once; none after the deadline."""
    found: dict[str, dict[tuple[int, int, bool], Lacking]] = defaultdict(dict)
    for name, line in statements:
        is_late = time.monotonic() >= deadline
        if not is_late and name in files and len(files[name].source.text) <= LARGEST:
            found[name] |= {(one.spot.start, one.spot.end, one.spot.behind): one for one in files[name].lacking(line)}
    return {name: list(places.values()) for name, places in found.items() if places}


def _of_file(
    observations: Observations,
    file: FileCandidates,
    places: Sequence[Lacking],
    failing: Sequence[int],
    passing: Sequence[int],
) -> Iterator[tuple[Lacking, Told]]:
    """The conditions that tell failing from passing runs at each place of a file; none where a failing run is lost."""
    spots = [one.spot for one in places]
    try:
        seen = dict(observations.of(file.source, file.name, spots, [*failing, *passing]))
    except (WhenceError, OSError, TimeoutError):
        return  # the conditions are tried all the same, as others are
    if not seen.keys() >= set(failing):
        return

    def of(rows: Sequence[int], number: int) -> list[Values]:
        return [seen[row][number] for row in rows if row in seen]

    for number, place in enumerate(places):
        yield place, told(place.comparisons, place.spot, of(failing, number), of(passing, number))
