"""Two runs of a small program that are compared for failure-inducing chains: as it is, and with a change."""

from __future__ import annotations

import atexit
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache

import numpy as np
from altering import case_of, change, instances, site_at
from numpy.typing import NDArray
from snippets import Snippet, snippet

from whence.alter.changes import Op
from whence.alter.session import Session
from whence.probe.instrument import Variant
from whence.probe.layout import Kind
from whence.probe.sites import Role
from whence.techniques.chains.causality import Causality
from whence.techniques.chains.compared_run import ComparedRun
from whence.techniques.chains.index_tree import IndexTree
from whence.techniques.chains.pairing import Pairing
from whence.techniques.chains.reference import Kind as Source
from whence.techniques.chains.reference import Reference
from whence.techniques.chains.state import States, Variable
from whence.techniques.chains.technique import Comparison, compare
from whence.techniques.chains.walk import Walk

OPEN = ExitStack()  # the sessions
atexit.register(OPEN.close)


@dataclass(frozen=True)
class Change:
    """What the reference run has otherwise: at the instance ``nth`` (-1: at the last one) of the line with a mark."""

    mark: str
    role: Role = Role.BRANCH
    op: Op = Op.NOT
    value: int = 0
    nth: int = 0
    text: str | None = None


@dataclass(frozen=True)
class Compared:
    """A failing run and its reference run, and what is asked about them."""

    made: Snippet
    session: Session
    comparison: Comparison

    @property
    def pairing(self) -> Pairing:
        return self.comparison.pairing

    @property
    def failing(self) -> ComparedRun:
        return self.pairing.failing

    def line(self, mark: str) -> int:
        """The line with a mark."""
        return line_with(self.made, mark)

    def events(self, mark: str, *kinds: Kind) -> list[int]:
        """The failing run's events on the line with a mark."""
        return self.made.events_at(self.failing.trace, self.line(mark), *kinds)

    def lines(self, events: list[int]) -> list[int]:
        """The line of each event."""
        return self.made.lines_of(self.failing.trace, np.array(events, np.int64)).tolist()

    def written_at(self, variables: frozenset[Variable]) -> list[int]:
        """The lines that define some variables, ascending; 0: none does."""
        return sorted(self.lines([v.event])[0] if v.event >= 0 else 0 for v in variables)

    def walk(self) -> Walk:
        """A new walk, which knows nothing yet."""
        points = self.pairing.points_before(self.comparison.baseline.stream, self.comparison.baseline.wrong)
        causality = Causality(States(self.pairing), self.comparison.baseline)
        return Walk(causality, IndexTree(self.failing.trace, points))


def line_with(made: Snippet, mark: str) -> int:
    """The only line with a mark: a comment of this text."""
    found = [n for n, text in enumerate(made.files[made.main].splitlines(), 1) if f"/* {mark} */" in text]
    assert len(found) == 1, f"{mark!r} is on lines {found}"
    return found[0]


@cache
def compared(text: str, arguments: str, right: str, changed: Change) -> Compared:
    """The run with these arguments, of which another output would be right, and the same one with a change."""
    made = snippet(text)
    case = case_of(b"", *arguments.split(), expected=right.encode())
    session = OPEN.enter_context(Session(made.subject, case, variant=Variant.REPLAY))
    site = site_at(made, line_with(made, changed.mark), changed.role, changed.text)
    clock = instances(session.observe(), site)[changed.nth]
    made_change: NDArray[np.void] = change(made.subject, site, changed.op, changed.value, clock=clock)
    reference = Reference(Source.SWITCH, changed.mark, made_change)
    return Compared(made, session, OPEN.enter_context(compare(session, reference)))
