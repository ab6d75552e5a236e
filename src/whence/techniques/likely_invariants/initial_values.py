"""Initial values of static variables as statements of the ranking: which failing and which passing runs read them.

To read an entry of a table is what to execute a statement is: the same votes count, but for predicates on values, since
it has one value. That a run read it is the predicate.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whence.findings import Statement
from whence.subject.initial_values import InitialReads
from whence.subject.suspiciousness import Counts, ochiai
from whence.techniques.likely_invariants.ranking import EXECUTED, FIRST, NEARNESS, PREDICATE, SLICED, contrast
from whence.techniques.likely_invariants.runs import Failing, Observer, Run

Ranked = dict[Statement, tuple[float, dict[str, Any]]]


def initial_values(observer: Observer, failing: Sequence[Failing], passing: Sequence[Run]) -> Ranked:
    """The lines of initial values that a failing run read: each with the score of its best entry, and its evidence."""
    entries = observer.initial.entries
    if not entries:
        return {}
    runs: list[Run] = [*failing, *passing]
    failed = np.arange(len(runs)) < len(failing)
    read = _counts([_mask(run.initial, len(entries)) for run in runs], failed)
    sliced = _counts([_mask(run.initial, len(entries), in_slice=True) for run in runs], failed)
    nearness = np.zeros(len(entries))
    for run in failing:
        depth = run.initial.depth
        near = np.where(depth < 0, 0.0, 1 / (1 + np.maximum(depth, 0)))
        np.maximum.at(nearness, run.initial.entry, near)
    parts = EXECUTED * contrast(read) + SLICED * ochiai(sliced) + PREDICATE * ochiai(read)
    total = parts / (EXECUTED + SLICED + PREDICATE + FIRST) + NEARNESS * nearness
    by_line: dict[Statement, list[int]] = {}
    for number in np.flatnonzero(read.a11).tolist():
        by_line.setdefault(entries[number].statement, []).append(number)
    found: Ranked = {}
    for statement, numbers in by_line.items():
        numbers.sort(key=lambda number: -total[number])
        best = [number for number in numbers if parts[number] == parts[numbers[0]]]
        found[statement] = float(total[best[0]]), _note(observer, failing, best, read, sliced)
    return found


def _mask(reads: InitialReads, count: int, in_slice: bool = False) -> NDArray[np.bool_]:
    found = np.zeros(count, np.bool_)
    found[reads.entry[reads.depth >= 0] if in_slice else reads.entry] = True
    return found


def _counts(masks: Sequence[NDArray[np.bool_]], failed: NDArray[np.bool_]) -> Counts:
    table = np.array(masks)
    return Counts(table[failed].sum(axis=0), table[~failed].sum(axis=0), int(failed.sum()), int((~failed).sum()))


def _note(
    observer: Observer, failing: Sequence[Failing], best: Sequence[int], read: Counts, sliced: Counts
) -> dict[str, Any]:
    """The evidence of a line: as that of a statement, with the distance of its best entries from the first symptom."""
    number, entries = best[0], observer.initial.entries
    a11, a10 = int(read.a11[number]), int(read.a10[number])
    note: dict[str, Any] = {
        "initial": [entries[number].path.text for number in best],
        "failing": a11,
        "failing_total": read.total_failed,
        "passing": a10,
        "passing_total": read.total_passed,
        "predicate": round(float(ochiai(read)[number]), 6),
        "in_slices": int(sliced.a11[number]),
        "first_broken": 0.0,
    }
    depths = [depth for run in failing for depth in run.initial.depth[run.initial.entry == number].tolist()]
    if any(depth >= 0 for depth in depths):
        note["depth"] = min(depth for depth in depths if depth >= 0)
    first, others = entries[number], len(best) - 1
    given = f" = {first.given.text}" if first.given.text and not others else ""
    counts = f"{a11} of {read.total_failed} failing and {a10 or 'none'} of {read.total_passed} passing runs"
    what = f"`{first.path.text}` and {others} more were" if others else f"`{first.path.text}`{given} was"
    note["text"] = f"{what} read by {counts}"
    return note
