"""All minimal correction sets up to a size, smallest and lightest first, by implicit hitting sets.

A *correction set* is a set of groups (statements) without whose constraints a formula can hold; a minimal one is a
CoMSS of Jin and Orso, "Improving efficiency and accuracy of formula-based debugging", section II. Each minimal
correction set hits every core (groups that cannot hold together), so the smallest sets that hit the cores known so far
are asked about: one that does not suffice gives a new core.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
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
        candidates = Candidates(weights, count)
        for core in cores:
            candidates.hit(core)
        for answered in [*found.sets, *found.undecided]:
            candidates.leave(answered)
        while (following := candidates.first()) is not None:
            if time.monotonic() >= deadline:
                found.stopped = True
                return found
            known = len(cores)
            ask(following)
            candidates.leave(following)
            for core in cores[known:]:
                candidates.hit(core)
    return found


def _single(found: Found, alone: Alone, weights: Sequence[float], deadline: float) -> None:
    """The sets of one group, the lightest first."""
    for group in sorted(range(len(weights)), key=lambda group: (weights[group], group)):
        if time.monotonic() >= deadline:
            found.stopped = True
            return
        found.questions += 1
        found.note(frozenset({group}), alone(group))


class Candidates:
    """The sets of at most ``count`` groups that hit all cores told so far, lightest first; sets are bits of a number.

    Every minimal one is among them. (Berge's algorithm: a core extends the sets that do not hit it.)
    """

    def __init__(self, weights: Sequence[float], count: int) -> None:
        self._weights, self._count = weights, count
        self._keys: dict[int, tuple[float, list[int]]] = {}
        self._sets = [0]
        self._left: list[int] = []

    def first(self) -> Groups | None:
        """The lightest one; None: there is none left."""
        return frozenset(_members(self._sets[0])) if self._sets else None

    def hit(self, core: Groups) -> None:
        """Only sets that hit this core count."""
        bits = _bits(core)
        sets = [s for s in self._sets if s & bits]
        missed = [s for s in self._sets if not s & bits and s.bit_count() < self._count]
        more = {s | 1 << group for s in missed for group in core}.difference(sets)
        for left in self._left:
            more = {s for s in more if s & left != left}
        self._sets = sorted([*sets, *more], key=self._key) if more else sets

    def leave(self, answered: Groups) -> None:
        """Sets that hold this one do not count."""
        bits = _bits(answered)
        self._left.append(bits)
        self._sets = [s for s in self._sets if s & bits != bits]

    def _key(self, bits: int) -> tuple[float, list[int]]:
        if bits not in self._keys:
            members = _members(bits)
            self._keys[bits] = sum(self._weights[group] for group in members), members
        return self._keys[bits]


def _bits(groups: Groups) -> int:
    return sum(1 << group for group in groups)


def _members(bits: int) -> list[int]:
    return [group for group in range(bits.bit_length()) if bits >> group & 1]
