"""Where a failing run departs from a passing one: up to there both executed the same blocks.

Programs spend most of their blocks on starting up, whatever they are asked. What a failing run did there as a passing
run did it, with the same values, is not what makes the difference between the two. So what takes time looks first at
what came behind the departure, and at what had another value before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whence.probe.layout import Kind
from whence.trace.trace import Trace

LONG = 20_000  # events of a run of which all can be looked at anyway
FEW = 100  # events of a slice, before the departure, that computed other values
AT_ONCE = 1 << 20  # events whose values are compared
ADDRESSES = (1 << 32, 1 << 47)  # of blocks, variables and functions: they lie elsewhere where a name is longer

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Departure:
    """The ``event`` with which the last part of a block begins that a run has in common with the passing ``case``.

    There it was decided to go another way. ``clock`` is that of its block. ``differing`` are the events before it,
    ascending, that have other values than there, ``computed`` those of them that do not just read one.
    """

    case: str
    event: int
    clock: int
    differing: Integers
    computed: Integers

    def counts_for(self, events: Integers) -> bool:
        """Whether hardly any of a slice's events before it computed another value than in the passing run.

        Then what was before may be taken as recorded.
        """
        return int(np.count_nonzero(np.isin(events[events < self.event], self.computed))) <= FEW

    @property
    def in_common(self) -> int:
        """How many events the two runs have in common."""
        return self.event - len(self.differing)


def is_comparable(trace: Trace) -> bool:
    """Whether a run is long, and all of it at hand."""
    return trace.events > LONG and trace.windows == 1 and not trace.is_end and trace.header.threads <= 1


def departure(trace: Trace, other: Trace, case: str) -> Departure:
    """Where a run departs from another one, that of a passing ``case``; both are comparable."""
    rows, others = (one.columns.segments["id"][: one.segments] for one in (trace, other))
    length = min(len(rows), len(others))
    unlike = np.flatnonzero(rows[:length] != others[:length])
    row = max(int(unlike[0]) - 1 if len(unlike) else length - 1, 0)
    event, clock = int(trace.columns.segments["event"][row]), int(trace.segment_clock[row])
    parts = [_differing(trace, other, start, min(start + AT_ONCE, event)) for start in range(0, event, AT_ONCE)]
    differing = np.concatenate([np.zeros(0, np.int64), *parts])
    kinds = trace.plan.sites["kind"][trace.sites(differing)]
    return Departure(case, event, clock, differing, differing[kinds != Kind.LOAD])


def latest(found: Sequence[Departure]) -> Departure | None:
    """The departure from the run that has most in common; None where there is none."""
    return max(found, key=lambda one: one.in_common, default=None)


def _differing(trace: Trace, other: Trace, start: int, stop: int) -> Integers:
    """The events of a common part that have other values; addresses are not compared."""
    events = np.arange(start, stop, dtype=np.int64)
    (values, known), (others, also) = trace.values(events), other.values(events)
    low, high = (np.uint64(bound) for bound in ADDRESSES)
    are_addresses = (values >= low) & (values < high) & (others >= low) & (others < high)
    differ: Integers = events[(known != also) | ((values != others) & known & also & ~are_addresses)]
    return differ
