"""Cause trees on the corpus: whether the root cause is in them, on which level, and how many lines lead to it.

    python -m bench.causes [--every N] [--offset K] [--depth N] [--budget S] [--workers N] [--details] [PROGRAM ...]
    python -m bench.causes --optimisations [...]

For each fault the shortest failing run is recorded and its tree opened to the depth. Beside it stand the dynamic slice
from the symptom (data and control) and the relevant one (potential dependence as well), as in table V of Yi et al.
Shares are of all recorded events, and of those of the subject's own code, which have a statement. With
``--optimisations`` the tree is made again without each of the optimisations of section 4, as in tables VI to VIII.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.common import markdown  # noqa: E402
from bench.faults import each_fault, fault_options, was_measured  # noqa: E402
from corpus import corpus  # noqa: E402

if TYPE_CHECKING:
    from whence.findings import Statement, Symptom
    from whence.subject.recorder import Recording
    from whence.subject.subject import Subject
    from whence.subject.trace_reader import TraceReader
    from whence.techniques.cause_tree.findings import Built

OPTIMISATIONS = ("slices", "loops", "prunes")
LEFT_OUT = {"nothing": (), **{name: (name,) for name in OPTIMISATIONS}, "all three": OPTIMISATIONS}


@dataclass(slots=True, frozen=True)
class Part:
    """Some of a run's events: whether a faulty line is there, the shares in percent, the lines, seconds to find it."""

    holds: bool
    share: float
    own_share: float
    lines: int
    seconds: float


@dataclass(slots=True, frozen=True)
class Grown:
    """A tree beside its fault.

    ``level`` is -1 where no faulty line is in it. ``part`` is what is in the whole tree, ``near`` in the levels down to
    the root cause's (of all where it has none). ``lines`` counts its lines, with calls, neighbours and declarations.
    """

    level: int
    to_read: int
    rank: int
    lines: int
    part: Part
    near: Part
    nodes: int
    undecided: int
    queries: int
    conditions: int
    stopped: str
    encoding: float
    walking: float
    solving: float


@dataclass(slots=True)
class Figures:
    """A failing run: its slices, and its trees by what was left out of the optimisations."""

    symptom: str
    events: int
    own: int
    dynamic: Part
    relevant: Part
    trees: dict[str, Grown]

    @property
    def tree(self) -> Grown:
        """The tree with nothing left out, or the only one."""
        return next(iter(self.trees.values()))


@dataclass(slots=True)
class Row:
    """One fault; ``error`` says why it has no figures."""

    program: str
    fault: str
    kind: str
    figures: Figures = field(init=False)
    error: str = ""


# ---- One fault -------------------------------------------------------------------------------------------------------


def measure(program: str, number: int, depth: int, budget: float, variants: dict[str, Sequence[str]]) -> Row:
    """The trees of one fault; what cannot be measured says why."""
    from whence.errors import WhenceError
    from whence.run.config import read_config
    from whence.subject.subject import subject_from_config

    fault = corpus.faults(program)[number]
    row = Row(program, fault.id, fault.kind)
    try:
        with tempfile.TemporaryDirectory(prefix="whence-bench-") as name:
            corpus.prepare(fault, Path(name))
            subject = subject_from_config(read_config(Path(name)))
            row.figures = figures_of(subject, lambda at: at.line in fault.lines, depth, budget, variants)
    except WhenceError as error:
        row.error = str(error)
    return row


def figures_of(
    subject: Subject, faulty: Callable[[Statement], bool], depth: int, budget: float, variants: dict[str, Sequence[str]]
) -> Figures:
    """The figures of a subject's shortest failing run; raises what building, recording and trees raise."""
    from whence.subject.recorder import Recorder
    from whence.subject.runs import blocks_executed, run_all
    from whence.subject.symptoms import symptom_of
    from whence.subject.trace_reader import TraceReader

    runs = run_all(subject)
    lengths = blocks_executed(subject, runs)
    chosen = runs.tested[min(runs.failing, key=lambda n: (lengths[n] == 0, lengths[n]))]
    with Recorder(subject) as recorder:
        recording = recorder.record(chosen.case, chosen.outcome)
    symptom = symptom_of(recording, subject.folder)
    measured = _Measured(TraceReader(subject, recording.trace), symptom, recording, faulty)
    return measured.figures(depth, budget, variants)


@dataclass(slots=True)
class _Measured:
    """A recorded failing run beside its fault."""

    reader: TraceReader
    symptom: Symptom
    recording: Recording
    faulty: Callable[[Statement], bool]

    def figures(self, depth: int, budget: float, variants: dict[str, Sequence[str]]) -> Figures:
        import numpy as np

        from whence.dependence.critical_conditions import Influence
        from whence.trace.slicing import backward_slice

        trace, start = self.reader.trace, list(self.symptom.details.get("criteria", []))
        criteria = np.array(start, np.int64)
        return Figures(
            self.symptom.kind,
            trace.events,
            self._own(np.arange(trace.events)),
            self._slice(lambda: backward_slice(trace.plan, trace.columns, criteria)),
            self._slice(lambda: Influence(self.reader).relevant_slice(start)),
            {name: self._grown(depth, budget, off) for name, off in variants.items()},
        )

    def _slice(self, found: Callable[[], Any]) -> Part:
        began = time.perf_counter()
        events = found().events
        return self._part(events, time.perf_counter() - began)

    def _grown(self, depth: int, budget: float, off: Sequence[str]) -> Grown:
        """The tree with some optimisations left out."""
        from whence.techniques.cause_tree.explanation import Explanation
        from whence.techniques.cause_tree.findings import Options, build, ranked

        kept: dict[str, Any] = {name: name not in off for name in OPTIMISATIONS}
        began = time.perf_counter()
        built = build(self.reader, self.symptom, self.recording, Options(depth=depth, budget=budget, **kept))
        levels, lines = ranked(Explanation(built.tree), built.tree.opened(depth))
        seconds = time.perf_counter() - began
        keys = {s: (levels[s], len(lines[s].way)) for s in lines}
        level, to_read = min((keys[s] for s in keys if self.faulty(s)), default=(-1, 0))
        nodes = [node for node in built.tree.nodes if node.children is not None]
        return Grown(
            level,
            to_read,
            sum(key <= (level, to_read) for key in keys.values()),
            len(keys),
            self._part(_events(built, depth), seconds),
            self._part(_events(built, level if level >= 0 else depth), seconds),
            len(nodes),
            sum(not cause.contradiction.is_decided for node in nodes for cause in node.causes),
            built.decider.queries,
            built.decider.conditions,
            built.tree.stopped,
            built.seconds.encoding,
            built.seconds.walking,
            built.seconds.solving,
        )

    def _part(self, events: Any, seconds: float) -> Part:
        reader, all_events = self.reader, self.reader.trace.events
        import numpy as np

        numbers = np.unique(reader.statement_numbers[reader.sites(events)])
        statements = [reader.statements[number] for number in numbers.tolist() if number >= 0]
        own = 100 * self._own(events) / max(1, self._own(np.arange(all_events)))
        holds = any(self.faulty(statement) for statement in statements)
        return Part(holds, 100 * len(events) / all_events, own, len(statements), seconds)

    def _own(self, events: Any) -> int:
        """How many of some events are of the subject's own code."""
        return int((self.reader.statement_numbers[self.reader.sites(events)] >= 0).sum())


def _events(built: Built, depth: int) -> Any:
    """The events in the causes of a tree down to a level."""
    import numpy as np

    nodes = [node for node in built.tree.nodes if node.children is not None and node.level <= depth]
    found = [cause.events for node in nodes for cause in node.causes]
    return np.unique(np.concatenate([np.zeros(0, np.int64), *found]))


# ---- Tables ----------------------------------------------------------------------------------------------------------

ROOTS = [
    "program",
    "faults",
    "in tree / dynamic slice / relevant slice",
    "level (median, worst)",
    "at level 3 or less",
    "lines to read (median, mean)",
    "with at most 8",
    "rank (median)",
    "events (median)",
    "seconds (median, worst)",
    "queries (median)",
]
SHARES = [
    "share",
    "to the root's level",
    "tree, eight levels",
    "dynamic slice",
    "relevant slice",
]
TURNS = [
    "left out",
    "in tree",
    "level (median)",
    "share, %",
    "lines",
    "walks, s (mean)",
    "solver, s (mean)",
    "seconds (mean, median, worst)",
    "queries (mean)",
    "constraints (mean)",
    "stopped",
]


def root_table(rows: Sequence[tuple[str, Figures]]) -> Iterator[list[str]]:
    """Root causes: a line a program (the first of each pair), and one for all."""
    for name in [*sorted({program for program, _ in rows}), "all"]:
        mine = [figures for program, figures in rows if name in (program, "all")]
        found = [figures.tree for figures in mine if figures.tree.level >= 0]
        if not found:
            continue
        yield [
            name,
            str(len(mine)),
            f"{len(found)} / {sum(f.dynamic.holds for f in mine)} / {sum(f.relevant.holds for f in mine)}",
            f"{median(tree.level for tree in found):g}, {max(tree.level for tree in found)}",
            str(sum(tree.level <= 3 for tree in found)),
            f"{median(tree.to_read for tree in found):g}, {mean(tree.to_read for tree in found):.1f}",
            str(sum(tree.to_read <= 8 for tree in found)),
            f"{median(tree.rank for tree in found):g}",
            f"{median(figures.events for figures in mine):,.0f}",
            f"{median(f.tree.part.seconds for f in mine):.2f}, {max(f.tree.part.seconds for f in mine):.1f}",
            f"{median(figures.tree.queries for figures in mine):g}",
        ]


def share_table(figures: Sequence[Figures]) -> Iterator[list[str]]:
    """What trees and slices hold, the mean of all runs: of everything recorded, of the subject's own code; lines."""
    kinds: list[Callable[[Figures], Part]] = [
        lambda f: f.tree.near,
        lambda f: f.tree.part,
        lambda f: f.dynamic,
        lambda f: f.relevant,
    ]
    told: dict[str, Callable[[Part], float]] = {
        "of everything recorded, %": lambda part: part.share,
        "of the subject's own code, %": lambda part: part.own_share,
        "lines": lambda part: part.lines,
        "seconds": lambda part: part.seconds,
    }
    for name, figure in told.items():
        yield [name, *(f"{mean(figure(kind(f)) for f in figures):.2f}" for kind in kinds)]


def turn_table(figures: Sequence[Figures]) -> Iterator[list[str]]:
    """A line for what was left out."""
    for name in figures[0].trees:
        trees = [f.trees[name] for f in figures]
        found = [tree for tree in trees if tree.level >= 0]
        seconds = [tree.part.seconds for tree in trees]
        yield [
            name,
            str(len(found)),
            f"{median(tree.level for tree in found):g}" if found else "",
            f"{mean(tree.part.share for tree in trees):.1f}",
            f"{mean(tree.lines for tree in trees):.1f}",
            f"{mean(tree.walking for tree in trees):.2f}",
            f"{mean(tree.solving for tree in trees):.2f}",
            f"{mean(seconds):.2f}, {median(seconds):.2f}, {max(seconds):.1f}",
            f"{mean(tree.queries for tree in trees):.0f}",
            f"{mean(tree.conditions for tree in trees):,.0f}",
            str(sum(bool(tree.stopped) for tree in trees)),
        ]


def told(row: Row) -> str:
    """A line a fault."""
    return f"{row.program} {row.fault} ({row.kind}, {row.figures.symptom}): {figures_told(row.figures)}"


def figures_told(found: Figures) -> str:
    """The figures of one failing run in a line."""
    tree = found.tree
    return (
        f"level {tree.level}, {tree.to_read} lines, rank {tree.rank} of {tree.lines}, "
        f"dynamic: {found.dynamic.holds}, relevant: {found.relevant.holds}, {tree.nodes} nodes, "
        f"{found.events:,} events, {tree.part.seconds:.2f} s (encoding {tree.encoding:.2f}, walks {tree.walking:.2f}, "
        f"solving {tree.solving:.2f} for {tree.queries}), {tree.undecided} undecided"
    )


def variants_of(options: argparse.Namespace) -> dict[str, Sequence[str]]:
    """What is left out, by name, as the options say."""
    if options.optimisations:
        return dict(LEFT_OUT)
    return {", ".join(options.off) or "nothing": options.off}


def tree_options(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Options of the trees."""
    parser.add_argument("--depth", type=int, default=8)
    parser.add_argument("--budget", type=float, default=60.0, help="seconds that each tree may take")
    parser.add_argument("--off", action="append", default=[], choices=OPTIMISATIONS)
    parser.add_argument("--optimisations", action="store_true", help="without each of them, and without all")
    return parser


def print_tables(rows: Sequence[tuple[str, Figures]]) -> None:
    """All tables of some figures, each with its program."""
    figures = [found for _, found in rows]
    print(markdown(ROOTS, list(root_table(rows))))
    print()
    print(markdown(SHARES, list(share_table(figures))))
    if len(figures[0].trees) > 1:
        print()
        print(markdown(TURNS, list(turn_table(figures))))


def main() -> None:
    """Measure, and print the tables and what could not be measured."""
    options = tree_options(fault_options(__doc__)).parse_args()
    rows = each_fault(options, measure, options.depth, options.budget, variants_of(options))
    found = [row for row in rows if was_measured(row, told if options.details else None)]
    print_tables([(row.program, row.figures) for row in found])


if __name__ == "__main__":
    main()
