"""The formula of several runs of a failing case, merged: what each way that they took had to be, to be right.

Under the conditions of a way (``formula/merging.py``), the addresses are the recorded ones, what was printed before the
failure is as it was, and the way ends right. The failing run's own way does so with the right value at its symptom. A
way of a run with switched branches does so if that run passes, what it printed being as it was; if it fails, with the
right value at its own symptom, where its expected output or status tells one; else it does not.

A branch that was not switched may *escape*: the formula says nothing about where it leads then. Whether that counts as
right is a symbol of its own (``escapes``): optimistic questions leave it open, strict ones say no.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from whence.dependence.critical_conditions import Influence
from whence.findings import Statement
from whence.formula.decide import Status
from whence.formula.encoding import Encoding, Instance
from whence.formula.goals import Goals
from whence.formula.merging import Mark, Merged, Side
from whence.formula.path import Path
from whence.formula.rewriting import Rewriting
from whence.formula.terms import Term
from whence.probe.layout import Kind
from whence.run.evidence import Evidence
from whence.subject.recorder import Recording
from whence.subject.symptoms import symptom_of
from whence.subject.trace_reader import Observation, StaticSite, TraceReader
from whence.techniques.formula_based.correction_sets import Groups
from whence.techniques.formula_based.trace_formula import MOST_PRINTED, FailingRun, TraceFormula
from whence.trace.columns import N_OUT

if TYPE_CHECKING:
    from whence.subject.subject import Subject

STDOUT = 1
MANY = 100  # branches of a failing run, above which only those in its relevant slice are asked about
Place = tuple[Side, int]  # a branch: an event of a side


class Recorded:
    """What is known of a side beside its trace, each thing found out when it is asked for."""

    def __init__(self, subject: Subject, recording: Recording) -> None:
        self.recording, self._subject = recording, subject
        self.reader = TraceReader(subject, recording.trace)
        self.slices: dict[tuple[int, ...], frozenset[int]] = {}  # by their references

    @cached_property
    def symptom(self) -> Any:
        """Where the run's failure shows (Symptom)."""
        return symptom_of(self.recording, self._subject.folder)

    @cached_property
    def influence(self) -> Influence:
        """Dependence in the run."""
        return Influence(self.reader)

    @cached_property
    def printed(self) -> frozenset[int]:
        """The arguments that were printed before the run's first wrong byte."""
        trace, difference = self.recording.trace, self.recording.outcome.difference
        stream = (self.recording.outcome.stream or STDOUT) if difference is not None else STDOUT
        end = len(self.recording.result.text(stream)) if difference is None else difference.actual
        evidence, found, offset = Evidence(trace), set(), 0
        while offset < min(end, MOST_PRINTED) and (source := evidence.source_of(stream, offset)) is not None:
            if source.argument >= 0 and source.start + source.length <= end:
                found.add(source.event)
            offset = source.start + source.length if source.argument >= 0 else offset + 1
        return frozenset(found)

    @cached_property
    def wrong_row(self) -> int:
        """The row that printed the first wrong byte; that at which the trace ends where no byte is wrong."""
        trace, difference = self.recording.trace, self.recording.outcome.difference
        if difference is not None:
            outs = trace.columns.outs[: int(trace.columns.counts[N_OUT])]
            covers = (outs["offset"] <= difference.actual) & (difference.actual < outs["offset"] + outs["length"])
            rows = np.flatnonzero(covers & (outs["stream"] == (self.recording.outcome.stream or STDOUT)))
            if len(rows):
                return int(trace.columns.events[outs["event"][rows[0]]]["segment"])
        return trace.segments - 1


class SidePath(Path):
    """The results of a side's events; ``number`` gives the numbers that these have in the encoding."""

    def __init__(self, encoding: Encoding, known: dict[int, Instance], numbers: dict[int, int]) -> None:
        self.encoding, self.terms = encoding, encoding.terms
        self._known = {event: known[number] for event, number in numbers.items() if number in known}
        self.results = {event: instance.term for event, instance in self._known.items()}

    @cached_property
    def branches(self) -> frozenset[int]:
        """The events of branches of which it is known where they went."""
        return frozenset(e for e, i in self._known.items() if i.kind is Kind.BRANCH and i.value is not None)


class MergedTrace:
    """The events of all sides, by their numbers in the encoding."""

    def __init__(self, sides: Sequence[Side]) -> None:
        self._sides, self._bases = sides, [side.base for side in sides]

    def of(self, event: int) -> tuple[Side, int]:
        """The side of an event, and its number in that side's trace."""
        side = self._sides[bisect_right(self._bases, event) - 1]
        return side, event - side.base

    def site(self, event: int) -> int:
        """The static site of an event."""
        side, own = self.of(event)
        return side.trace.site(own)

    def kind(self, event: int) -> Kind:
        """What kind of event it is."""
        side, own = self.of(event)
        return side.trace.kind(own)

    def clock(self, event: int) -> int:
        """The clock of an event's block, in its own run."""
        side, own = self.of(event)
        return side.trace.clock(own)


class MergedReader:
    """The events of all sides in the user's words."""

    def __init__(self, sides: Sequence[Side], recorded: dict[Side, Recorded]) -> None:
        self._trace, self._recorded = MergedTrace(sides), recorded

    @property
    def trace(self) -> MergedTrace:
        """The events themselves."""
        return self._trace

    def _of(self, event: int) -> tuple[TraceReader, int]:
        side, own = self._trace.of(event)
        return self._recorded[side].reader, own

    def statement(self, event: int) -> Statement | None:
        """The statement that an event belongs to."""
        reader, own = self._of(event)
        return reader.statement(own)

    def static(self, event: int) -> StaticSite:
        """The static side of an event."""
        reader, own = self._of(event)
        return reader.static(own)

    def named(self, event: int) -> Observation | None:
        """The variable or expression of an event, with its value where it has one."""
        reader, own = self._of(event)
        return reader.named(own)


class MergedRun(FailingRun):
    """A failing case's runs encoded together; ``recorded`` tells about each, ``is_open`` whether a branch may escape.

    Unlike a ``FailingRun`` it is made of what has been encoded.
    """

    def __init__(self, merged: Merged, recorded: dict[Side, Recorded], is_open: Callable[[Place], bool]) -> None:
        self.merged, self.recorded, self.is_open = merged, recorded, is_open
        self.main = merged.sides[0]
        first = recorded[self.main]
        self.encoding, self.recording, self.symptom = merged.encoding, first.recording, first.symptom
        self.references = list(self.symptom.details.get("criteria", []))
        self.influence = first.influence
        self._slices = first.slices
        self.reader, self.events = first.reader, MergedReader(merged.sides, recorded)
        self.path = SidePath(merged.encoding, self.by_event, {number: number for number in self.by_event})
        self.goals = self._goals(self.main)
        self.aims = [aim for aim in self.goals.of_symptom(self.symptom, first.recording) if not self._is_way(aim.event)]

    def _goals(self, side: Side) -> Goals:
        numbers = {event: side.number(event) for event in range(side.trace.events)}
        one = self.recorded[side]
        return Goals(one.reader, SidePath(self.encoding, self.by_event, numbers), one.influence)

    def _is_way(self, event: int) -> bool:
        return self.main.trace.kind(event) is Kind.BRANCH

    @cached_property
    def printed(self) -> list[int]:
        """The arguments that were printed before the failing run's symptom."""
        return sorted(self.recorded[self.main].printed)

    def matters(self, place: Place) -> bool:
        """Whether a branch is asked about: all are, of a failing run with many those in its relevant slice."""
        side, event = place
        return side is not self.main or not self._has_many or event in self.relevant(self._shown)

    @cached_property
    def _has_many(self) -> bool:
        marks = (mark for mark in self.merged.marks if mark.side is self.main and mark.instance is not None)
        return sum(mark.instance is not None and mark.instance.kind is Kind.BRANCH for mark in marks) > MANY

    @cached_property
    def _shown(self) -> list[int]:
        return [*self.references, *(event + 1 for event in self.printed)]

    def unknown(self) -> list[Place]:
        """The branches that matter and of which only the way is known that they went, in order of time."""
        branches = (m for m in self.merged.marks if m.instance is not None and m.instance.kind is Kind.BRANCH)
        places = ((m.side, m.instance.event - m.side.base) for m in branches if m.instance is not None and not m.ways)
        return [place for place in places if self.matters(place)]

    def aims_of(self, side: Side) -> list[tuple[int, Term]] | None:
        """The conditions, with their events, of which one had to hold for a side's run to end right; None: it does."""
        if not side.fails:
            return None
        if side is self.main:
            return [(aim.event, aim.term) for aim in self.aims]
        one = self.recorded[side]
        aim = None if one.recording.is_cut else self._goals(side).right(one.symptom, one.recording)
        return [] if aim is None else [(side.number(aim.event), aim.term)]


class MergedFormula(TraceFormula):
    """The formula of merged runs; ``escapes`` are the branches that may leave it, by their symbols, in order of time.

    Questions are strict: no escape counts as right. ``optimistic`` asks otherwise.
    """

    def __init__(self, run: MergedRun, seconds: float) -> None:
        self.escapes: dict[Term, Place] = {}
        self._leaving: dict[Term, Term] = {}  # by the symbol: another one, that the branch escapes
        self._equations: list[Term] = []  # what these are
        self._merged, self._bits = run, run.encoding.terms
        self._goal_events: set[int] = {
            aim.event for aim in run.aims
        }  # the events at which conditions of what was printed stand
        super().__init__(run, self._right(), self._goal_events, run.references, seconds)
        self._strict = [self._bits.negate(symbol) for symbol in self.escapes]

    # ---- Building ----------------------------------------------------------------------------------------------------

    def _right(self) -> Term:
        """That the run ends right, whatever way it takes: from the last mark to the first."""
        terms = self._bits
        right = terms.constant(1, 1)
        for mark in reversed(self._merged.merged.marks):
            if mark.instance is None:
                aims = self._merged.aims_of(mark.side)
                self._goal_events.update(number for number, _ in aims or ())
                right = self._under(mark.guard, self._any(aims), right)
            elif mark.instance.kind is Kind.BRANCH and mark.instance.value is not None:
                right = self._branch(mark, mark.instance, right)
            for condition in [] if mark.instance is None else self._held(mark.side, mark.instance):
                right = self._under(mark.guard, condition, right)
        self.escapes = dict(reversed(self.escapes.items()))
        self._leaving = dict(reversed(self._leaving.items()))
        return right

    def _any(self, aims: Sequence[tuple[int, Term]] | None) -> Term:
        """That one of some aims is met, if there have to be any."""
        found = self._bits.constant(aims is None, 1)
        for _, term in aims or ():
            found = self._bits.apply("or", 1, found, term)
        return found

    def _under(self, guard: Term, condition: Term, right: Term) -> Term:
        terms = self._bits
        return terms.both([terms.apply("or", 1, terms.negate(guard), condition), right])

    def _branch(self, mark: Mark, instance: Instance, right: Term) -> Term:
        """What is right, where a branch goes one of the ways that are known, or escapes."""
        terms, place = self._bits, (mark.side, instance.event - mark.side.base)
        ways = mark.ways or (instance.term if instance.value else terms.negate(instance.term),)
        if ways[1:] == (terms.negate(ways[0]),) or not self._merged.matters(place):
            return right
        inside = terms.constant(0, 1)
        for way in ways:
            inside = terms.apply("or", 1, inside, way)
        leaving = terms.both([mark.guard, terms.negate(inside)])
        if not self._merged.is_open(place):
            return terms.both([terms.negate(leaving), right])
        escape, named = terms.symbol(1), terms.symbol(1)
        self.escapes[escape], self._leaving[escape] = place, named
        self._equations.append(terms.equal(named, leaving))
        return terms.choose(named, escape, right)

    def _held(self, side: Side, instance: Instance) -> Iterator[Term]:
        """What has to hold at an instance: its addresses are the recorded ones, what it printed is as it was."""
        terms = self._bits
        for pointer, address in instance.pointers:
            yield terms.equal(pointer, terms.constant(address, 64))
        if instance.kind is Kind.ARG and instance.event - side.base in self._merged.recorded[side].printed:
            value = self._merged.encoding.evaluation.value(instance.term)
            if value is not None:
                self._goal_events.add(instance.event)
                yield terms.equal(instance.term, terms.constant(value, terms.widths[instance.term]))

    def _is_given(self, instance: Instance) -> bool:
        """Whether an instance stores what was read from the input, or hands on what is printed as it is."""
        if instance.kind is Kind.ARG and instance.event in self.goal_events:
            return self._is_handed_on(instance.meaning)
        return super()._is_given(instance)

    def _is_handed_on(self, meaning: Term) -> bool:
        """Whether a value is that of another instance, or of one on each side."""
        operation, arguments = self._bits.operations[meaning], self._bits.arguments[meaning]
        return operation == "symbol" or (operation == "ite" and all(map(self._is_handed_on, arguments[1:])))

    def _conditions(self) -> list[Term]:
        """All conditions stand in the goal, under their guards; here is only when branches escape."""
        return self._equations

    def _collect(self, roots: Sequence[Term]) -> None:
        """Instances come in the order in which they were encoded, which is not that of their numbers."""
        super()._collect(roots)
        self.chosen.sort(key=lambda instance: instance.term)

    # ---- Asking ------------------------------------------------------------------------------------------------------

    def question(self, dropped: Groups, also: Sequence[Term] = ()) -> tuple[Status, Groups]:
        """Whether the formula can hold without some groups, no branch escaping; if not, a core of the rest."""
        return super().question(dropped, [*self._strict, *also])

    def optimistic(self, dropped: Groups) -> tuple[Status, Groups, Place | None]:
        """The same, branches escaping; and the first that does in the solver's model (None: none does)."""
        status, core = super().question(dropped)
        first = None
        if status is Status.SATISFIABLE:
            first = next((self.escapes[s] for s, named in self._leaving.items() if self.solver.value(named)), None)
        return status, core, first

    def settle(self) -> None:
        """From now on no branch escapes in the conditions that hold always, either."""
        rewriting = Rewriting(self._bits)
        for symbol in self.escapes:
            rewriting.put(symbol, self._bits.constant(0, 1))
        self.conditions = [rewriting.of(condition) for condition in self.conditions]
        self.conditions = [rewriting.of(condition) for condition in self.conditions]
        self.hard = [rewriting.of(condition) for condition in self.hard]
