"""The trace formula of one failing run: what the input, the path and the goal leave for each statement to say.

Results of stores, branches, arguments and returns are symbols; the equations that define them are grouped by statement,
and hold where the statement's *selector* does. Hard are the input, the ways of the branches that the failure depends
on, the addresses of what is read and written, and the goal: the right value at the symptom, or that a branch goes the
other way. (Jin and Orso, "Improving efficiency and accuracy of formula-based debugging", section III-B1, on one path.)
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path as FilePath

import numpy as np
from numpy.typing import NDArray

from whence.errors import SubjectError
from whence.findings import Statement, Symptom
from whence.formula.bitvectors import OPERATIONS
from whence.formula.decide import Status
from whence.formula.encoder import NOTHING, Encoder, Inputs
from whence.formula.encoding import Instance, SymbolKind
from whence.formula.incremental import Incremental
from whence.formula.terms import Term
from whence.probe.layout import Kind
from whence.run.cases import Case
from whence.subject.recorder import Recording
from whence.subject.story import Story
from whence.techniques.causes.goals import Goals
from whence.techniques.causes.influence import Influence
from whence.techniques.causes.path import Path
from whence.techniques.causes.precondition import Goal
from whence.techniques.correction.sets import Found, Groups, correction_sets

CUT = frozenset({Kind.STORE, Kind.BRANCH, Kind.ARG, Kind.RET})
WHOLE = 20_000  # events up to which all of a run is encoded, with other cells of its objects
CELLS = 64  # of an object that a computed address may go to
MOST_EVENTS = 200_000  # of a slice that is encoded


def inputs_of(case: Case) -> Inputs:
    """What a run of a case is given, as far as the case tells: of a test suite's command it does not."""
    if case.command is not None:
        return NOTHING
    stdin = case.stdin.read_bytes() if isinstance(case.stdin, FilePath) else case.stdin
    return Inputs(tuple(case.arguments), stdin or b"")


class Run:
    """A failing run encoded: ``path``, and ``goals`` of which one at least had to be met.

    Raises SubjectError where the symptom has no place in the trace, nothing there has a value, or too much led to it.
    """

    def __init__(self, story: Story, symptom: Symptom, recording: Recording, encoder: Encoder | None = None) -> None:
        self.story, self.symptom, self.recording = story, symptom, recording
        self.references: list[int] = list(symptom.details.get("criteria", []))
        if not self.references:
            raise SubjectError(f"the symptom has no place in the trace: {symptom.text}", "try `whence locate` instead")
        trace = story.trace
        self.influence = Influence(story)
        self.relevant: NDArray[np.int64] = np.asarray(self.influence.relevant_slice(self.references).events, np.int64)
        encoder = encoder or Encoder(trace.program, trace.plan)
        inputs = inputs_of(recording.case)
        if trace.events <= WHOLE:
            self.encoding = encoder.encode(trace, inputs, cut=CUT, cells=CELLS)
        elif len(self.relevant) <= MOST_EVENTS:
            self.encoding = encoder.encode(trace, inputs, self.relevant, CUT)
        else:
            message = f"{len(self.relevant):,} events led to the failure, more than the {MOST_EVENTS:,} of a formula"
            raise SubjectError(message, "choose a shorter failing case with --case, or reduce it (`whence reduce`)")
        self.path = Path(self.encoding, trace, self.influence.sources)
        self.goals = Goals(story, self.path, self.influence)
        self.aims = self.goals.of_symptom(symptom, recording)
        if not self.aims:
            raise SubjectError(f"nothing at the symptom has a value: {symptom.text}", "try `whence locate` instead")

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


@dataclass(slots=True, frozen=True)
class Change:
    """An instance that had to have another value: its event, the bits it had and those it had to have.

    ``only``: no other value would do, everything else of the statement being as found.
    """

    event: int
    was: int
    right: int
    only: bool


class TraceFormula:
    """The formula of a run for goals of which one has to be met. ``statements`` are the groups that can be dropped.

    ``references`` are where the goals show; ``seconds`` limits each question to the solver. ``notes`` counts what was
    taken as recorded.
    """

    def __init__(self, run: Run, aims: Sequence[Goal], references: Sequence[int], seconds: float = 2.0) -> None:
        self.run, self.aims, self.references, self.seconds = run, aims, references, seconds
        self.members: dict[Statement, list[Instance]] = {}
        self.notes: Counter[str] = Counter()
        self._terms, self._path = run.encoding.terms, run.path
        self._fixed: list[Instance] = []
        self._last = max(aim.event for aim in aims)
        self._build()

    # ---- Building ----------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        goal = self._terms.constant(0, 1)
        for aim in self.aims:
            goal = self._terms.apply("or", 1, goal, aim.term)
        self._group([goal, *self._conditions])
        self.solver = Incremental(self._terms, self.seconds)
        hard = [goal, *self._conditions, *(self._equation(instance) for instance in self._fixed)]
        self.solver.add(self._decidable([*hard, *self._known(hard)]))
        self._selectors = [self._terms.symbol(1) for _ in self.statements]
        for selector, statement in zip(self._selectors, self.statements, strict=True):
            equations = self._decidable(self._equation(i) for i in self.members[statement])
            without = self._terms.negate(selector)
            self.solver.add(self._terms.apply("or", 1, without, equation) for equation in equations)
            self.solver.add(self._known(equations))

    @cached_property
    def _conditions(self) -> list[Term]:
        """That branches which matter go their way, and that addresses are the recorded ones, up to the goal's event."""
        aimed = {aim.event for aim in self.aims}
        relevant = frozenset(self.run.influence.relevant_slice(self.references).events.tolist())
        found: dict[Term, None] = {}
        for assumption in self._path.assumptions:
            event = assumption.event
            if event > self._last or (event in self._path.branches and (event in aimed or event not in relevant)):
                continue
            found[assumption.term] = None
        return list(found)

    def _group(self, roots: Sequence[Term]) -> None:
        """Sort the instances that the roots come from by statement; those that are nobody's fault are fixed."""
        defined = {i.term: i for i in self.run.encoding.instances if i.term != i.meaning}
        seen: set[Term] = set()
        pending = list(roots)
        chosen: list[Instance] = []
        while pending:
            for symbol in self._terms.symbols([pending.pop()]):
                if symbol not in seen and (instance := defined.get(symbol)) is not None:
                    chosen.append(instance)
                    pending.append(instance.meaning)
                seen.add(symbol)
        for instance in sorted(chosen, key=lambda i: i.event):
            statement = self.run.story.statement(instance.event)
            if statement is None or self._is_given(instance):
                self._fixed.append(instance)
            else:
                self.members.setdefault(statement, []).append(instance)
        self.statements = sorted(self.members)

    def _is_given(self, instance: Instance) -> bool:
        """Whether an instance stores what was read from the input, or hands the symptom's value on as it is."""
        if instance.kind is Kind.STORE:
            return instance.meaning in self.run.given
        printed = instance.kind is Kind.ARG and instance.event == self.run.symptom.event
        return printed and self._terms.operations[instance.meaning] == "symbol"

    def _equation(self, instance: Instance) -> Term:
        """That an instance has the value that its meaning gives it: floating point gives the recorded one."""
        meaning = instance.meaning
        if not self._is_decidable(meaning):
            value = self.run.encoding.evaluation.value(instance.term)
            if value is not None:
                self.notes["floating point"] += 1
                meaning = self._terms.constant(value, self._terms.widths[instance.term])
        return self._terms.equal(instance.term, meaning)

    def _is_decidable(self, term: Term) -> bool:
        return all(self._terms.operations[part] in OPERATIONS for part in self._terms.cone([term]))

    def _decidable(self, conditions: Iterable[Term]) -> list[Term]:
        """The conditions without floating point; the others are counted."""
        conditions = list(conditions)
        found = [condition for condition in conditions if self._is_decidable(condition)]
        if len(found) < len(conditions):
            self.notes["condition of floating point"] += len(conditions) - len(found)
        return found

    def _known(self, conditions: Sequence[Term]) -> list[Term]:
        """That the symbols in conditions which are no instance's result have the values that they had in the run."""
        symbols, evaluation = self.run.encoding.symbols, self.run.encoding.evaluation
        found = []
        for symbol in self._terms.symbols(conditions):
            if symbol in symbols and symbols[symbol].kind is not SymbolKind.CUT:
                value = evaluation.value(symbol)
                if value is not None:
                    found.append(self._terms.equal(symbol, self._terms.constant(value, self._terms.widths[symbol])))
        return found

    # ---- Asking ------------------------------------------------------------------------------------------------------

    def sets(self, size: int, weights: Sequence[float], deadline: float = float("inf")) -> Found:
        """The minimal correction sets, as numbers of ``statements``."""
        return correction_sets(self.question, weights, size, deadline)

    def question(self, dropped: Groups, also: Sequence[Term] = ()) -> tuple[Status, Groups]:
        """Whether the formula can hold without some groups, other conditions besides; if not, a core of the rest."""
        kept = [group for group in range(len(self.statements)) if group not in dropped]
        status, core = self.solver.check([*(self._selectors[group] for group in kept), *also])
        return status, frozenset(kept[index] for index in core if index < len(kept))

    def changes(self, dropped: Groups, deadline: float = float("inf"), also: Sequence[Term] = ()) -> list[Change]:
        """What the instances of some groups, a correction set, had to be; as many as possible are as they were.

        Empty where the solver does not answer in time, or the set is none with the conditions ``also``.
        """
        members = sorted(self._members(dropped), key=lambda i: i.event)
        kept = list(also)
        status, model = self._model(dropped, kept, members)
        for instance in members:
            same = self._same(instance)
            if status is not Status.SATISFIABLE or same is None or time.monotonic() >= deadline:
                break
            if model[instance.event] == self._was(instance):
                kept.append(same)
                continue
            found, other = self._model(dropped, [*kept, same], members)
            if found is Status.SATISFIABLE:
                model = other
                kept.append(same)
        return [
            Change(i.event, was, model[i.event], self._is_only(dropped, kept, i, model[i.event]))
            for i in members
            if (was := self._was(i)) is not None and model.get(i.event, was) != was
        ]

    def _members(self, dropped: Groups) -> list[Instance]:
        return [i for group in dropped for i in self.members[self.statements[group]]]

    def _is_only(self, dropped: Groups, kept: Sequence[Term], instance: Instance, value: int) -> bool:
        width = self._terms.widths[instance.term]
        other = self._terms.negate(self._terms.equal(instance.term, self._terms.constant(value, width)))
        return self.question(dropped, [*kept, other])[0] is Status.UNSATISFIABLE

    def _model(
        self, dropped: Groups, also: Sequence[Term], members: Sequence[Instance]
    ) -> tuple[Status, dict[int, int]]:
        status, _ = self.question(dropped, also)
        if status is not Status.SATISFIABLE:
            return status, {}
        return status, {i.event: self.solver.value(i.term) for i in members}

    def _was(self, instance: Instance) -> int | None:
        return self.run.encoding.evaluation.value(instance.term)

    def _same(self, instance: Instance) -> Term | None:
        was = self._was(instance)
        if was is None:
            return None
        return self._terms.equal(instance.term, self._terms.constant(was, self._terms.widths[instance.term]))
