"""Checks of a failing run that passed: what led to each of them counts as passing in the spectrum.

A test program checks one thing after another, and is often the only case that there is, so that its spectrum tells
nothing. But all that it checked before the check that failed was right, and so is what it checks behind that, where it
goes on. So the run is cut behind each check, and what was executed between two cuts, the second of which is a check
that passed, is a passing row of the coverage beside the cases' own.

A check is a branch that decides over a verdict: over the call that ended the run (``abort``, ``exit``, what ``assert``
calls), or over a store of a constant, or a count, that the status came from. Its likes are the branches of the same
module that decide over such a call or such a store elsewhere; one of them that led to no verdict has passed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from whence.probe.layout import Kind as Event
from whence.run.evidence import Evidence
from whence.run.outcome import Kind
from whence.run.symptom import telling_call
from whence.subject.code_of_tests import modules_of_tests
from whence.subject.coverage import OtherRun, Site
from whence.subject.runs import Counter, counters
from whence.trace.slicing import backward_slice

if TYPE_CHECKING:
    from whence.program.model import Instruction
    from whence.subject.recorder import Recording
    from whence.subject.subject import Subject

MOST = 64  # rows, the last ones: checks before them lie far from the failure
MOST_STORES = 1_000  # among which the one that gave a verdict is looked for, the last ones
DEPTH = 3  # checks that lead to the one before: of the test in main, of the test itself, of a function that checks


def passed_checks(subject: Subject, recording: Recording) -> list[OtherRun]:
    """What the recorded failing run executed up to each check that passed; none where it does not fail by a check.

    Each row is a part of the run, from one check to the next; equal parts count once.
    """
    checks = _Checks(subject, recording)
    made, passed = checks.made()
    if not len(passed):
        return []
    executed = _Executed(subject, recording)
    starts = np.concatenate([[0], made + 1])[np.searchsorted(made, passed)]
    parts: dict[tuple[Site, ...], str] = {}
    for first, end in zip(starts.tolist(), passed.tolist(), strict=True):
        parts[executed.between(first, end + 1)] = f"{recording.case.name}, up to {checks.name(end)}"
    return [OtherRun(name, sites) for sites, name in list(parts.items())[-MOST:]]


@dataclass(slots=True, frozen=True)
class _Failed:
    """A check that failed: the segment instance whose branch it is, and which sites are verdicts of its kind."""

    instance: int
    verdicts: NDArray[np.int64]


class _Checks:
    """The checks of one failing run."""

    def __init__(self, subject: Subject, recording: Recording) -> None:
        self._trace, self._result, self._kind = recording.trace, recording.result, recording.outcome.kind
        self._evidence = Evidence(self._trace)
        main = {ref.module for ref in self._trace.program.functions if ref.name == "main"}
        self._modules = modules_of_tests(subject) | main
        self._plan, self._segments = self._trace.plan, self._trace.columns.segments[: self._trace.segments]

    def made(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The segment instances whose branches are checks, in order; and those that passed."""
        failed = list(self._failed())
        if not failed:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        found = [self._like(one) for one in failed]
        made = np.unique(np.concatenate([made for made, _ in found]))
        return made, np.setdiff1d(made, np.concatenate([bad for _, bad in found]))

    def name(self, instance: int) -> str:
        """The line of a check."""
        location = self._trace.location(self._evidence.last_event(instance))
        return f"line {location.line}" if location is not None else "a check"

    # ---- What failed -------------------------------------------------------------------------------------------------

    def _failed(self) -> Iterator[_Failed]:
        """The checks that failed, each one's verdict being what the check before hangs on."""
        if self._kind in (Kind.ASSERTION, Kind.CRASH):
            yield from self._ended_by(self._evidence.last_call())
        elif (telling := telling_call(self._trace, self._result)) >= 0:
            yield from self._deciding(telling, np.array([self._trace.site(telling)]))
        elif self._kind is Kind.WRONG_STATUS and (event := self._evidence.exit_event()) >= 0:
            found = list(self._given(event))
            if not found and self._trace.kind(event) is Event.ARG:
                found = list(self._ended_by(self._trace.last_event(self._evidence.segment_of(event))))
            yield from found

    def _ended_by(self, call: int) -> Iterator[_Failed]:
        """The check that decided over the call that ended the run, or over a call that led to it."""
        if call >= 0 and np.isin(self._trace.site(call), self._evidence.formats.ending_calls):
            yield from self._deciding(call)

    def _deciding(self, call: int, verdicts: NDArray[np.int64] | None = None) -> Iterator[_Failed]:
        """The check that decided over a call, or over one that led to it; all calls of what it called are verdicts."""
        segment = self._evidence.segment_of(call)
        while segment >= 0 and (control := int(self._segments[segment]["control"])) < 0:
            segment = int(self._trace.columns.frames[int(self._segments[segment]["frame"])]["call"])
        if segment < 0:
            return
        sites = self._plan.sites[:-1]
        callee = sites["callee"][self._trace.site(self._trace.last_event(segment))]
        calls = np.flatnonzero((sites["kind"] == Event.CALL) & (sites["callee"] == callee))
        yield _Failed(control, calls if verdicts is None else verdicts)
        yield from self._given(self._trace.last_event(control))

    def _given(self, event: int) -> Iterator[_Failed]:
        """The checks that decided over the value that an event used, the last one first."""
        for _ in range(DEPTH):
            store = self._verdict_of(event)
            if store < 0:
                return
            control = int(self._segments[self._evidence.segment_of(store)]["control"])
            yield _Failed(control, self._stores_like(store))
            event = self._trace.last_event(control)

    def _verdict_of(self, event: int) -> int:
        """The last store of a verdict, under a branch, among what gave the value that an event used, -1."""
        events = backward_slice(self._plan, self._trace.columns, np.array([event + 1]), False).events
        events = events[events < event]
        sites = self._trace.sites(events)
        controls = self._segments["control"][self._trace.columns.events["segment"][events]]
        chosen = (self._plan.sites["kind"][sites] == Event.STORE) & self._is_own[sites] & (controls >= 0)
        last = events[chosen][-MOST_STORES:]
        return next((store for store in last[::-1].tolist() if self._gives_verdict(store)), -1)

    @cached_property
    def _is_own(self) -> NDArray[np.bool_]:
        """For each site whether it lies in the module of ``main`` or in other test code."""
        plan = self._plan
        functions = plan.segments["function"][plan.sites["segment"][:-1]]
        return np.isin(self._module_of[functions], list(self._modules))

    @cached_property
    def _module_of(self) -> NDArray[np.int64]:
        """For each function its module."""
        return np.array([ref.module for ref in self._trace.program.functions], np.int64)

    def _gives_verdict(self, store: int) -> bool:
        """Whether a store gives a constant or counts."""
        return not self._trace.instruction(store).operands[0].is_register or self._counts(store)

    def _counts(self, store: int) -> bool:
        """Whether a store adds a constant to what was there."""
        function, instruction = self._evidence.function_of(store).function, self._trace.instruction(store)
        made = {i.result: i for i in function.instructions() if i.result}
        added = made.get(instruction.operands[0].text)
        if added is None or added.opcode != "add" or added.operands[1].is_register:
            return False
        loaded = made.get(added.operands[0].text)
        return loaded is not None and loaded.opcode == "load" and loaded.operands[0].text == _place(instruction)

    def _stores_like(self, store: int) -> NDArray[np.int64]:
        """The sites of all stores to the variable that a store goes to, by its name."""
        instruction, ref = self._trace.instruction(store), self._evidence.function_of(store)
        place = _place(instruction)
        refs = [ref]
        if place.startswith("@"):
            refs = [other for other in self._trace.program.functions if other.module == ref.module]
        wanted = [
            other.first_instruction + number
            for other in refs
            for number, one in enumerate(other.function.instructions())
            if one.opcode == "store" and _place(one) == place
        ]
        sites = self._plan.sites[:-1]
        return np.flatnonzero((sites["kind"] == Event.STORE) & np.isin(sites["instruction"], wanted))

    # ---- What passed -------------------------------------------------------------------------------------------------

    def _like(self, failed: _Failed) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The instances of branches that decide over verdicts of a check's kind; and those that led to one."""
        plan, sites = self._plan, self._plan.sites
        static = sites["segment"][:-1][failed.verdicts]
        blocks = np.unique(plan.segments["block"][static])
        starts = plan.blocks["control_start"]
        parents = np.unique(np.concatenate([plan.controls["block"][starts[b] : starts[b + 1]] for b in blocks]))
        own = self._module_of[plan.segments["function"][self._segments[failed.instance]["id"]]]
        parents = parents[self._module_of[plan.blocks["function"][parents]] == own]
        last = plan.segments["site_start"][1:] - 1
        branches = (sites["kind"][last] == Event.BRANCH) & (np.diff(plan.segments["site_start"]) > 0)
        chosen = np.isin(plan.segments["block"][:-1], parents) & branches
        verdicts = np.isin(np.arange(len(plan.segments)), static)
        ids = self._segments["id"]
        return np.flatnonzero(chosen[ids]), self._segments["control"][verdicts[ids]]


def _place(store: Instruction) -> str:
    """The operand of a store that says where to."""
    return store.operands[1].text


class _Executed:
    """The sites of the cover variant that parts of a recorded run executed."""

    def __init__(self, subject: Subject, recording: Recording) -> None:
        trace = recording.trace
        segments, blocks = trace.columns.segments[: trace.segments], trace.plan.segments["block"]
        self._blocks = blocks[segments["id"]]
        before = segments["pred"]
        self._edges = np.where(before >= 0, self._blocks[before], -1).astype(np.int64) << 32 | self._blocks
        self._of_block: dict[int, Site] = {}
        self._of_edge: dict[int, Site] = {}
        every = iter(counters(subject))
        for ref in subject.program.functions:
            numbers = {block.label: ref.first_block + n for n, block in enumerate(ref.function.blocks)}
            self._of_block |= dict(zip(numbers.values(), _sites(every, len(numbers)), strict=True))
            for block in ref.function.blocks:
                if (branch := block.terminator).opcode == "br" and branch.operands:
                    labels = branch.labels[::-1]  # the side where the condition is false is counted first
                    pairs = [numbers[block.label] << 32 | numbers[label] for label in labels]
                    self._of_edge |= dict(zip(pairs, _sites(every, 2), strict=True))

    def between(self, first: int, end: int) -> tuple[Site, ...]:
        """The sites that the segment instances from ``first`` to before ``end`` executed."""
        blocks, edges = np.unique(self._blocks[first:end]).tolist(), np.unique(self._edges[first:end]).tolist()
        found = [self._of_block[b] for b in blocks] + [self._of_edge[e] for e in edges if e in self._of_edge]
        return tuple(sorted({site for site in found if site.statements}))


def _sites(every: Iterator[Counter], number: int) -> list[Site]:
    """The next sites of all."""
    return [Site(one.statements, one.side, one.column) for one in islice(every, number)]
