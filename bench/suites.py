"""A fault of the corpus with a suite of its own, opened as a project: what techniques find there, by their interface.

A suite has at most five failing and 25 passing cases, or as many as are asked for, chosen at random (the seed and the
fault decide). Its failing cases have one cause, whatever they look like: that is known of a planted fault.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import whence
from bench.generated.faults import Generated
from corpus import corpus
from whence.errors import WhenceError
from whence.probe.instrument import Variant

if TYPE_CHECKING:
    from whence.findings import Entry, Findings
    from whence.investigation.investigation import Technique
    from whence.subject.runs import Runs


class Size(NamedTuple):
    """How many cases a suite has at most."""

    failing: int = 5
    passing: int = 25


USUAL = Size()


@dataclass(slots=True)
class Row:
    """One fault: for each method the faulty statement's rank (worst of its tie) among ``total`` statements.

    ``silent`` says of methods that ranked nothing why they did not.
    """

    program: str
    fault: str
    kind: str
    total: int = 0
    ranks: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    silent: dict[str, str] = field(default_factory=dict)
    error: str = ""

    def score(self, method: str) -> float:
        """Share of the statements that need not be read, in percent."""
        return 100 * (self.total - self.ranks[method]) / self.total


class Suite:
    """One fault's project. Altered runs that earlier methods made are made again, until ``keep`` is called."""

    def __init__(
        self, fault: corpus.Fault | Generated, folder: Path, seed: int, budget: float, size: Size = USUAL
    ) -> None:
        corpus.prepare(fault, folder)
        self.budget = budget
        self.row = Row(fault.program, fault.id, fault.kind)
        self.lines = frozenset(fault.lines)
        self.project = whence.open(folder, whence.Setup(workers=1, fresh=True, one_cause=True))
        self.investigation = self.project.investigation
        names = _names(self.investigation.runs, random.Random(f"{fault.program} {fault.id} {seed}"), size)
        self.investigation.with_cases([case for case in self.investigation.subject.cases if case.name in names])

    def __enter__(self) -> Suite:
        return self

    def __exit__(self, *_: object) -> None:
        self.project.close()

    def prepare(self) -> None:
        """Build what altered runs need, and record a run: what is compiled once for a machine counts for no method."""
        self.investigation.build(Variant.ALTER)
        self.investigation.record_failing(self.investigation.failing_rows())

    def keep(self) -> None:
        """From now on altered runs are not made again."""
        self.investigation.setup = replace(self.investigation.setup, fresh=False)

    def spectrum(self, formulas: Sequence[str]) -> None:
        """Note the ranks by formulas of suspiciousness, and how many statements there are."""
        for formula in formulas:
            ranking = self.project.find(whence.Spectrum(formula=formula)).ranking
            self.row.total = len(ranking)
            self.note(formula, ranking)

    def find(self, method: str, technique: Technique, budget: float | None = None) -> Findings | None:
        """What a technique finds in the suite's budget, or another one, and note its rank and its seconds.

        None where it cannot say anything of the failure: then the fault comes after all other statements.
        """
        found, began = None, time.perf_counter()
        try:
            found = self.project.find(technique, budget or self.budget)
        except WhenceError as error:
            self.row.silent[method] = str(error)
        self.row.seconds[method] = time.perf_counter() - began
        self.note(method, found.ranking if found else [])
        return found

    def note(self, method: str, ranking: Sequence[Entry]) -> None:
        """Keep where a ranking has the fault; a line that it does not hold comes after all others."""
        ranks = [e.rank_worst for e in ranking if e.statement.line in self.lines]
        self.row.ranks[method] = min(ranks, default=self.row.total + 1)


@contextmanager
def opened(fault: corpus.Fault | Generated, seed: int, budget: float, size: Size = USUAL) -> Iterator[Suite]:
    """A fault's suite in a folder of its own, which is removed at the end."""
    with (
        tempfile.TemporaryDirectory(prefix="whence-bench-") as name,
        Suite(fault, Path(name), seed, budget, size) as suite,
    ):
        yield suite


def _names(runs: Runs, chance: random.Random, size: Size) -> set[str]:
    """Names of the cases of a fault's suite."""
    rows = chance.sample(runs.failing, min(size.failing, len(runs.failing)))
    rows += chance.sample(runs.passing, min(size.passing, len(runs.passing)))
    return {runs.tested[row].case.name for row in rows}


def ranks_of(row: Row) -> str:
    """A line a fault."""
    ranks = ", ".join(f"{method} {rank}" for method, rank in row.ranks.items())
    silent = "".join(f"; {method}: {why}" for method, why in row.silent.items())
    return f"{row.program} {row.fault} ({row.kind}): {ranks} of {row.total}{silent}"
