"""Slices of a recorded run by statement, and where they start."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whence.findings import Statement, Symptom
from whence.subject.trace_reader import TraceReader
from whence.trace.slicing import Slice, backward_slice, dependences, forward_slice
from whence.trace.trace import Trace

EVENTS_A_LINE = 40  # that are kept of a statement, the nearest ones
HOPS = 8  # steps from an event without a place to one that has one


@dataclass(slots=True, frozen=True)
class Start:
    """Where a slice starts: its references, the event that stands for them (-1: none), and words for people."""

    references: Sequence[int]
    event: int
    text: str


def symptom_start(symptom: Symptom) -> Start:
    """The criterion that a symptom stands for."""
    return Start(symptom.details.get("criteria", []), symptom.event, symptom.text)


def compute(trace: Trace, criteria: Sequence[int], forward: bool = False, control: bool = True) -> Slice:
    """The slice from some references; a forward slice leaves those out that are no events."""
    references = np.unique(np.array(criteria, np.int64))
    if forward:
        return forward_slice(trace.plan, trace.columns, references[references > 0], control)
    return backward_slice(trace.plan, trace.columns, references, control)


@dataclass(slots=True)
class Lines:
    """A slice by statement: parallel over the statements in it, the nearest first.

    ``depths`` are the least distances from the criterion, ``instances`` how often each line was executed there,
    ``events`` its events nearest to the criterion, in order of time. ``at_sites``: events of the slice by site.
    """

    statements: list[Statement]
    depths: NDArray[np.int64]
    instances: NDArray[np.int64]
    events: list[NDArray[np.int64]]
    at_sites: NDArray[np.int64]

    @property
    def size(self) -> int:
        """Events of the slice."""
        return int(self.at_sites.sum())


def executions_in(reader: TraceReader, at_sites: NDArray[np.int64]) -> NDArray[np.int64]:
    """How often each of ``reader.statements``, and last what has no place, was executed: as its sites were."""
    counts = np.zeros(len(reader.statements) + 1, np.int64)
    np.maximum.at(counts, reader.statement_numbers, at_sites)
    return counts


def by_line(reader: TraceReader, found: Slice) -> Lines:
    """Group a slice's events by statement."""
    at_sites = np.zeros(len(reader.statement_numbers), np.int64)
    nearest: dict[int, NDArray[np.int64]] = {}
    for events in found.parts():
        sites = reader.sites(events)
        at_sites += np.bincount(sites, minlength=len(at_sites))
        for number, group in _groups(reader, events, sites):
            known = nearest.get(number)
            nearest[number] = _nearest(found, group if known is None else np.concatenate([known, group]))
    rows = [(int(found.depth_of(events).min()), number, events) for number, events in nearest.items() if number >= 0]
    rows.sort(key=lambda row: row[:2])
    return Lines(
        [reader.statements[number] for _, number, _ in rows],
        np.array([depth for depth, _, _ in rows], np.int64),
        executions_in(reader, at_sites)[[number for _, number, _ in rows]],
        [events for _, _, events in rows],
        at_sites,
    )


def _groups(
    reader: TraceReader, events: NDArray[np.int64], sites: NDArray[np.int32]
) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Events by the number of their statement."""
    numbers = reader.statement_numbers[sites]
    narrow = numbers.astype(np.int16) if len(reader.statements) < 1 << 15 else numbers  # sorted in linear time
    order = np.argsort(narrow, kind="stable")
    kept, starts = np.unique(numbers[order], return_index=True)
    return zip(kept.tolist(), (events[part] for part in np.split(order, starts[1:])), strict=True)


def _nearest(found: Slice, events: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of a statement's events, in order of time, those that are nearest to the criterion, of equals the earliest."""
    if len(events) <= EVENTS_A_LINE:
        return events
    depths = found.depth_of(events)
    limit = np.partition(depths, EVENTS_A_LINE - 1)[EVENTS_A_LINE - 1]
    nearer = np.flatnonzero(depths < limit)
    level = np.flatnonzero(depths == limit)[: EVENTS_A_LINE - len(nearer)]
    kept: NDArray[np.int64] = events[np.sort(np.concatenate([nearer, level]))]
    return kept


def place_of(reader: TraceReader, event: int, hops: int = HOPS) -> Statement | None:
    """The statement of an event; of one that has none, such as a return at a brace, that of what it depends on."""
    place = reader.statement(event)
    if place is not None or hops == 0:
        return place
    targets = dependences(reader.trace.plan, reader.trace.columns, event + 1)
    found = (place_of(reader, target - 1, hops - 1) for target, _ in targets if target > 0)
    return next((statement for statement in found if statement is not None), None)
