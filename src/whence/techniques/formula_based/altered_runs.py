"""What altered runs add to a formula of one path: branches whose switch mends the run, and whether repairs hold.

A formula knows the recorded path only. Where a branch sent the other way makes the run pass, whatever can make that
branch go there is a correction, too: its condition becomes the goal of a formula of the path up to it. (In place of the
traces that Jin and Orso merge, section III-B3: a switch is run, not encoded.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from whence.alter.changes import CHANGE, Batch, Op
from whence.alter.streams import Request
from whence.dependence.predicate_switching import Failing, switch
from whence.probe.layout import Kind
from whence.probe.sites import Role
from whence.techniques.formula_based.correction_values import Change
from whence.techniques.formula_based.trace_formula import Run

if TYPE_CHECKING:
    from whence.alter.work import Work

MOST_SWITCHES = 12  # of one run whose branches become goals, the nearest to the failure
MOST_CHANGES = 64  # values of one repair that are forced
ROLES = {Kind.STORE: Role.STORE, Kind.BRANCH: Role.BRANCH, Kind.ARG: Role.ARGUMENT, Kind.RET: Role.RETURN}


def mending_branches(work: Work, runs: Sequence[Run]) -> list[list[int]]:
    """For each run the events of branches whose switch makes it pass, the nearest to the failure first."""
    failing = [Failing.of(run.reader, run.recording.case, run.references) for run in runs]
    found = {id(switched.failing): switched for switched in switch(work, failing)}
    answer: list[list[int]] = []
    for run, one in zip(runs, failing, strict=True):
        events: list[int] = []
        if id(one) in found:
            switched = found[id(one)]
            events = [e for e in switched.rows["event"][switched.critical].tolist() if e in run.path.branches]
        answer.append(list(dict.fromkeys(events))[:MOST_SWITCHES])
    return answer


def confirmed(work: Work, run: Run, repairs: Sequence[Sequence[Change]]) -> list[bool | None]:
    """For each repair whether the run passes with its values forced; None where they cannot be, or time was over."""
    batches = [_forcing(run, repair) for repair in repairs]
    chosen = [index for index, changes in enumerate(batches) if changes is not None]
    answer: list[bool | None] = [None] * len(repairs)
    if chosen and not work.stopped:
        batch = Batch.of([changes for changes in batches if changes is not None])
        passed = work.run([Request(run.recording.case, batch)])[0].passed
        if not work.stopped:
            for index, result in zip(chosen, passed.tolist(), strict=True):
                answer[index] = result
    return answer


def _forcing(run: Run, repair: Sequence[Change]) -> NDArray[np.void] | None:
    """A repair as changes (CHANGE) of an altered run."""
    if not 0 < len(repair) <= MOST_CHANGES:
        return None
    rows = [_change(run, change) for change in repair]
    known = [row for row in rows if row is not None]
    return np.array(known, CHANGE) if len(known) == len(rows) else None


def _change(run: Run, change: Change) -> np.void | None:
    trace, sites = run.reader.trace, run.reader.subject.alter_plan.sites
    site = trace.plan.sites[trace.site(change.event)]
    kind = Kind(int(site["kind"]))
    at = (sites["instruction"] == site["instruction"]) & (sites["role"] == ROLES[kind])
    if kind is Kind.ARG:
        at &= sites["operand"] == int(site["aux"])
    places = np.flatnonzero(at)
    if len(places) != 1:
        return None
    place = sites[places[0]]
    found = np.zeros(1, CHANGE)
    found["clock"], found["site"], found["value"] = trace.clock(change.event), places[0], change.right
    for name in ("block", "width", "form"):
        found[name] = place[name]
    found["op"] = Op.SET
    row: np.void = found[0]
    return row
