"""The trace formula of one failing run: what the input, the path and the goal leave for each statement to say.

Results of stores, branches, arguments and returns are symbols; the equations that define them are grouped by statement,
and hold where the statement's *selector* does. Hard are the input, the ways of the branches that the failure depends
on, the addresses of what is read and written, and the goal: the right value at the symptom, or that a branch goes the
other way. (Jin and Orso, "Improving efficiency and accuracy of formula-based debugging", section III-B1, on one path.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path as FilePath
from typing import Protocol

import numpy as np

from whence.dependence.critical_conditions import Influence
from whence.errors import SubjectError
from whence.findings import Statement, Symptom
from whence.formula.bitvectors import is_decidable
from whence.formula.decide import Decider, Status
from whence.formula.encoder import NOTHING, Encoder, Inputs
from whence.formula.encoding import Instance, SymbolKind
from whence.formula.goals import Goals
from whence.formula.path import Path
from whence.formula.rewriting import Rewriting
from whence.formula.satisfiability import Satisfiability
from whence.formula.terms import Term
from whence.probe.layout import Kind
from whence.run.cases import Case
from whence.run.evidence import Evidence
from whence.subject.recorder import Recording
from whence.subject.trace_reader import Observation, StaticSite, TraceReader
from whence.techniques.formula_based.correction_sets import Found, Groups, correction_sets

CUT = frozenset({Kind.STORE, Kind.BRANCH, Kind.ARG, Kind.RET})
WHOLE = 4_000  # events up to which all of a run is encoded, with other cells of its objects
CELLS = 64  # of an object that a computed address may go to
MOST_PRINTED = 2000  # bytes of output before the symptom that have to stay
MOST_EVENTS = 200_000  # of a slice that is encoded


def inputs_of(case: Case) -> Inputs:
    """What a run of a case is given, as far as the case tells: of a test suite's command it does not."""
    if case.command is not None:
        return NOTHING
    stdin = case.stdin.read_bytes() if isinstance(case.stdin, FilePath) else case.stdin
    return Inputs(tuple(case.arguments), stdin or b"")


class Events(Protocol):
    """The events of an encoding as the trace has them."""

    def site(self, event: int) -> int:
        """The static site of an event."""
        ...

    def kind(self, event: int) -> Kind:
        """What kind of event it is."""
        ...

    def clock(self, event: int) -> int:
        """The clock of an event's block."""
        ...


class EventReader(Protocol):
    """The events of an encoding in the user's words: those of one recorded run, or of several that were merged."""

    @property
    def trace(self) -> Events:
        """The events themselves."""
        ...

    def statement(self, event: int) -> Statement | None:
        """The statement that an event belongs to."""
        ...

    def static(self, event: int) -> StaticSite:
        """The static side of an event."""
        ...

    def named(self, event: int) -> Observation | None:
        """The variable or expression of an event, with its value where it has one."""
        ...


class Run:
    """A recorded run encoded; ``references`` are where its outcome shows (see ``trace/columns.py``).

    ``events`` tells of the encoding's events. What a long run has in common with a passing one, before it departs from
    that, is as it was recorded. Raises SubjectError where too much led to the outcome.
    """

    events: EventReader

    def __init__(self, reader: TraceReader, recording: Recording, references: Sequence[int], encoder: Encoder) -> None:
        self.reader, self.recording, self.references = reader, recording, list(references)
        self.events = reader
        trace, inputs = reader.trace, inputs_of(recording.case)
        self.influence = Influence(reader, departure=recording.departure, references=references)
        self._slices: dict[tuple[int, ...], frozenset[int]] = {}
        if trace.events <= WHOLE:
            self.encoding = encoder.encode(trace, inputs, cut=CUT, cells=CELLS)
        else:
            # which is quick, and most are too long by far
            sliced = self.influence.sliced(references).events
            _check_length(len(self.influence.behind(sliced)))
            relevant = self.relevant(self.references)
            _check_length(len(relevant))
            self.encoding = encoder.encode(trace, inputs, relevant, CUT)
            if (departure := self.influence.departure) is not None:
                case = departure.case
                self.encoding.notes[f"what came before it departs from the passing case `{case}`"] += 1
        self.path = Path(self.encoding, trace, self.influence.sources)
        self.goals = Goals(reader, self.path, self.influence)

    def relevant(self, references: Sequence[int]) -> frozenset[int]:
        """The events of the relevant slice from some references."""
        key = tuple(references)
        if key not in self._slices:
            sliced = self.influence.relevant_slice(references).events
            self._slices[key] = frozenset(self.influence.behind(sliced).tolist())
        return self._slices[key]

    @cached_property
    def has_loops(self) -> bool:
        """Whether a function executes a block twice in one call."""
        segments = self.reader.trace.columns.segments[: self.reader.trace.segments]
        return len(np.unique(segments[["frame", "id"]])) < len(segments)

    @cached_property
    def by_event(self) -> dict[int, Instance]:
        """The instances that have a result, by event."""
        return {i.event: i for i in self.encoding.instances if i.term >= 0}

    @cached_property
    def given(self) -> frozenset[Term]:
        """The results of library calls that are made of the input alone: reading it is nobody's fault."""
        terms, symbols = self.encoding.terms, self.encoding.symbols
        found = set()
        for instance in self.encoding.instances:
            if instance.kind is Kind.RESULT:
                kinds = {symbols[s].kind for s in terms.symbols([instance.term])}
                if SymbolKind.INPUT in kinds and SymbolKind.CUT not in kinds:
                    found.add(instance.term)
        return frozenset(found)


def _check_length(events: int) -> None:
    """Raise SubjectError where so many events that led to a failure are too many for a formula."""
    if events > MOST_EVENTS:
        message = f"{events:,} events led to the failure, more than the {MOST_EVENTS:,} of a formula"
        raise SubjectError(message, "choose a shorter failing case with --case, or reduce it (`whence reduce`)")


class FailingRun(Run):
    """A failing run encoded, with its ``symptom``; one of ``aims`` had to be met.

    Raises SubjectError where the symptom has no place in the trace, nothing there has a value, or too much led to it.
    """

    def __init__(self, reader: TraceReader, recording: Recording, symptom: Symptom, encoder: Encoder) -> None:
        references = list(symptom.details.get("criteria", []))
        if not references:
            raise SubjectError(f"the symptom has no place in the trace: {symptom.text}", "try `whence locate` instead")
        super().__init__(reader, recording, references, encoder)
        self.symptom = symptom
        overrun = self.influence.neighbours.overrun if self.goals.is_of_heap(symptom) else None
        if overrun is not None:
            place = reader.statement(overrun.event)
            where = f" on {place.file}:{place.line}" if place else ""
            message = f"what lies behind a block of the heap was overwritten{where}, which no formula tells of"
            raise SubjectError(message, "`whence causes` shows where")
        self.aims = self.goals.of_symptom(symptom, recording)
        if not self.aims:
            raise SubjectError(f"nothing at the symptom has a value: {symptom.text}", "try `whence locate` instead")

    @cached_property
    def printed(self) -> list[int]:
        """The arguments that were printed before the symptom, right ones, as far as they have values."""
        if "offset" not in self.symptom.details:
            return []
        evidence, found = Evidence(self.reader.trace), dict[int, None]()
        stream, end, offset = int(self.symptom.details["stream"]), int(self.symptom.details["offset"]), 0
        while offset < min(end, MOST_PRINTED) and (source := evidence.source_of(stream, offset)) is not None:
            known = source.argument >= 0 and source.event != self.symptom.event
            if known and source.event in self.path.results:
                found[source.event] = None
            offset = source.start + source.length if known else offset + 1
        return list(found)


class TraceFormula:
    """The formula of a run for a goal, a term of one bit. ``statements`` are the groups that can be dropped.

    ``events`` are those at which the goal stands, ``references`` where they come from; ``seconds`` limits each question
    to the solver. ``conditions`` hold always, the goal first; ``meanings`` are what the symbols of instances have to
    equal, ``members`` the instances of each statement. For questions about several statements there are ``hard`` and
    ``equations``, the same without floating point, of which ``notes`` counts what was taken as recorded.
    """

    def __init__(
        self, run: Run, goal: Term, events: Iterable[int], references: Sequence[int], seconds: float = 2.0
    ) -> None:
        self.run, self.seconds = run, seconds
        self.members: dict[Statement, list[Instance]] = {}
        self.chosen: list[Instance] = []
        self.meanings: dict[Term, Term] = {}
        self.notes: Counter[str] = Counter()
        self._symbols_of: dict[Term, tuple[Term, ...]] = {}
        self._terms, self._path = run.encoding.terms, run.path
        self.goal_events, self._references = frozenset(events), references
        self._build(goal)

    # ---- Building ----------------------------------------------------------------------------------------------------

    def _build(self, goal: Term) -> None:
        """Everything that no statement decides becomes a constant: the input, and what is made of it alone."""
        conditions = [goal, *self._conditions()]
        self._collect(conditions)
        rewriting = self._given = Rewriting(self._terms)
        self._put_known(rewriting, [*conditions, *(instance.meaning for instance in self.chosen)])
        self.equations: dict[Statement, list[Term]] = {}
        for instance in self.chosen:
            meaning = rewriting.of(instance.meaning)
            statement = self.run.events.statement(instance.event)
            if statement is None or self._is_given(instance):
                rewriting.put(instance.term, meaning)
                continue
            self.meanings[instance.term] = meaning
            self.members.setdefault(statement, []).append(instance)
            equation = self._terms.equal(instance.term, self._decidable(instance, meaning))
            self.equations.setdefault(statement, []).append(equation)
        self.statements = sorted(self.members)
        self._goal = rewriting.of(goal)
        told = dict.fromkeys(rewriting.of(condition) for condition in conditions)
        self.conditions = [condition for condition in told if self._terms.value(condition) != 1]
        self.hard = [condition for condition in self.conditions if self._holds(condition)]

    @cached_property
    def solver(self) -> Satisfiability:
        """The solver that knows the formula, each equation under the selector of its statement."""
        solver = Satisfiability(self._terms, self.seconds)
        solver.add(self.hard)
        for selector, statement in zip(self.selectors, self.statements, strict=True):
            without = self._terms.negate(selector)
            solver.add(self._terms.apply("or", 1, without, equation) for equation in self.equations[statement])
        return solver

    @cached_property
    def selectors(self) -> list[Term]:
        """A symbol a statement: that its equations hold."""
        return [self._terms.symbol(1) for _ in self.statements]

    def _conditions(self) -> list[Term]:
        """That branches which matter go their way, and that addresses are the recorded ones, up to the goal's event."""
        relevant, last = self.run.relevant(self._references), max(self.goal_events)
        found: dict[Term, None] = {}
        for assumption in self._path.assumptions:
            event = assumption.event
            untested = event in self.goal_events or event not in relevant
            if event > last or (event in self._path.branches and untested):
                continue
            found[assumption.term] = None
        return list(found)

    def _collect(self, roots: Sequence[Term]) -> None:
        """Find the instances that were cut and that the roots come from, in order of time."""
        defined = {i.term: i for i in self.run.encoding.instances if i.term != i.meaning}
        seen: set[Term] = set()
        pending = list(roots)
        while pending:
            for symbol in self._terms.symbols([pending.pop()]):
                if symbol not in seen and (instance := defined.get(symbol)) is not None:
                    self.chosen.append(instance)
                    pending.append(instance.meaning)
                seen.add(symbol)
        self.chosen.sort(key=lambda instance: instance.event)

    def _is_given(self, instance: Instance) -> bool:
        """Whether an instance stores what was read from the input, or hands the symptom's value on as it is."""
        if instance.kind is Kind.STORE:
            return instance.meaning in self.run.given
        printed = instance.kind is Kind.ARG and instance.event in self.goal_events
        return printed and self._terms.operations[instance.meaning] == "symbol"

    def _decidable(self, instance: Instance, meaning: Term) -> Term:
        """The meaning of an instance; where it is floating point the recorded value, which is counted."""
        value = self.run.encoding.evaluation.value(instance.term)
        if value is None or is_decidable(self._terms, [meaning]):
            return meaning
        self.notes["floating point"] += 1
        return self._terms.constant(value, self._terms.widths[instance.term])

    def _holds(self, condition: Term) -> bool:
        """Whether a condition has to be told to the solver; those of floating point cannot, and are counted."""
        decidable = is_decidable(self._terms, [condition])
        self.notes["condition of floating point"] += not decidable
        return decidable

    def _put_known(self, rewriting: Rewriting, roots: Sequence[Term]) -> None:
        """Symbols that are no instance's result have the values that they had in the run."""
        symbols, evaluation = self.run.encoding.symbols, self.run.encoding.evaluation
        for symbol in self._terms.symbols(roots):
            if symbol in symbols and symbols[symbol].kind is not SymbolKind.CUT:
                value = evaluation.value(symbol)
                if value is not None:
                    rewriting.put(symbol, self._terms.constant(value, self._terms.widths[symbol]))

    def without(self, statement: Statement) -> tuple[list[Term], Rewriting]:
        """What is left for one statement to meet, as conditions on its results alone; and the rewriting to these.

        What does not come from its results is as it was in the run, so only the rest is looked at.
        """
        own = {instance.term for instance in self.members.get(statement, ())}
        rewriting, touched = Rewriting(self._terms, self._recorded), set(own)
        for term in own:
            rewriting.put(term, term)
        for term, meaning in self.meanings.items():
            if term not in own and not touched.isdisjoint(self._symbols(meaning)):
                rewriting.put(term, rewriting.of(meaning))
                touched.add(term)
        conditions = (c for c in self.conditions if c not in self._holding or not touched.isdisjoint(self._symbols(c)))
        found = dict.fromkeys(rewriting.of(condition) for condition in conditions)
        return [condition for condition in found if self._terms.value(condition) != 1], rewriting

    @cached_property
    def _recorded(self) -> dict[Term, Term]:
        """For the result of each instance its value in the run, as far as it is known."""
        terms, value = self._terms, self.run.encoding.evaluation.value
        known = ((term, value(term)) for term in self.meanings)
        return {term: terms.constant(bits, terms.widths[term]) for term, bits in known if bits is not None}

    @cached_property
    def _holding(self) -> frozenset[Term]:
        """The conditions that held in the run."""
        return frozenset(c for c in self.conditions if self.run.encoding.evaluation.value(c) == 1)

    @property
    def contradictions(self) -> list[Term]:
        """The conditions besides the goal that the run itself does not meet: the encoder is at fault. Mostly none."""
        value = self.run.encoding.evaluation.value
        return [condition for condition in self.conditions if condition != self._goal and value(condition) == 0]

    def _symbols(self, term: Term) -> tuple[Term, ...]:
        """The symbols in the meaning of an instance, or in a condition."""
        found = self._symbols_of.get(term)
        if found is None:
            found = self._symbols_of[term] = tuple(self._terms.symbols([term]))
        return found

    def known(self, term: Term) -> Term:
        """A term of the run with all that no statement decides as numbers."""
        self._put_known(self._given, [term])
        return self._given.of(term)

    def as_encoded(self, result: Term) -> Term:
        """The result of a cut instance as the formula has it; as a number where the formula does not need it."""
        if result in self._needed:
            return self.known(result)
        value = self.run.encoding.evaluation.value(result)
        return result if value is None else self._terms.constant(value, self._terms.widths[result])

    @cached_property
    def _needed(self) -> frozenset[Term]:
        return frozenset(instance.term for instance in self.chosen)

    # ---- Asking ------------------------------------------------------------------------------------------------------

    def sets(self, size: int, weights: Sequence[float], deadline: float = float("inf")) -> Found:
        """The minimal correction sets, as numbers of ``statements``; those of one statement are looked for first."""
        if len(self._holding) == len(self.conditions):
            return Found(possible=True)
        size = size if self._goal in self.hard else 1  # without the goal a larger set would be nothing but possible
        return correction_sets(self.question, weights, size, deadline, self.alone)

    def alone(self, group: int) -> Status:
        """Whether the formula can hold without one statement."""
        conditions, _ = self.without(self.statements[group])
        decider = Decider(self._terms, self.run.encoding.evaluation.value, self.seconds)
        return decider.check(conditions)[0]

    def question(self, dropped: Groups, also: Sequence[Term] = ()) -> tuple[Status, Groups]:
        """Whether the formula can hold without some groups, other conditions besides; if not, a core of the rest."""
        kept = [group for group in range(len(self.statements)) if group not in dropped]
        status, core = self.solver.check([*(self.selectors[group] for group in kept), *also])
        return status, frozenset(kept[index] for index in core if index < len(kept))


# ---- Goals ---------------------------------------------------------------------------------------------------------


def symptom_formula(run: FailingRun, seconds: float) -> TraceFormula:
    """The formula whose goal is the right value at the symptom, and what was printed before as it was."""
    terms = run.encoding.terms
    goal = terms.constant(0, 1)
    for aim in run.aims:
        goal = terms.apply("or", 1, goal, aim.term)
    goal = terms.both([goal, *_same(run, run.printed)])
    references = [*run.references, *(event + 1 for event in run.printed)]
    return TraceFormula(run, goal, [*(aim.event for aim in run.aims), *run.printed], references, seconds)


def branch_formula(run: Run, event: int, seconds: float) -> TraceFormula:
    """The formula of the path up to a branch that had to go the other way."""
    return TraceFormula(run, run.goals.otherwise(event).term, [event], [event + 1], seconds)


def same_formula(run: Run, events: Sequence[int], seconds: float) -> TraceFormula:
    """The formula of a passing run: some events' values are as they were."""
    goal = run.encoding.terms.both(_same(run, events))
    return TraceFormula(run, goal, events, [event + 1 for event in events], seconds)


def _same(run: Run, events: Iterable[int]) -> Iterator[Term]:
    """That events have the values that they had, as far as these are known."""
    terms = run.encoding.terms
    for event in events:
        term = run.path.results[event]
        value = run.encoding.evaluation.value(term)
        if value is not None:
            yield terms.equal(term, terms.constant(value, terms.widths[term]))
