"""Failure-inducing chains on the corpus against the ideal ones, as table 3 of the paper has it.

    python -m bench.chains [--references KIND,...] [--cases N] [--every N] [--offset K] [--workers N] [--details]
                           [--budget S] [--kept FILE] [--minutes M] [PROGRAM ...]

The ideal chain of a failing case is that against the program without the fault. An approximate chain is compared with
it by the executed instructions that both hold: *coverage* is the share of the ideal chain that it has, *relevance* the
share of it that the ideal chain has, and the *edit distance* that of Levenshtein. Cases are parted into a best and a
worst half by coverage. Each fault's first failing cases are taken, by default four. ``default`` is the reference run
that Whence takes by itself; ``hierarchical`` is the same by Algorithm 1. With ``switch`` it is told how many cases have
a critical predicate (table 2), and how many other patches bring. By default a chain has the time that ``whence chain``
has; with ``--workers 1`` all processors as well, otherwise one. A run that is ended goes on with the same ``--kept``.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median
from typing import Any, NamedTuple

from rapidfuzz.distance import Levenshtein

import whence
from bench.common import markdown
from bench.faults import each_fault, fault_options, was_measured
from corpus import corpus
from whence.errors import WhenceError
from whence.investigation.clock import BUDGET

LARGE = 2000  # aligned points
IDEAL, DEFAULT, HIERARCHICAL, SWITCH = "ideal", "default", "hierarchical", "switch"
PATCHED = ("program", "cases", "switch", "only rule", "only pair", "only case", "switched", "patched")


@dataclass(slots=True)
class Chain:
    """A chain's steps (what tells an executed instruction), and what it took; ``error``: why there is none."""

    steps: list[str] = field(default_factory=list)
    has_root: bool = False
    tests: int = 0
    seconds: float = 0.0
    whole: float = 0.0
    points: int = 0
    kind: str = ""
    lines: int = 0
    incomplete: bool = False
    error: str = ""

    def coverage(self, ideal: Chain) -> float:
        """The share of the ideal chain's steps that it has."""
        return len(set(self.steps) & set(ideal.steps)) / len(set(ideal.steps)) if ideal.steps else 1.0

    def relevance(self, ideal: Chain) -> float:
        """The share of its steps that the ideal chain has."""
        return len(set(self.steps) & set(ideal.steps)) / len(set(self.steps)) if self.steps else 0.0


@dataclass(slots=True)
class Row:
    """One failing case of a fault: its chains by reference; ``error``: why there is not even the ideal one."""

    program: str
    fault: str
    case: str = ""
    chains: dict[str, Chain] = field(default_factory=dict)
    error: str = ""


@dataclass(slots=True)
class Rows:
    """The cases of one fault."""

    program: str
    fault: str
    rows: list[Row]
    error: str = ""


class Choice(NamedTuple):
    """What is measured of each fault, and with what."""

    references: tuple[str, ...]
    cases: int  # failing ones, the first
    processes: int | None  # of each chain (None: one a processor)
    budget: float  # seconds of a chain


def measure(program: str, number: int, choice: Choice) -> Rows:
    """The chains of a fault's first failing cases."""
    fault = corpus.faults(program)[number]
    with tempfile.TemporaryDirectory(prefix="whence-bench-") as name:
        folder, good = prepared(fault, Path(name))
        rows = [_measured(fault, folder, good, case, choice) for case in first_failing(folder, choice.cases)]
    return Rows(program, fault.id, rows)


def prepared(fault: corpus.Fault, at: Path) -> tuple[Path, Path]:
    """A folder with a faulty program and its cases, and one with the program without the fault."""
    folder, good = at / "faulty", at / "good"
    corpus.prepare(fault, folder)
    corpus.prepare(fault, good)
    (good / f"{fault.program}.c").write_text(corpus.source_path(fault.program).read_text())
    return folder, good


def first_failing(folder: Path, cases: int) -> list[str]:
    """The names of a program's first failing cases."""
    with whence.open(folder) as project:
        runs = project.investigation.runs
        return [runs.tested[row].case.name for row in runs.failing[:cases]]


def _measured(fault: corpus.Fault, folder: Path, good: Path, case: str, choice: Choice) -> Row:
    """All chains of one case."""
    row = Row(fault.program, fault.id, case)
    with whence.open(folder, whence.Setup(case=case, workers=choice.processes)) as project:

        def chain(reference: Path | str | None, algorithm: str = "dependence") -> Chain:
            technique = whence.FailureInducingChain(algorithm=algorithm, reference=reference)
            return chain_of(project, fault, technique, choice.budget)

        row.chains[IDEAL] = ideal = chain(good)
        if not ideal.steps:
            row.error = f"{case}: no ideal chain: {ideal.error or 'it is empty'}"
            return row
        for name in choice.references:
            reference = None if name in (DEFAULT, HIERARCHICAL) else name
            row.chains[name] = chain(reference, HIERARCHICAL if name == HIERARCHICAL else "dependence")
    return row


def chain_of(
    project: whence.Project, fault: corpus.Fault, technique: whence.FailureInducingChain, budget: float
) -> Chain:
    """The chain of a project's case, measured."""
    began = time.perf_counter()
    try:
        part: dict[str, Any] = project.find(technique, budget).parts["chain"]
    except WhenceError as error:
        return Chain(error=str(error), whole=time.perf_counter() - began)
    steps = part["steps"]
    keys = [str(s["event"]) if s["event"] >= 0 else f"{s['file']}:{s['line']}:{s['text']}" for s in steps]
    lines = [s["line"] for s in steps]
    has_root = any(line in fault.lines for line in lines)
    return Chain(
        keys,
        has_root,
        part["tests"],
        part["seconds"],
        time.perf_counter() - began,
        part["points"],
        part["reference"]["kind"],
        len(set(lines)),
        bool(part["incomplete"]),
    )


# ---- Tables ----------------------------------------------------------------------------------------------------------


def table(rows: Sequence[Row], name: str) -> Iterator[list[str]]:
    """Table 3 for one kind of reference run: each program's best and worst half."""
    for program in dict.fromkeys(row.program for row in rows):
        yield from halves([row for row in rows if row.program == program], program, name)
    yield from halves(rows, "all", name)


def halves(rows: Sequence[Row], title: str, name: str) -> Iterator[list[str]]:
    """Two rows: the half of the cases that are covered best, and the other one."""
    known = [row for row in rows if row.chains[name].steps]
    known.sort(key=lambda row: -row.chains[name].coverage(row.chains[IDEAL]))
    half = (len(known) + 1) // 2
    for part, which in ((known[:half], "best"), (known[half:], "worst")):
        if not part:
            continue
        pairs = [(row.chains[name], row.chains[IDEAL]) for row in part]
        yield [
            title,
            which,
            str(len(part)),
            f"{mean(len(i.steps) for _, i in pairs):.1f}",
            f"{mean(len(c.steps) for c, _ in pairs):.1f}",
            f"{mean(c.coverage(i) for c, i in pairs):.1%}",
            f"{mean(c.relevance(i) for c, i in pairs):.1%}",
            f"{mean(Levenshtein.distance(c.steps, i.steps) for c, i in pairs):.1f}",
            f"{sum(c.has_root for c, _ in pairs)}",
            f"{median(c.tests for c, _ in pairs):.0f}",
            f"{median(c.seconds for c, _ in pairs):.2f}",
            f"{median(c.whole for c, _ in pairs):.1f}",
        ]


TITLES = ("program", "half", "cases", "ideal", "approx", "coverage", "relevance", "distance", "roots", "tests")
TITLES += ("seconds", "whole")


def main() -> int:
    """Print the tables."""
    parser = fault_options(__doc__)
    parser.add_argument("--references", default=f"{DEFAULT},{HIERARCHICAL}", help="kinds of reference runs")
    parser.add_argument("--budget", type=float, default=BUDGET, help="seconds of a chain (those of `whence chain`)")
    parser.add_argument("--cases", type=int, default=4, help="failing cases of a fault")
    options = parser.parse_args()
    references = tuple(options.references.split(","))
    choice = Choice(references, options.cases, None if options.workers == 1 else 1, options.budget)
    rows: list[Row] = []
    for found in each_fault(options, measure, choice):
        rows += [row for row in found.rows if was_measured(row, _detail if options.details else None)]
    for name in (IDEAL, *references):
        print(f"\n{name}:\n" + markdown(TITLES, list(table(rows, name))))
        print(_totals(rows, name, options.budget))
    if HIERARCHICAL in references:
        print(_compared(rows))
    if {DEFAULT, SWITCH} <= {*references}:
        print("\n" + markdown(PATCHED, list(patched(rows))))
    return 0


def patched(rows: Sequence[Row]) -> Iterator[list[str]]:
    """Table 2: of each program's cases those that a critical predicate patches, and those that only others do."""
    programs = list(dict.fromkeys(row.program for row in rows))
    for title, some in (*((p, [r for r in rows if r.program == p]) for p in programs), ("all", rows)):
        switched = [row for row in some if row.chains[SWITCH].kind]
        others = [row.chains[DEFAULT].kind for row in some if not row.chains[SWITCH].kind]
        counts = [others.count(kind) for kind in ("rule", "pair", "case")]
        share = [len(switched) / len(some), (len(switched) + sum(counts[:2])) / len(some)]
        yield [title, str(len(some)), str(len(switched)), *map(str, counts), *(f"{part:.0%}" for part in share)]


def _detail(row: Row) -> str:
    ideal = row.chains[IDEAL]
    told = ", ".join(
        f"{name} {chain.kind} {len(chain.steps)} ({chain.coverage(ideal):.0%}, {chain.relevance(ideal):.0%}"
        f"{', root' if chain.has_root else ''})"
        if chain.steps
        else f"{name}: none {chain.error}"
        for name, chain in row.chains.items()
    )
    return f"{row.program} {row.fault} {row.case}: {told}"


def _totals(rows: Sequence[Row], name: str, budget: float) -> str:
    chains = [row.chains[name] for row in rows]
    kinds = [chain.kind for chain in chains if chain.steps]
    told = ", ".join(f"{kind} {kinds.count(kind)}" for kind in dict.fromkeys(kinds))
    lost = len(chains) - len(kinds)
    incomplete = sum(chain.incomplete for chain in chains)
    return f"{len(kinds)} chains ({told}), {lost} cases without, {incomplete} not complete in {budget:.0f} s"


def _compared(rows: Sequence[Row]) -> str:
    """Algorithm 2's time as a share of Algorithm 1's, on long runs and on all."""
    pairs = [(row.chains[DEFAULT], row.chains[HIERARCHICAL]) for row in rows]
    pairs = [(a, b) for a, b in pairs if a.steps and b.steps and b.seconds]
    large = [(a, b) for a, b in pairs if b.points > LARGE]
    same = sum(a.steps == b.steps for a, b in pairs)
    told = [f"equal chains in {same} of {len(pairs)}"]
    for which, some in (("all", pairs), (f"above {LARGE:,} aligned points", large)):
        if some:
            share = median(a.seconds / b.seconds for a, b in some)
            told.append(f"{which} ({len(some)}): Algorithm 2 takes {share:.0%} of Algorithm 1's time in the median")
    return "; ".join(told)


if __name__ == "__main__":
    raise SystemExit(main())
