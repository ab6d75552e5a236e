"""Why something could not be otherwise: the first unsatisfiable weakest pre-condition, and a least core of it.

Algorithm 1 of Yi et al.: from an event whose outcome is supposed to have been another one, the pre-condition of that is
computed backwards along the path; it grows by assumptions and is rewritten by definitions, until it contradicts itself. A
pre-condition that is unsatisfiable at a step is so at all earlier ones, since its models only become fewer. So the first
such step is not looked for at every event: a model of the step just before the goal alone becomes a number, where
most contradictions arise, is tried first; without one, the events that matter are searched from the goal back in
strides that double, then by halving.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from whence.formula.decide import Decider, Status
from whence.formula.terms import Term
from whence.techniques.causes.path import NEVER, Assumption, Path


@dataclass(slots=True, frozen=True)
class Goal:
    """What should have been: a term of one bit that was false in the run, at an event; ``text`` says it in words."""

    event: int
    term: Term
    text: str


@dataclass(slots=True, frozen=True)
class Contradiction:
    """Why a goal could not be met: with the definitions from ``step`` on, it contradicts the assumptions in ``core``.

    Without any one of these, or without the goal, no contradiction is left. ``conditions`` counts what the
    pre-condition held besides the goal. ``complete``: the step is where the goal alone becomes false.
    ``is_decided``: the solver answered all questions; else the step may be too early, or the core too large.
    ``is_free``: the goal depends on what nothing tells, and nothing contradicts it.
    """

    step: int
    core: tuple[Assumption, ...] = ()
    conditions: int = 0
    complete: bool = True
    is_decided: bool = True
    is_free: bool = False


class Preconditions:
    """Answers goals on one path.

    ``prunes``: only assumptions that transitively intersect with the goal reach the solver, and only the steps are
    looked at where they change (section 4.3); otherwise all that hold on the way do.
    """

    def __init__(self, path: Path, decider: Decider, prunes: bool = True) -> None:
        self.path, self.decider, self._prunes = path, decider, prunes

    def contradiction(self, goal: Goal) -> Contradiction:
        """Why the goal could not be met."""
        symbols = list(self.path.terms.symbols([goal.term]))
        born = self.path.born_of(symbols, goal.event)
        if born == NEVER:
            return Contradiction(NEVER, is_free=True, is_decided=False)
        alone = Contradiction(born)
        if born == goal.event:
            return alone
        held, conjuncts = self.precondition(goal, symbols, born + 1)
        if self._prunes and self.decider.guess(conjuncts):
            return Contradiction(born, conditions=len(held))
        step, decided = self._first(goal, symbols, born)
        if step > born:
            return self._minimal(goal, symbols, step, decided)
        return Contradiction(born, conditions=len(held), is_decided=decided)

    def precondition(self, goal: Goal, symbols: Iterable[Term], step: int) -> tuple[list[Assumption], list[Term]]:
        """WP at a step: the assumptions in it, and the conjuncts, that of the goal first."""
        path = self.path
        if self._prunes:
            held, _ = path.relevant(symbols, step, goal.event)
        else:
            held = [a for a in path.assumptions if step <= a.event < goal.event]
        return held, path.unfold([goal.term, *(a.term for a in held)], step)

    def _first(self, goal: Goal, symbols: list[Term], born: int) -> tuple[int, bool]:
        """The highest unsatisfiable step, ``born`` where there is none above it; and whether all questions were answered.

        From the goal back in strides that double, then by halving: questions far back are the hard ones.
        """
        steps, decided = self._steps(goal, symbols, born), True
        high, low, stride = -1, 0, 1  # of ``steps``, descending: satisfiable at ``high``, asked at ``low``
        while high < low < len(steps):
            status = self._status(goal, symbols, steps[low])
            decided = decided and status is not Status.UNKNOWN
            if status is Status.UNSATISFIABLE:
                break
            high, stride = low, 2 * stride
            low = min(low + stride, len(steps) - 1)
        else:
            return born, decided
        while low - high > 1:
            middle = (low + high) // 2
            status = self._status(goal, symbols, steps[middle])
            decided = decided and status is not Status.UNKNOWN
            low, high = (middle, high) if status is Status.UNSATISFIABLE else (low, middle)
        return steps[low], decided

    def _status(self, goal: Goal, symbols: list[Term], step: int) -> Status:
        return self.decider.check(self.precondition(goal, symbols, step)[1])[0]

    def _steps(self, goal: Goal, symbols: list[Term], born: int) -> list[int]:
        """The steps above ``born`` at which the pre-condition may change, from the goal back."""
        if not self._prunes:
            return list(range(goal.event, born, -1))
        _, met = self.path.relevant(symbols, born + 1, goal.event)
        return sorted({born + 1, goal.event, *(event for event in met if event > born)}, reverse=True)

    def _minimal(self, goal: Goal, symbols: list[Term], step: int, decided: bool) -> Contradiction:
        """The contradiction at the first unsatisfiable step, with a least core."""
        held, conjuncts = self.precondition(goal, symbols, step)
        status, core = self.decider.check(conjuncts)
        if status is not Status.UNSATISFIABLE:  # the same question took longer this time
            return Contradiction(step, tuple(held), len(held), False, is_decided=False)
        core, answered = self.decider.minimal(conjuncts, core, kept=0)
        chosen = tuple(held[position - 1] for position in core if position)
        return Contradiction(step, chosen, len(held), False, decided and answered)
