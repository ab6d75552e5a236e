"""What cases executed: a matrix of counts with the statements that its columns stand for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whence.findings import Statement


@dataclass(slots=True, frozen=True, order=True)
class Site:
    """What one column of a coverage matrix counts: a block, or one side of a branch.

    A block (``side`` empty) holds any number of statements. A side belongs to the branch at
    ``statements[0]``; it is ``true``, ``false`` or the text of a case (``case 3``, ``default``), and
    ``column`` tells several branches on one line (``a && b``) apart.
    """

    statements: tuple[Statement, ...]
    side: str = ""
    column: int = 0


@dataclass(slots=True, frozen=True)
class OtherRun:
    """What passed beside the cases, and the sites of the subject that it executed.

    It is a test of the same suite that is another program, or a part of a failing run up to a check that passed.
    """

    name: str
    executed: tuple[Site, ...]


@dataclass(slots=True, frozen=True, eq=False)
class Coverage:
    """How often each case reached each site.

    ``counts``: uint32, cases by sites. ``failed``: bool, one a case. ``names``: the cases' names, or empty. The last
    ``checks`` rows are no cases, but parts of a failing one up to checks that passed.
    Raises ``ValueError`` when the shapes do not fit together.
    """

    counts: NDArray[np.uint32]
    failed: NDArray[np.bool_]
    sites: Sequence[Site]
    names: Sequence[str] = ()
    checks: int = 0

    def __post_init__(self) -> None:
        if self.counts.shape != (len(self.failed), len(self.sites)):
            wanted = (len(self.failed), len(self.sites))
            raise ValueError(f"counts of shape {self.counts.shape}, expected cases by sites {wanted}")
        if self.names and len(self.names) != len(self.failed):
            raise ValueError(f"{len(self.names)} names for {len(self.failed)} cases")

    def case_totals(self) -> dict[str, Any]:
        """The part ``cases`` of a result: how many passed and failed, and the names of those that failed."""
        failed = int(np.count_nonzero(self.failed))
        names = [name for name, bad in zip(self.names, self.failed, strict=False) if bad]
        return {"passed": len(self.failed) - failed - self.checks, "failed": failed, "names_failed": names}

    def with_checks(self, checks: Sequence[OtherRun]) -> Coverage:
        """The same with a passing row more behind all for each check that passed within a failing case."""
        return replace(self.with_others(checks), checks=len(checks))

    def with_others(self, others: Sequence[OtherRun]) -> Coverage:
        """The same with a row more behind all for each of ``others``: 1 at what it executed, and passing."""
        if not others:
            return self
        executed = [set(other.executed) for other in others]
        rows = np.array([[site in sites for site in self.sites] for sites in executed], np.uint32)
        return Coverage(
            np.concatenate([self.counts, rows]),
            np.concatenate([self.failed, np.zeros(len(others), np.bool_)]),
            self.sites,
            [*self.names, *(other.name for other in others)] if self.names else (),
        )
