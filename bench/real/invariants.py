"""Likely invariants on the planted faults, from the failing input alone: where the root cause is, and what it takes.

    python -m bench.real.invariants --work FOLDER [--passing] [FAULT ...]

Each fault is planted in the program built with ``whence-cc``; the program without the fault is the reference. Good and
further failing inputs are made close to the failing one (``--passing`` gives the passing cases instead). A line for
each: ranks of the fault (best and worst of the tie) by the default, the paper's way, and by Tarantula and Ochiai on the
same inputs; the lines of each of the paper's sets, in brackets where the root cause is not among them; and the seconds
from the failing input to the report by step. Building the program and its variants is not counted.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from bench.common import ended, markdown, options, work_folder
from bench.real.faults import Fault, chosen_faults, planted
from bench.real.locate import write_subject
from bench.real.programs import ensure_built
from whence.errors import WhenceError
from whence.findings import Entry
from whence.inputs.close import CloseInputs, close_everywhere
from whence.probe.instrument import Variant
from whence.run.config import read_config
from whence.subject.recorder import Recorder
from whence.subject.runs import Runs, coverage, run_all
from whence.subject.subject import Subject, subject_from_config, with_cases
from whence.subject.suspiciousness import rank_by_coverage
from whence.techniques.likely_invariants.collect import collect
from whence.techniques.likely_invariants.diagnosis import Options, diagnose
from whence.techniques.likely_invariants.kinds import PAPER_SETTINGS
from whence.techniques.likely_invariants.runs import Observer
from whence.techniques.likely_invariants.training import Choice

if TYPE_CHECKING:
    from whence.findings import Findings

CHOSEN = (  # four memory errors, four of missing code, four of other kinds
    *("gzip-01", "gzip-02", "gzip-03", "grep-01", "grep-03", "sed-01", "sed-03", "sed-04"),
    *("bc-02", "bc-03", "diffutils-01", "diffutils-05"),
)
NUMBER = 8
BUDGET = 60.0  # seconds for making inputs
STEPS = ("failed", "slice", "dependence", "several")


@dataclass(slots=True)
class Row:
    """One fault: ``ranks`` (best, worst, ranked) by method, ``sets`` (lines, has the root), ``seconds`` by step."""

    fault: str
    kind: str
    made: str = ""
    ranks: dict[str, tuple[int, int, int] | None] = field(default_factory=dict)
    sets: list[tuple[int, bool]] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def timed(self, step: str) -> Iterator[None]:
        """Count what is done here as time of a step."""
        began = time.perf_counter()
        yield
        self.seconds[step] = self.seconds.get(step, 0.0) + time.perf_counter() - began

    @property
    def total(self) -> float:
        """Seconds from the failing input to the report."""
        return sum(self.seconds.values())


def measure(fault: Fault, work: Path, passing: bool) -> Row:
    """Plant the fault, and diagnose it."""
    row = Row(fault.name, fault.kind)
    tree = ensure_built(fault.recipe, work, "whence", "whence-cc")
    plain = ensure_built(fault.recipe, work, "gcc", "gcc") / fault.executable
    with planted(fault, tree):
        write_subject(fault if passing else replace(fault, passing=()), tree, plain)
        subject = replace(subject_from_config(read_config(tree)), reference=plain)
        for kind in (Variant.COVER, Variant.RECORD):
            subject.variant(kind)
        diagnosed(row, subject, fault, passing)
    return row


def diagnosed(row: Row, subject: Subject, fault: Fault, passing: bool) -> None:
    """Fill the row."""
    with row.timed("run"):
        runs = run_all(subject)
    close = None
    if not passing:
        with row.timed("inputs"):
            close = close_everywhere(subject, runs.tested[runs.failing[0]].case, deadline=time.monotonic() + BUDGET)
        row.made = f"{len(close.good)}/{len(close.failing)}"
    with Recorder(subject) as recorder:
        with row.timed("record"):
            observer = Observer(subject, recorder)
            found = collect(observer, runs, runs.failing, NUMBER, close=close)
        with row.timed("rank"):
            default = diagnose(observer, found.failing, found.good, Options())
        paper = diagnose(observer, found.failing, found.good, Options(PAPER_SETTINGS, Choice.EDITS, paper=True))
    row.ranks = {"default": place(default.ranking, fault), "paper": place(paper.ranking, fault)}
    row.sets = sets(paper, fault)
    for formula in ("tarantula", "ochiai"):
        row.ranks[formula] = place(compared(subject, runs, close, formula), fault)


def compared(subject: Subject, runs: Runs, close: CloseInputs | None, formula: str) -> list[Entry]:
    """The ranking of a formula on the same inputs."""
    if close is not None:
        made = [close.base, *close.failing, *close.good]
        subject = with_cases(subject, [*subject.cases, *(one.case for one in made)])
        runs = run_all(subject)
    return rank_by_coverage(coverage(subject, runs), formula)


def place(ranking: Sequence[Entry], fault: Fault) -> tuple[int, int, int] | None:
    """Best and worst rank of the fault's best line, and how many lines are ranked; None where it is not among them."""
    mine = [e for e in ranking if f"{e.statement.file}:{e.statement.line}" in fault.lines]
    if not mine:
        return None
    best = min(mine, key=lambda e: (e.rank + e.rank_worst, e.rank))
    return best.rank, best.rank_worst, len(ranking)


def sets(paper: Findings, fault: Fault) -> list[tuple[int, bool]]:
    """For each of the paper's steps the lines of its candidates' expressions, and whether the root is among them."""
    found = []
    entries = paper.parts["candidates"]["entries"]
    for number in range(len(STEPS)):
        reached = [e for e in entries if STEPS.index(e["step"]) >= number]
        lines = {f"{line['file']}:{line['line']}" for e in reached for line in (e, *e["lines"])}
        found.append((len(lines), not lines.isdisjoint(fault.lines)))
    return found


HEAD = ["fault", "kind", "good/failing made", "default", "paper", "Tarantula", "Ochiai", *STEPS]
HEAD += ["run s", "inputs s", "record s", "rank s", "all s"]


def cells(row: Row) -> list[str]:
    """The table's line of a fault."""
    ranks = [_rank(row.ranks[method]) for method in ("default", "paper", "tarantula", "ochiai")]
    lines = [f"{count}" if has_root else f"({count})" for count, has_root in row.sets]
    times = [f"{row.seconds.get(step, 0.0):.1f}" for step in ("run", "inputs", "record", "rank")]
    return [row.fault, row.kind, row.made or "-", *ranks, *lines, *times, f"{row.total:.1f}"]


def _rank(rank: tuple[int, int, int] | None) -> str:
    return "-" if rank is None else f"{rank[0]}" if rank[0] == rank[1] else f"{rank[0]}-{rank[1]}"


def summary(rows: Sequence[Row]) -> str:
    """Faults among the first ten by each method, and the median time."""
    counts = {
        method: sum((rank := row.ranks[method]) is not None and sum(rank[:2]) / 2 <= 10 for row in rows)
        for method in ("default", "paper", "tarantula", "ochiai")
    }
    text = ", ".join(f"{method} {count}" for method, count in counts.items())
    shares = {step: np.mean([row.seconds.get(step, 0.0) / row.total for row in rows]) for step in rows[0].seconds}
    parts = ", ".join(f"{step} {share:.0%}" for step, share in shares.items())
    return (
        f"Among the first ten of {len(rows)}: {text}. Median time {median(row.total for row in rows):.1f} s; mean "
        f"shares: {parts}."
    )


def main() -> int:
    """Measure the faults named (by default twelve) and print the table."""
    parser = options(__doc__)
    parser.add_argument("--passing", action="store_true", help="give the passing cases, make no inputs")
    parser.add_argument("faults", nargs="*")
    arguments = parser.parse_args()
    work = work_folder(arguments.work)
    rows = []
    for fault in chosen_faults(arguments.faults or CHOSEN):
        try:
            rows.append(measure(fault, work, arguments.passing))
        except WhenceError as error:  # the table goes on: the other faults are independent
            print(f"{fault.name}: failed: {error}", file=sys.stderr, flush=True)
        else:
            print(" | ".join(cells(rows[-1])), file=sys.stderr, flush=True)
    print(f"{markdown(HEAD, [cells(row) for row in rows])}\n\n{summary(rows) if rows else ''}")
    return 0 if rows else 1


if __name__ == "__main__":
    ended(main)
