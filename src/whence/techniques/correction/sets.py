"""All minimal correction sets up to a size, smallest and lightest first, by implicit hitting sets.

A *correction set* is a set of groups (statements) without whose constraints a formula can hold; a minimal one is a
CoMSS of Jin and Orso, "Improving efficiency and accuracy of formula-based debugging", section II. Each minimal
correction set hits every core (groups that cannot hold together), so the smallest sets that hit the cores known so far
are asked about: one that does not suffice gives a new core.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from whence.formula.decide import Status

Groups = frozenset[int]
Question = Callable[[Groups], tuple[Status, Groups]]  # what is dropped -> whether the rest can hold; if not, a core
Alone = Callable[[int], Status]  # one group that is dropped -> whether the rest can hold


@dataclass(slots=True)
class Found:
    """The minimal sets in order of size, then weight; ``undecided``: sets about which the solver gave no answer.

    ``possible``: nothing has to be dropped (then ``sets`` is empty). ``stopped``: the time was used up.
    """

    sets: list[Groups] = field(default_factory=list)
    undecided: list[Groups] = field(default_factory=list)
    possible: bool = False
    stopped: bool = False
    questions: int = 0

    def note(self, dropped: Groups, status: Status) -> None:
        """Keep the answer about a set, where it is not no."""
        if status is Status.SATISFIABLE:
            self.sets.append(dropped)
        elif status is Status.UNKNOWN:
            self.undecided.append(dropped)


def correction_sets(
    question: Question,
    weights: Sequence[float],
    size: int,
    deadline: float = float("inf"),
    alone: Alone | None = None,
) -> Found:
    """The minimal correction sets of at most ``size`` groups, of which there are ``len(weights)``.

    Among sets of equal size those with a lower sum of weights are asked about first, and come first. The deadline is
    one of ``time.monotonic``. ``alone`` answers for single groups, where there is a better way than ``question``.
    """
    found, cores = Found(), list[Groups]()

    def ask(dropped: Groups) -> None:
        found.questions += 1
        status, core = question(dropped)
        if status is Status.UNSATISFIABLE:
            cores.append(core)
        else:
            found.note(dropped, status)

    if alone is not None:
        _single(found, alone, weights, deadline)
        if size == 1 or found.stopped:
            return found
    ask(frozenset())
    if frozenset() in found.sets or frozenset() in found.undecided:
        possible = frozenset() in found.sets
        found.sets = [] if possible else found.sets
        found.possible = possible
        return found
    for count in range(1, size + 1):
        while (following := _next(cores, found, weights, count)) is not None:
            if time.monotonic() >= deadline:
                found.stopped = True
                return found
            ask(following)
    return found


def _single(found: Found, alone: Alone, weights: Sequence[float], deadline: float) -> None:
    """The sets of one group, the lightest first."""
    for group in sorted(range(len(weights)), key=lambda group: (weights[group], group)):
        if time.monotonic() >= deadline:
            found.stopped = True
            return
        found.questions += 1
        found.note(frozenset({group}), alone(group))


def _next(cores: Sequence[Groups], found: Found, weights: Sequence[float], count: int) -> Groups | None:
    """The lightest set of ``count`` groups that hits all cores, and holds no set that was answered."""
    answered = [*found.sets, *found.undecided]
    sets = (s for s in set(hitting_sets(cores, count)) if not any(known <= s for known in answered))
    return min(sets, key=lambda s: (sum(weights[group] for group in s), sorted(s)), default=None)


def hitting_sets(cores: Sequence[Groups], count: int, chosen: Groups = frozenset()) -> Iterator[Groups]:
    """Sets of at most ``count`` groups that hit all cores; every minimal one is among them."""
    missed = next((core for core in cores if not core & chosen), None)
    if missed is None:
        yield chosen
    elif count:
        for group in missed:
            yield from hitting_sets(cores, count - 1, chosen | {group})
