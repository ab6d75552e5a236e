"""The default ranking: statements by what tells failing from passing runs there, with slice and filter as votes.

A statement's score is the weighted sum of

- coverage: failing and passing runs that executed it, as in Op2 (``contrast``),
- Ochiai over slices: in the slice of a failing run's symptom, in the slice of what a passing run printed,
- the best tolerant predicate of its sites: on least and greatest values, and on differences from value to value,
- the share of failing runs in which one of its sites breaks its predicate in the slice, and nothing explains it.

Among equals the distance from the symptom in dependence edges decides. Nothing cuts, since each of these would lose
some root causes. The weights were chosen on one half of corpus faults and judged on another (docs/invariants.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whence.subject.suspiciousness import Counts, ochiai
from whence.techniques.likely_invariants.filters import BROKEN, HOLDS, NOTHING, explained
from whence.techniques.likely_invariants.predicates import Form, Predicates, best_predicates
from whence.techniques.likely_invariants.readings import NUMBER
from whence.techniques.likely_invariants.runs import Failing, Observer, Run

EXECUTED, SLICED, PREDICATE, FIRST = 2.0, 0.5, 1.0, 0.2  # weights
FEW = 3  # failing runs from which on passing ones keep their weight
NEARNESS = 1e-6  # weight of the distance: less than any difference of the others
RECORDED = 3  # good runs: of fewer, where there are more, values tell nothing, for all else differs, too
STRONG = 0.7  # of the best score: predicates that count as broken
ALL_FORMS = (Form.LOW, Form.HIGH, Form.DOWN, Form.UP)

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(slots=True)
class Scores:
    """Arrays with one element a statement of the program: the ``total`` (0 to 1), and what it is made of.

    ``executed`` counts the recorded runs, ``covered`` also passing ones of which only the coverage is known. ``site``
    is that of the best predicate (-1: none); ``predicates`` has them by site.
    """

    total: Floats
    executed: Counts
    covered: Counts
    sliced: Counts
    predicate: Floats
    first: Floats
    site: Integers
    predicates: Predicates


def score(
    observer: Observer, failing: Sequence[Failing], passing: Sequence[Run], others: Sequence[Integers] = ()
) -> Scores:
    """The scores of all statements. Raises nothing: without passing runs the slices decide.

    ``others``: the blocks that each further passing run executed, which was not recorded.
    """
    runs: list[Run] = [*failing, *passing]
    failed = np.arange(len(runs)) < len(failing)
    statements = _Statements(observer)
    masks = [statements.of_blocks(run.blocks) for run in runs]
    executed = _counts(masks, failed)
    further = [statements.of_blocks(blocks) for blocks in others]
    covered = _counts([*masks, *further], np.pad(failed, (0, len(further))))
    sliced = _counts([statements.of_sites(run.sliced) for run in runs], failed)
    profiles = [run.profile for run in runs]
    predicates = best_predicates(profiles, failed, ALL_FORMS)
    best, site = statements.best(predicates)
    bounds = best_predicates(profiles, failed)
    votes = [statements.of_sites(_first_broken(run, bounds)) for run in failing]
    first = np.mean(votes, axis=0)
    if others and len(passing) < RECORDED:
        best, first = np.zeros_like(best), np.zeros_like(first)
    parts = (contrast(covered), ochiai(sliced), best, first)
    weights = (EXECUTED, SLICED, PREDICATE, FIRST)
    total = sum((weight * part for weight, part in zip(weights, parts, strict=True)), np.zeros(statements.count))
    total = total / sum(weights) + NEARNESS * statements.nearness(failing)
    return Scores(total, executed, covered, sliced, best, first, site, predicates)


def contrast(counts: Counts) -> Floats:
    """How much more failing than passing runs executed each statement, at most 1.

    Op2 weighs one failing run like all passing ones, so the more failing runs there are, the less do passing ones count
    against all else that is added here. With up to FEW failing runs this is Op2; with more, as where inputs were made,
    passing runs keep the weight that they have with FEW.
    """
    passing = counts.a10 / (counts.total_passed + 1)
    return np.asarray(counts.a11 / counts.total_failed - passing / min(counts.total_failed, FEW), np.float64)


class _Statements:
    """Statements of the program by number: which of them blocks and sites belong to."""

    def __init__(self, observer: Observer) -> None:
        subject = observer.subject
        places, program = subject.places, subject.program
        self.count = len(places.statements)
        self._of_site = places.numbers[subject.plan.sites["instruction"][:-1]]
        sizes = [len(block.instructions) for ref in program.functions for block in ref.function.blocks]
        self._of_instruction = places.numbers
        self._block = np.repeat(np.arange(len(sizes)), sizes)

    def _mask(self, numbers: NDArray[np.int32]) -> NDArray[np.bool_]:
        found = np.zeros(self.count + 1, np.bool_)
        found[numbers] = True  # -1, for no statement, is the last one
        return found[:-1]

    def of_blocks(self, blocks: Integers) -> NDArray[np.bool_]:
        """The statements with an instruction in one of the blocks."""
        return self._mask(self._of_instruction[np.isin(self._block, blocks)])

    def of_sites(self, sites: NDArray[np.integer]) -> NDArray[np.bool_]:
        """The statements of sites."""
        return self._mask(self._of_site[sites])

    def nearness(self, failing: Sequence[Failing]) -> Floats:
        """For each statement how near it lies to a symptom: 1 at the symptom itself, 0 outside of all slices."""
        depths = np.full(self.count + 1, np.inf)
        for run in failing:
            events = run.slice.events
            np.minimum.at(depths, self._of_site[run.reader.sites(events)], run.slice.depth_of(events))
        return np.asarray(1 / (1 + depths[:-1]))

    def best(self, predicates: Predicates) -> tuple[Floats, Integers]:
        """For each statement the best score of its sites' predicates, and that site (-1: none)."""
        number = self._of_site[predicates.sites]
        score, site = np.zeros(self.count), np.full(self.count, -1)
        order = np.argsort(predicates.score, kind="stable")
        order = order[number[order] >= 0]
        score[number[order]] = predicates.score[order]
        site[number[order]] = predicates.sites[order]
        return score, np.where(score > 0, site, -1)


def _counts(masks: Sequence[NDArray[np.bool_]], failed: NDArray[np.bool_]) -> Counts:
    table = np.array(masks)
    passed = ~failed
    return Counts(table[failed].sum(axis=0), table[passed].sum(axis=0), int(failed.sum()), int(passed.sum()))


def _first_broken(run: Failing, bounds: Predicates) -> Integers:
    """The sites at which a run breaks a strong tolerant predicate in its slice, and nothing explains it.

    What explains is followed over data alone: in small programs what is new upstream by control is nearly everything.
    """
    readings = run.readings
    row = np.searchsorted(bounds.sites, readings.sites)
    valued = (readings.state == NUMBER) & (bounds.score[row] > 0)
    low = bounds.form[row] == Form.LOW
    beyond = np.where(low, readings.keys <= bounds.bound[row], readings.keys >= bounds.bound[row])
    strong = bounds.score[row] >= STRONG * bounds.score.max(initial=0.0)
    states = np.where(valued & beyond & strong, BROKEN, np.where(valued, HOLDS, NOTHING)).astype(np.uint8)
    behind = explained(run.reader.trace, run.slice, states, control=False)[: len(states)]
    return np.unique(readings.sites[(states == BROKEN) & run.in_slice & ~behind]).astype(np.int64)
