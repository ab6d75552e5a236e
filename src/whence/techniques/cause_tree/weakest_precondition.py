"""Why something could not be otherwise: the first unsatisfiable weakest pre-condition, and a least core of it.

Algorithm 1 of Yi et al.: from an event whose outcome is supposed to have been another one, the pre-condition of that is
computed backwards along the path; it grows by assumptions and is rewritten by definitions, until it contradicts itself.
A pre-condition that is unsatisfiable at a step is so at all earlier ones, since its models only become fewer. So the
first such step is not looked for at every event. Nor below the earliest definition that the goal comes from: there the
goal's transforming instances are complete, and it is contradicted by itself in the end. Most pre-conditions are
satisfiable just above that, and a try shows it. Otherwise the events that matter are searched from the goal back in
strides that double, then by halving; as far as the conditions are few enough for a person to read.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

from whence.formula.decide import Decider, Status
from whence.formula.goals import Goal
from whence.formula.path import NEVER, Assumption, Path
from whence.formula.terms import Term

MOST_CONDITIONS = 64  # of one pre-condition; a contradiction among more explains nothing to a person
ALLOWED = 2.5  # times the limit of one question, for all questions of one goal


@dataclass(slots=True, frozen=True)
class Contradiction:
    """Why a goal could not be met: with the definitions from ``step`` on, it contradicts the assumptions in ``core``.

    Without any one of these, or without the goal, no contradiction is left. ``conditions`` counts what the
    pre-condition held besides the goal. ``complete``: the step is where the goal alone becomes false.
    ``is_decided``: all questions were answered; else there may be a contradiction at a higher step, or a smaller core.
    ``is_free``: the goal depends on what nothing tells, and nothing contradicts it.
    """

    step: int
    core: tuple[Assumption, ...] = ()
    conditions: int = 0
    complete: bool = True
    is_decided: bool = True
    is_free: bool = False


class Preconditions:
    """Answers goals on one path; ``seconds`` is the time for that, with that of the solver.

    ``prunes``: only assumptions that transitively intersect with the goal reach the solver, and only where they have
    changed (section 4.3); otherwise all that hold on the way do, at each step.
    """

    def __init__(self, path: Path, decider: Decider, prunes: bool = True) -> None:
        self.path, self.decider, self._prunes = path, decider, prunes
        self._allowed = ALLOWED * decider.limit
        self.seconds = 0.0

    def contradiction(self, goal: Goal) -> Contradiction:
        """Why the goal could not be met."""
        began = time.perf_counter()
        found = self._contradiction(goal)
        self.seconds += time.perf_counter() - began
        return found

    def _contradiction(self, goal: Goal) -> Contradiction:
        symbols = list(self.path.terms.symbols([goal.term]))
        born = self.path.born_of(symbols, goal.event)
        if born == NEVER:
            return Contradiction(NEVER, is_free=True, is_decided=False)
        alone = Contradiction(born)
        if born == goal.event:
            return alone
        lowest = max(born, self.path.first_definition(symbols)) + 1
        held, conjuncts = self.precondition(goal, symbols, lowest)
        if self._prunes and len(held) <= MOST_CONDITIONS and self.decider.guess(conjuncts):
            return Contradiction(born, conditions=len(held))
        step, decided = self._first(goal, symbols, lowest)
        if step is None:
            return Contradiction(born, conditions=len(held), is_decided=decided)
        return self._minimal(goal, symbols, step, decided)

    def precondition(self, goal: Goal, symbols: Iterable[Term], step: int) -> tuple[list[Assumption], list[Term]]:
        """WP at a step: the assumptions in it, and the conjuncts, that of the goal first."""
        path = self.path
        if self._prunes:
            held = path.relevant(symbols, step, goal.event, MOST_CONDITIONS)
        else:
            held = [a for a in path.assumptions if step <= a.event < goal.event]
        return held, path.unfold([goal.term, *(a.term for a in held)], step)

    def _first(self, goal: Goal, symbols: list[Term], lowest: int) -> tuple[int | None, bool]:
        """The highest unsatisfiable step from ``lowest`` on, None where there is none; and whether that is certain.

        From the goal back in strides that double, then by halving: questions far back are the hard ones.
        """
        known: dict[tuple[Term, ...], Status] = {}
        decided, latest = True, self.decider.seconds + self._allowed
        high, low, stride = goal.event + 1, goal.event, 1  # satisfiable at ``high``, asked at ``low``
        while (status := self._status(goal, symbols, low, known)) is not Status.UNSATISFIABLE:
            if status is Status.UNKNOWN or low == lowest or self.decider.seconds > latest:
                return None, status is Status.SATISFIABLE and low == lowest
            high, stride = low, 2 * stride
            low = max(low - stride, lowest)
        while high - low > 1 and self.decider.seconds <= latest:
            middle = (low + high) // 2
            status = self._status(goal, symbols, middle, known)
            decided = decided and status is not Status.UNKNOWN
            low, high = (middle, high) if status is Status.UNSATISFIABLE else (low, middle)
        return low, decided and high - low <= 1

    def _status(self, goal: Goal, symbols: list[Term], step: int, known: dict[tuple[Term, ...], Status]) -> Status:
        """Whether the pre-condition at a step can be met; ``known`` are the answers so far, if nothing has changed."""
        held, conjuncts = self.precondition(goal, symbols, step)
        if self._prunes and len(held) > MOST_CONDITIONS:
            return Status.UNKNOWN
        key = tuple(conjuncts)
        if key not in known or not self._prunes:
            known[key] = self.decider.check(conjuncts)[0]
        return known[key]

    def _minimal(self, goal: Goal, symbols: list[Term], step: int, decided: bool) -> Contradiction:
        """The contradiction at the first unsatisfiable step, with a least core."""
        held, conjuncts = self.precondition(goal, symbols, step)
        status, core = self.decider.check(conjuncts)
        if status is not Status.UNSATISFIABLE:  # the same question took longer this time
            return Contradiction(step, tuple(held), len(held), False, is_decided=False)
        core, answered = self.decider.minimal(conjuncts, core, kept=0)
        chosen = tuple(held[position - 1] for position in core if position)
        return Contradiction(step, chosen, len(held), False, decided and answered)
