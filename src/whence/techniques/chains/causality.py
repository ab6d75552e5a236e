"""Causality tests, and the failure-inducing sets that they find (definition 5, section 4.2).

The failing run goes to a point, what differs there from the reference run is overwritten with the reference's values
but for a subset, and it goes on to the next point, along the failing run's way or along the reference run's. The subset
*induces* a target where the target's variables then have the values, and the definitions, that they have in the failing
run; it induces the failure where the run fails in the same way. What crashes or takes another way induces nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from whence.alter.changes import Batch, Op, Results, Verdict, joined
from whence.alter.faithful import FailureSignature
from whence.alter.path import FACTOR
from whence.inputs.delta_debugging import minimised
from whence.run.outcome import Kind
from whence.run.result import RunResult
from whence.techniques.chains.compared_run import Moment
from whence.techniques.chains.continuations import Continuation
from whence.techniques.chains.pairing import Pairing
from whence.techniques.chains.state import Faulty, States, Unreached, Variable

Changes = NDArray[np.void]
Timed = tuple[int, Changes]  # a change, and the clock when it is made
Set = frozenset[Variable]
_WORD = 1 << 64
FEW = 3  # variables each of which is tried alone as soon as a set is looked for
NEAR_THE_END = 1 << 16  # clock ticks
ENDED_OTHERWISE = (Verdict.PASS, Verdict.LOST, Verdict.NOT_REACHED, Verdict.NOT_RUN)


@dataclass(slots=True, frozen=True)
class Target:
    """What is to come: the set of a later point, or with ``point`` -1 the failure."""

    point: int
    variables: Set


FAILURE = Target(-1, frozenset())


@dataclass(slots=True, frozen=True)
class Way:
    """A way from a point on: its end, and the hash of its blocks."""

    end: Moment
    hash: int
    is_failing: bool


@dataclass(slots=True)
class Causality:
    """Finds failure-inducing sets; ``tests`` counts the altered runs, ``stop`` is asked before each.

    ``crash`` is the event at which the failing run crashes, -1 where it does not. ``is_shared``: altered runs that are
    likely to be asked for next share a job with one that is.
    """

    states: States
    baseline: FailureSignature
    stop: Callable[[], bool] = lambda: False
    crash: int = -1
    tests: int = 0
    is_shared: bool = True
    _known: dict[tuple[int, Target], Set] = field(default_factory=dict)
    _tests: dict[tuple[int, Target], _Test] = field(default_factory=dict)

    @property
    def _pairing(self) -> Pairing:
        return self.states.pairing

    def fis(self, point: int, target: Target) -> Set:
        """The failure-inducing set at a point: a least set of faulty variables that induces the target.

        The target's own variables that are defined already belong to it; what else is needed is minimised by delta
        debugging, always in the same order. Raises Unreached, Stopped.
        """
        key = (point, target)
        if key not in self._known:
            self._known[key] = self._fis(point, target)
        return self._known[key]

    def keeps(self, point: int, target: Target) -> bool:
        """Whether the set at a point is the target's own: its variables are defined, and enough to induce it."""
        if (point, target) in self._known:
            return self._known[point, target] == target.variables
        if not self.may_keep(point, target):
            return False
        carried = self._carried(point, target, self.states.difference(point))
        for variable in target.variables - carried:
            self.states.note_equal(point, variable)
        if carried != target.variables:
            return False
        is_kept = self._test(point, target).induces([])
        if is_kept:
            self._known[point, target] = target.variables
        return is_kept

    def may_keep(self, point: int, target: Target) -> bool:
        """Whether all variables of a target may be faulty at a point, as far as that is known without a look there."""
        return not any(v.event > point or self.states.is_known_equal(point, v) for v in target.variables)

    def foresee(self, point: int, target: Target) -> None:
        """Have what ``fis`` would test first tested with what is run next."""
        if (point, target) not in self._known:
            self._test(point, target).foresee_first()

    def _fis(self, point: int, target: Target) -> Set:
        test = self._test(point, target)
        others, likely = test.others, test.likely
        test.foresee_first()
        if test.induces([]):
            return test.carried
        if len(likely) < len(others) and test.induces(likely):
            others = likely
        return test.carried | {f.variable for f in minimised(others, test.induces, test.foresee)}

    def _test(self, point: int, target: Target) -> _Test:
        if (point, target) not in self._tests:
            faulty = self.states.difference(point)
            self._tests[point, target] = _Test(self, point, target, faulty, self._carried(point, target, faulty))
        return self._tests[point, target]

    @staticmethod
    def _carried(point: int, target: Target, faulty: Mapping[Variable, Faulty]) -> Set:
        """The target's variables that are defined already, and faulty."""
        here = frozenset(faulty)
        return frozenset(v for v in target.variables if v.event <= point and _is_part(v, here))


class Stopped(Exception):
    """The time is over."""


def _is_part(variable: Variable, of: Set) -> bool:
    """Whether it shares bytes with a variable of a set, or is one of them."""
    if variable in of:
        return True
    first, last = variable.address, variable.address + variable.length
    return any(other.address < last and first < other.address + other.length for other in of if other.length)


class _Attempt(NamedTuple):
    """A continuation that is to take a way, told by the hash of its blocks, and what its changes read there."""

    continuation: Continuation
    hash: int

    def read(self) -> list[bytes] | None:
        """What it read, one part a reading change; None where it did not take its way to the end."""
        record, data = self.continuation.outcome()
        took = record["verdict"] == Verdict.REACHED and int(record["first_wrong"]) == self.hash
        return _parts(data, self.continuation.changes) if took else None


class _Test:
    """The tests of subsets at one point with one target.

    ``carried`` are the target's variables that keep their values in each; ``others`` are the faulty variables beside
    them, ``likely`` those of them that the failing run reads before it comes to the target.
    """

    def __init__(
        self, causality: Causality, point: int, target: Target, faulty: dict[Variable, Faulty], carried: Set
    ) -> None:
        self._causality, self._point, self._target = causality, point, target
        self._faulty, self.carried = faulty, carried
        pairing = causality.states.pairing
        self._pairing, self._run = pairing, pairing.failing
        moment = self._run.moment(point)
        if moment is None:
            raise Unreached
        self._moment: Moment = moment
        self._unaltered: _Attempt | None = None
        self._known: dict[Set, bool] = {}
        self._wanted: dict[Set, list[_Attempt]] = {}
        self._changes: dict[Variable, Timed] = {}  # that overwrite it

    @cached_property
    def others(self) -> list[Faulty]:
        return [f for f in self._faulty.values() if not f.is_stale and not _is_part(f.variable, self.carried)]

    @cached_property
    def likely(self) -> list[Faulty]:
        """Most likely the others are not needed."""
        end = self._target.point if self._target.point >= 0 else self._run.trace.events
        reads = self._run.reads
        first, behind = np.searchsorted(reads.event, (self._point + 1, end + 1))
        starts = reads.address[first:behind]
        ends = starts + reads.length[first:behind]
        return [
            f
            for f in self.others
            if not f.variable.length
            or bool(((starts < f.variable.address + f.variable.length) & (f.variable.address < ends)).any())
        ]

    def induces(self, kept: Sequence[Faulty]) -> bool:
        """Whether the target comes where these and what is carried keep their values."""
        keeps = self._keeps(kept)
        self._want([keeps])
        if keeps not in self._known:
            if self._causality.stop():
                raise Stopped
            self._settle()
        return self._known[keeps]

    def foresee(self, subsets: Sequence[Sequence[Faulty]]) -> None:
        """Have several subsets tested with what is run next, which takes hardly longer than to test one; not where
        each runs on to its end, and that is far.
        """
        if self._causality.is_shared and (self._goals or self._is_near_the_end):
            self._want([self._keeps(kept) for kept in subsets])

    def foresee_first(self) -> None:
        """Have tested what the search for a set begins with."""
        self.foresee([[], self.likely, *([f] for f in self.likely[:FEW])])

    def _keeps(self, kept: Sequence[Faulty]) -> Set:
        return self.carried | {f.variable for f in kept}

    def _overwritten(self, keeps: Set) -> list[Faulty]:
        """What does not keep its value."""
        return [f for f in self._faulty.values() if not f.is_stale and not _is_part(f.variable, keeps)]

    def _want(self, sets: Sequence[Set]) -> None:
        """Have some sets of variables tested that keep their values, with what is run next."""
        for keeps in sets:
            if keeps in self._known or keeps in self._wanted:
                continue
            if not (overwritten := self._overwritten(keeps)):
                self._known[keeps] = True
                continue
            if self._goals and self._unaltered is None:
                self._unaltered = self._attempt([], *self._goals[0])
            overwrites = self._overwrites(overwritten)
            self._wanted[keeps] = [self._attempt(overwrites, *goal) for goal in self._goals]

    def _settle(self) -> None:
        """Note of all sets that are wanted whether they induce."""
        if self._goals:
            expected = self._expected
            found = {keeps: expected in [one.read() for one in attempts] for keeps, attempts in self._wanted.items()}
        else:
            found = self._fail(list(self._wanted))
        self._known |= found
        self._wanted.clear()

    # ---- The failure -------------------------------------------------------------------------------------------------

    @property
    def _is_near_the_end(self) -> bool:
        """Whether the run takes no longer from the point to its end than a job takes by itself."""
        return len(self._run.path) - self._moment.now < NEAR_THE_END

    def _fail(self, sets: Sequence[Set]) -> dict[Set, bool]:
        """Whether the run fails in the same way with some sets of variables that keep their values."""
        session, baseline = self._run.session, self._causality.baseline
        self._causality.tests += len(sets)
        overwrites = (self._overwrites(self._overwritten(keeps)) for keeps in sets)
        batch = Batch.of([joined([change for _, change in timed]) for timed in overwrites])
        results = session.run(batch, outputs=True)
        found = {}
        for place, keeps in enumerate(sets):
            is_ended = results.records[place]["verdict"] not in ENDED_OTHERWISE
            result = _result_of(session.case, results, place) if is_ended else None
            found[keeps] = result is not None and FailureSignature.of(session.case, result) == baseline
        return found

    def _crash(self) -> list[tuple[Way, list[Timed]]]:
        """The way to the last value before the crash, and what reads it; none where no value lies before it.

        A crash is the same one where that value comes on the same way.
        """
        last = self._run.seen_before(self._causality.crash)
        if last <= self._point:
            return []
        end = self._run.moment_of(last)
        way = Way(end, self._run.path.hash(self._moment.now, end.now) or 0, True)
        return [(way, [(end.now, self._run.change(end, op)) for op in (Op.READ_VALUE, Op.STOP)])]

    # ---- A later set -------------------------------------------------------------------------------------------------

    @cached_property
    def _goals(self) -> list[tuple[Way, list[Timed]]]:
        """The ways on which the target can come, each with the changes that read it there, in order of time.

        The failing run's own is the first. None: it is only known by how the run ends.
        """
        if self._target.point >= 0:
            ways = [(way, self._readings(way)) for way in self._ways()]
            return [(way, readings) for way, readings in ways if readings is not None]
        goals = self._crash() if self._causality.baseline.kind is Kind.CRASH else []
        if goals:
            self._unaltered = self._attempt([], *goals[0])
            if self._unaltered.read() is None:  # as where the stack is full: in altered runs it may be so earlier
                return []
        return goals

    @cached_property
    def _expected(self) -> list[bytes]:
        """What is read of the target in the run as it is."""
        assert self._unaltered is not None
        found = self._unaltered.read()
        if found is None:  # something else may have ended it
            found = self._attempt([], *self._goals[0]).read()
        if found is None:
            raise Unreached
        return found

    def _attempt(self, overwrites: list[Timed], way: Way, readings: list[Timed]) -> _Attempt:
        """A continuation that overwrites, and reads on a way."""
        self._causality.tests += 1
        timed = [*overwrites, *readings]
        changes = joined([change for _, change in timed])
        return _Attempt(self._run.continuations.want(changes, way.end.now + 1), self._hash(timed[0][0], way))

    def _ways(self) -> list[Way]:
        """The failing run's way to the target's point, and the reference run's, where they are two."""
        run, other = self._run, self._pairing.reference
        end = run.moment(self._target.point)
        if end is None:
            raise Unreached
        mine = Way(end, run.path.hash(self._moment.now, end.now) or 0, True)
        begin, stop = (other.moment(int(self._pairing.events[e])) for e in (self._point, self._target.point))
        if begin is None or stop is None:
            return [mine]
        found = self._pairing.path.hash(begin.now, stop.now)
        if found is None or found == mine.hash:
            return [mine]
        return [mine, Way(self._moved(stop, end, begin), found, False)]

    def _moved(self, there: Moment, here: Moment, begin: Moment) -> Moment:
        """A moment of the reference run as one of the failing run that goes on as it; ``here``: on its own way."""
        shift = self._moment.now - begin.now
        is_later = there.clock > begin.now  # else its block had begun before the point
        return Moment(there.clock + shift if is_later else here.clock, here.site, there.now + shift)

    def _readings(self, way: Way) -> list[Timed] | None:
        """The changes that read the target's variables on a way, in order of time; None where there is none to read.

        What the failing run defines on its own way alone is not on the other.
        """
        run, stop = self._run, way.end
        found: list[Timed] = []
        for variable in sorted(self._target.variables):
            if variable.length:
                if not way.is_failing and variable.event > self._point and self._pairing.events[variable.event] < 0:
                    return None
                found.append((stop.now, run.change(stop, Op.READ, variable.length, variable.address)))
            elif variable.event > self._point:
                moment = self._moment_on(way, variable.event)
                if moment is None:
                    return None
                found.append((moment.now, run.change(moment, Op.READ_VALUE)))
        return [*sorted(found, key=_time), (stop.now, run.change(stop, Op.STOP))]

    def _moment_on(self, way: Way, event: int) -> Moment | None:
        """Where an event between point and target has its value, on one of the ways; None where it is not on it."""
        here = self._run.moment_of(event)
        if way.is_failing:
            return here
        reference, other = self._pairing.reference, int(self._pairing.events[event])
        begin = reference.moment(int(self._pairing.events[self._point]))
        return None if other < 0 or begin is None else self._moved(reference.moment_of(other), here, begin)

    def _hash(self, start: int, way: Way) -> int:
        """The hash of the blocks from the clock of the first change on: up to the point, then along a way."""
        path = self._run.path
        if way.is_failing:
            return path.hash(start, way.end.now) or 0
        before = path.hash(start, self._moment.now) or 0
        return (before * pow(FACTOR, way.end.now - self._moment.now, _WORD) + way.hash) % _WORD

    # ---- Overwriting -------------------------------------------------------------------------------------------------

    def _overwrites(self, overwritten: Sequence[Faulty]) -> list[Timed]:
        """Changes that give variables the reference's values, in order of time, each with the clock then."""
        for faulty in overwritten:
            if faulty.variable not in self._changes:
                self._changes[faulty.variable] = self._overwrite(faulty)
        return sorted((self._changes[faulty.variable] for faulty in overwritten), key=_time)

    def _overwrite(self, faulty: Faulty) -> Timed:
        run, variable = self._run, faulty.variable
        if variable.length:
            return self._moment.now, run.pokes(self._moment, variable.address, faulty.reference)
        moment = run.moment_of(variable.event)
        return moment.now, run.change(moment, Op.SET, int.from_bytes(faulty.reference, "little"))


def _time(change: Timed) -> int:
    return change[0]


def _parts(data: bytes, changes: Changes) -> list[bytes]:
    """What was read, one part a reading change."""
    found, at = [], 0
    readings = changes[(changes["op"] == Op.READ) | (changes["op"] == Op.READ_VALUE)]
    for op, value in zip(readings["op"].tolist(), readings["value"].tolist(), strict=True):
        length = value if op == Op.READ else 8
        found.append(data[at : at + length])
        at += length
    return found


def _result_of(case: Any, results: Results, place: int) -> RunResult:
    """A continuation of a batch as oracles see runs."""
    assert results.outputs is not None
    record, outputs, files = results.records[place], results.outputs[place], results.files.get(place, {})
    signal, status = int(record["signal"]), int(record["status"])
    is_over = bool(record["verdict"] == Verdict.TIMEOUT)
    return RunResult(case, None if signal else status, signal, is_over, False, *outputs, 0.0, 0, files=files)
