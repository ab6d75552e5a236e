"""Correction sets over several paths: on-demand formula computation, and all paths at once.

The formula starts with the failing run. A set of statements without which it can hold is one for good where no branch
has to leave the paths that it knows. Where one has to, the program is run with that branch forced the other way, and
the new run joins the formula, which gives other sets: until none needs an unknown way. (OFC of Jin and Orso, "Improving
efficiency and accuracy of formula-based debugging", algorithms 1 to 3.) With ``everything`` every branch of every run
is forced first, and the formula is asked once: their BugAssist, all paths within a bound.

What holds a formula together holds together a larger one, too, and a set that needs no unknown way stays one: so cores
and sets are kept from one formula to the next.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from whence.alter.changes import CHANGE, Op
from whence.alter.faithful import FailureSignature, difference
from whence.alter.session import Session
from whence.dependence.predicates import Branch, branch_of
from whence.errors import SubjectError
from whence.findings import Statement
from whence.formula.decide import Status
from whence.formula.encoder import Encoder
from whence.formula.merging import Merging, Side
from whence.formula.terms import Terms
from whence.probe.layout import Kind
from whence.run.cases import Case
from whence.subject.recorder import Recording
from whence.techniques.formula_based.correction_sets import Found, Groups, correction_sets
from whence.techniques.formula_based.merged_formula import MergedFormula, MergedRun, Place, Recorded
from whence.techniques.formula_based.trace_formula import CELLS, CUT, inputs_of
from whence.trace.trace import THREADS, Trace

if TYPE_CHECKING:
    from whence.subject.subject import Subject

MOST_EVENTS = 4_000  # of a run that is part of a formula
TICKS = 3.0  # how many times as long as the failing run a switched one may take
MOST_SIDES = 200  # of one formula
TOGETHER = 32  # branches that are sent the other way between two looks at the clock

Statements = frozenset[Statement]


@dataclass(slots=True, frozen=True)
class Bounds:
    """``size``: statements in a set at most; ``sides``: switched runs of a formula at most.

    ``query``: seconds for one question; ``deadline``: of ``time.monotonic``.
    """

    size: int = 2
    sides: int = MOST_SIDES
    query: float = 2.0
    deadline: float = float("inf")


@dataclass(slots=True)
class Expanded:
    """The sets of one failing case, and the formula of all runs that it took.

    ``found`` has the sets, as groups of the formula. ``open`` are sets that need a way which is not known, since it
    could not be recorded, or a bound was reached (``stopped``); ``switched`` counts the recorded runs but the failing
    one, ``formulas`` how many formulas were made, ``questions`` all questions to the solver.
    """

    formula: MergedFormula
    found: Found
    open: list[Statements]
    switched: int
    formulas: int
    questions: int
    stopped: bool
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def sets(self) -> list[Statements]:
        """The sets in their order."""
        return [frozenset(self.formula.statements[group] for group in groups) for groups in self.found.sets]


# ---- Recording -------------------------------------------------------------------------------------------------------


class Switches:
    """Records runs of one case with branches forced, each once; use it in a ``with`` statement."""

    def __init__(self, subject: Subject, case: Case) -> None:
        self._subject, self._session = subject, Session(subject, case)
        self._branches: dict[int, Branch] = {}
        self._changes: dict[Side, NDArray[np.void]] = {}
        self._asked: set[Place] = set()
        self._open: set[Place] = set()
        self.recorded: dict[Side, Recorded] = {}

    def __enter__(self) -> Switches:
        return self

    def __exit__(self, *_: object) -> None:
        self._session.close()

    def main(self, recording: Recording) -> Side:
        """The failing run, recorded again as switched runs are; ``recording`` is what is known of it.

        Raises SubjectError where it is too long, has several threads, or ends in another way now.
        """
        trace = recording.trace
        _check(trace)
        event = next((e for e in range(trace.events) if self._sides(trace, e)), None)
        if event is None:
            raise SubjectError("no branch of the run can go another way", "`--method path` asks about the run itself")
        self._ticks = int(TICKS * trace.blocks)
        (unchanged,) = self._session.traces([self._change(trace, event, self._taken(trace, event))], self._ticks)
        if unchanged is None:
            raise SubjectError(f"{recording.outcome.kind} when recorded, but not when it is run again in a session")
        if unlike := difference(
            *(FailureSignature.of(one.case, one.result, one.outcome) for one in (recording, unchanged))
        ):
            raise SubjectError(f"it fails otherwise when it is run again in a session: {unlike}")
        return self._side(unchanged, np.zeros(0, CHANGE))

    def fork(self, places: Sequence[Place]) -> None:
        """Send branches each other way, each of them in a run of its own, and add the runs to their sides."""
        wanted = [(place, value) for place in places for value in self._others(place[0].trace, place[1])]
        changes = [
            np.concatenate([self._changes[side], self._change(side.trace, event, value)])
            for (side, event), value in wanted
        ]
        self._asked.update(places)
        recordings = self._session.traces(changes, self._ticks) if changes else []
        for (place, _), own, recording in zip(wanted, changes, recordings, strict=True):
            side, event = place
            if recording is None or not event + 1 < recording.trace.events <= MOST_EVENTS:
                self._open.add(place)
                continue
            side.forks.setdefault(event, []).append(self._side(recording, own, side, event))

    def is_open(self, place: Place) -> bool:
        """Whether a branch may go a way that is not known."""
        return place not in self._asked or place in self._open

    def can_fork(self, place: Place) -> bool:
        """Whether nobody has asked for the other ways of a branch."""
        return place not in self._asked

    def _side(
        self, recording: Recording, changes: NDArray[np.void], parent: Side | None = None, fork: int = -1
    ) -> Side:
        known = Recorded(self._subject, recording)
        fails = not recording.outcome.passed or recording.is_cut
        side = Side(recording.trace, known.wrong_row, fails, parent, fork)
        self.recorded[side], self._changes[side] = known, changes
        return side

    # ---- Branches ----------------------------------------------------------------------------------------------------

    def _sides(self, trace: Trace, event: int) -> Branch | None:
        """The branch of an event, if it can be altered and has several sides."""
        if trace.kind(event) is not Kind.BRANCH:
            return None
        number = int(trace.plan.sites[trace.site(event)]["instruction"])
        if number not in self._branches:
            self._branches[number] = branch_of(self._subject, number)
        branch = self._branches[number]
        return branch if branch.site >= 0 and len(branch.sides) > 1 else None

    def _following(self, trace: Trace, event: int) -> int:
        """The block to which a branch went; -1: none."""
        row = int(trace.columns.events[event]["segment"])
        rows = trace.columns.segments[row + 1 : trace.segments]
        found = np.flatnonzero(rows["pred"][:1] == row)
        return int(trace.plan.segments["block"][rows["id"][found[0]]]) if len(found) else -1

    def _taken(self, trace: Trace, event: int) -> int:
        """A value of the predicate that leads where the branch went."""
        branch, block = self._sides(trace, event), self._following(trace, event)
        return next((side.value for side in branch.sides if side.block == block), 0) if branch is not None else 0

    def _others(self, trace: Trace, event: int) -> list[int]:
        """For each other way of a branch a value of the predicate that leads there."""
        branch, block = self._sides(trace, event), self._following(trace, event)
        return [] if branch is None or block < 0 else [side.value for side in branch.sides if side.block != block]

    def _change(self, trace: Trace, event: int, value: int) -> NDArray[np.void]:
        """The change (CHANGE, of length 1) that lets a branch's predicate be a value."""
        branch = self._sides(trace, event)
        assert branch is not None
        site = self._subject.alter_plan.sites[branch.site]
        change = np.zeros(1, CHANGE)
        change["clock"], change["site"], change["block"] = trace.clock(event), branch.site, branch.block
        change["width"], change["form"] = site["width"], site["form"]
        change["value"], change["op"] = value, Op.SET
        return change


def _check(trace: Trace) -> None:
    """Raise SubjectError where a run cannot be part of a formula of several."""
    if trace.events > MOST_EVENTS:
        message = f"{trace.events:,} events are more than the {MOST_EVENTS:,} of a run whose paths are merged"
        raise SubjectError(message, "choose a shorter failing case with --case, or reduce it (`whence reduce`)")
    if trace.header.flags & THREADS:
        raise SubjectError("paths of a run with several threads are not merged", "`--method path` asks about one run")


# ---- Sets ------------------------------------------------------------------------------------------------------------


class Expansion:
    """Grows the formula of one failing case; ``weight`` of a statement is lower the more suspicious it is."""

    def __init__(self, switches: Switches, main: Side, encoder: Encoder, weight: Mapping[Statement, float]) -> None:
        self._switches, self._main, self._weight = switches, main, weight
        self._merging = Merging(encoder)
        self._cores: list[Statements] = []
        self._sets: set[Statements] = set()
        self._pending: dict[Statements, Place] = {}
        self._formulas = self._questions = 0
        self._seconds = {"recording": 0.0, "encoding": 0.0, "solving": 0.0}

    def run(self, bounds: Bounds, everything: bool) -> Expanded:
        """The sets that need no unknown way; with ``everything`` all ways are made known first, within the bounds."""
        run, stopped = self._encoded(), False
        if everything:
            while wanted := self._new(run.unknown()):
                if not self._grow(wanted, bounds):
                    stopped = True
                    break
                run = self._encoded()
        formula = self._formula(run, bounds)
        for size in range(1, bounds.size + 1):
            while not everything and not stopped and (wanted := self._wanted(formula, size, bounds)):
                if self._grow(wanted, bounds):
                    formula = self._formula(self._encoded(), bounds)
                else:
                    stopped = True
        return self._result(formula, self._ask(formula, bounds.size, bounds), stopped)

    def _wanted(self, formula: MergedFormula, size: int, bounds: Bounds) -> list[Place]:
        """The branches whose other ways some sets up to a size need; none where all sets can do without."""
        self._ask(formula, size, bounds)
        return self._new(self._pending.values())

    def _encoded(self) -> MergedRun:
        """All runs so far, encoded together."""
        began = time.perf_counter()
        merged = self._merging.encode(self._main, inputs_of(self._case), CUT, CELLS)
        if wrong := len(merged.encoding.unexplained):
            message = f"{wrong:,} values on its paths are not what was recorded"
            raise SubjectError(message, "`--method path` asks about the run itself")
        run = MergedRun(merged, self._switches.recorded, self._switches.is_open)
        self._seconds["encoding"] += time.perf_counter() - began
        return run

    def _formula(self, run: MergedRun, bounds: Bounds) -> MergedFormula:
        began = time.perf_counter()
        formula = MergedFormula(run, bounds.query)
        self._formulas += 1
        self._seconds["encoding"] += time.perf_counter() - began
        return formula

    def _new(self, places: Iterable[Place]) -> list[Place]:
        return [place for place in dict.fromkeys(places) if self._switches.can_fork(place)]

    @property
    def _case(self) -> Case:
        return self._switches.recorded[self._main].recording.case

    def _grow(self, places: Sequence[Place], bounds: Bounds) -> bool:
        """Record the other ways of branches, within the bounds; whether any was asked for."""
        began, asked = time.perf_counter(), 0
        while asked < len(places) and time.monotonic() < bounds.deadline:
            room = bounds.sides + 1 - len(self._switches.recorded)
            if room <= 0:
                break
            part = places[asked : asked + min(room, TOGETHER)]
            self._switches.fork(part)
            asked += len(part)
        self._seconds["recording"] += time.perf_counter() - began
        return asked > 0

    def _ask(self, formula: MergedFormula, size: int, bounds: Bounds) -> Found:
        """The sets of a formula up to a size, with those that need an unknown way, which become ``_pending``."""
        began = time.perf_counter()
        self._pending.clear()
        weights = [self._weight.get(statement, 1.0) for statement in formula.statements]
        try:
            return correction_sets(partial(self._question, formula), weights, size, bounds.deadline)
        finally:
            self._seconds["solving"] += time.perf_counter() - began

    def _question(self, formula: MergedFormula, dropped: Groups) -> tuple[Status, Groups]:
        """What is known of a set from earlier formulas, else what the solver answers."""
        statements = frozenset(formula.statements[group] for group in dropped)
        if statements in self._sets:
            return Status.SATISFIABLE, frozenset()
        core = next((core for core in self._cores if not core & statements), None)
        if core is not None:
            return Status.UNSATISFIABLE, frozenset(n for n, s in enumerate(formula.statements) if s in core)
        self._questions += 1
        status, groups, place = formula.optimistic(dropped)
        if status is Status.UNSATISFIABLE:
            self._cores.append(frozenset(formula.statements[group] for group in groups))
        elif status is Status.SATISFIABLE and place is not None:
            self._questions += 1
            strict, _ = formula.question(dropped)
            if strict is not Status.SATISFIABLE:
                self._pending[statements] = place
                return Status.SATISFIABLE, frozenset()
        if status is Status.SATISFIABLE:
            self._sets.add(statements)
        return status, groups

    def _result(self, formula: MergedFormula, found: Found, stopped: bool) -> Expanded:
        """All sets that are known for good, whether or not the last search came to its end."""
        formula.settle()
        least = [s for s in self._sets if s and not any(other < s for other in self._sets)]
        number = {statement: group for group, statement in enumerate(formula.statements)}
        sets = [frozenset(number[s] for s in statements) for statements in least if statements <= number.keys()]
        weights = {group: self._weight.get(statement, 1.0) for statement, group in number.items()}
        found.sets = sorted(sets, key=lambda s: (len(s), sum(weights[group] for group in s), sorted(s)))
        switched, unknown = len(self._switches.recorded) - 1, list(self._pending)
        return Expanded(
            formula, found, unknown, switched, self._formulas, self._questions, stopped, dict(self._seconds)
        )


def expand(
    subject: Subject,
    recording: Recording,
    weight: Mapping[Statement, float],
    bounds: Bounds,
    *,
    everything: bool = False,
    terms: Terms | None = None,
) -> Expanded:
    """The correction sets of a failing case over several paths; raises SubjectError where it cannot be done.

    ``terms`` is the graph of terms that is used, so that formulas of other runs can be asked about together with this.
    """
    with ExitStack() as stack:
        switches = stack.enter_context(Switches(subject, recording.case))
        main = switches.main(recording)
        encoder = Encoder(subject.program, subject.replay_plan, terms)
        return Expansion(switches, main, encoder, weight).run(bounds, everything)
