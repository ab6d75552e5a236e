"""Cause trees on the corpus: whether the root cause is in them, on which level, and how many lines lead to it.

    python -m bench.causes [--every N] [--offset K] [--depth N] [--budget S] [--workers N] [--details] [PROGRAM ...]

For each fault the shortest failing run is recorded and its tree opened to the depth. Shares are of the run's
events: those in the opened causes, and those of the dynamic slice from the symptom (data and control).
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.common import markdown  # noqa: E402
from bench.faults import each_fault, fault_options, was_measured  # noqa: E402
from corpus import corpus  # noqa: E402

OPTIMISATIONS = ("slices", "loops", "prunes")
HEAD = [
    "program",
    "faults",
    "in tree / in slice",
    "level (median, worst)",
    "lines to read (median, mean)",
    "rank (median)",
    "share: tree / slice, %",
    "lines: tree / slice",
    "events (median)",
    "seconds (median, worst)",
    "queries (median)",
]


@dataclass(slots=True)
class Row:
    """One fault; ``level`` is -1 where no line of it is in the tree."""

    program: str
    fault: str
    kind: str
    level: int = -1
    to_read: int = 0
    rank: int = 0
    in_slice: bool = False
    share: float = 0.0
    slice_share: float = 0.0
    lines: int = 0
    slice_lines: int = 0
    events: int = 0
    nodes: int = 0
    queries: int = 0
    undecided: int = 0
    seconds: float = 0.0
    solving: float = 0.0
    symptom: str = ""
    error: str = ""


def measure(program: str, number: int, depth: int, budget: float, off: frozenset[str]) -> Row:
    """The tree of one fault; what cannot be measured says why."""
    from whence.errors import WhenceError

    fault = corpus.faults(program)[number]
    row = Row(program, fault.id, fault.kind)
    try:
        with tempfile.TemporaryDirectory(prefix="whence-bench-") as name:
            _measure(fault, Path(name), row, depth, budget, off)
    except WhenceError as error:
        row.error = str(error)
    return row


def _measure(fault: corpus.Fault, folder: Path, row: Row, depth: int, budget: float, off: frozenset[str]) -> None:
    import numpy as np

    from whence.run.config import read_config
    from whence.subject.recorder import Recorder
    from whence.subject.runs import blocks_executed, run_all
    from whence.subject.story import Story
    from whence.subject.subject import subject_from_config
    from whence.subject.symptoms import symptom_of
    from whence.techniques.causes.causes import Options, build, ranked
    from whence.techniques.causes.told import Told
    from whence.techniques.locate import symptom_start
    from whence.techniques.slicing import by_line, compute

    corpus.prepare(fault, folder)
    subject = subject_from_config(read_config(folder))
    runs = run_all(subject)
    lengths = blocks_executed(subject, runs)
    chosen = runs.tested[min(runs.failing, key=lambda n: (lengths[n] == 0, lengths[n]))]
    with Recorder(subject) as recorder:
        recording = recorder.record(chosen.case, chosen.outcome)
    symptom = symptom_of(recording, subject.folder)
    story = Story(subject, recording.trace)
    found = compute(story.trace, symptom_start(symptom).references)
    slice_lines = by_line(story, found).statements
    row.slice_lines, row.symptom = len(slice_lines), symptom.kind
    row.in_slice = any(s.line in fault.lines for s in slice_lines)
    row.events, row.slice_share = story.trace.events, 100 * len(found.events) / story.trace.events

    slices, loops, prunes = (name not in off for name in OPTIMISATIONS)
    options = Options(depth=depth, budget=budget, slices=slices, loops=loops, prunes=prunes)
    built = build(story, symptom, recording, options)
    opened = [node for node in built.tree.nodes if node.children is not None]
    causes = [cause for node in opened for cause in node.causes]
    levels, lines = ranked(Told(built.tree), depth)
    row.seconds, row.solving = built.seconds, built.decider.seconds
    row.queries, row.nodes, row.lines = built.decider.queries, len(opened), len(lines)
    row.undecided = sum(not cause.contradiction.is_decided for cause in causes)
    row.share = 100 * len(np.unique(np.concatenate([c.events for c in causes]))) / row.events if causes else 0.0
    order = sorted(lines, key=lambda s: (levels[s], len(lines[s].way)))
    faulty = [s for s in order if s.line in fault.lines]
    if faulty:
        best = faulty[0]
        key = (levels[best], len(lines[best].way))
        row.level, row.to_read = key
        row.rank = sum((levels[s], len(lines[s].way)) <= key for s in order)


def table(rows: Sequence[Row]) -> Iterator[list[str]]:
    """A line a program, and one for all."""
    for name in [*sorted({row.program for row in rows}), "all"]:
        mine = [row for row in rows if name in (row.program, "all")]
        found = [row for row in mine if row.level >= 0]
        if not found:
            continue
        yield [
            name,
            str(len(mine)),
            f"{len(found)} / {sum(row.in_slice for row in mine)}",
            f"{median(row.level for row in found):g}, {max(row.level for row in found)}",
            f"{median(row.to_read for row in found):g}, {mean(row.to_read for row in found):.1f}",
            f"{median(row.rank for row in found):g}",
            f"{mean(row.share for row in mine):.1f} / {mean(row.slice_share for row in mine):.1f}",
            f"{mean(row.lines for row in mine):.1f} / {mean(row.slice_lines for row in mine):.1f}",
            f"{median(row.events for row in mine):,.0f}",
            f"{median(row.seconds for row in mine):.2f}, {max(row.seconds for row in mine):.1f}",
            f"{median(row.queries for row in mine):g}",
        ]


def told(row: Row) -> str:
    """A line a fault."""
    return (
        f"{row.program} {row.fault} ({row.kind}, {row.symptom}): level {row.level}, {row.to_read} lines, "
        f"rank {row.rank} of {row.lines}, slice: {row.in_slice} of {row.slice_lines}, {row.nodes} nodes, "
        f"{row.events:,} events, {row.seconds:.2f} s ({row.solving:.2f} s solving {row.queries}, "
        f"{row.undecided} undecided)"
    )


def main() -> None:
    """Measure, and print the table and what could not be measured."""
    parser = fault_options(__doc__)
    parser.add_argument("--depth", type=int, default=8)
    parser.add_argument("--budget", type=float, default=60.0, help="seconds that each tree may take")
    parser.add_argument("--off", action="append", default=[], choices=OPTIMISATIONS)
    options = parser.parse_args()
    rows = each_fault(options, measure, options.depth, options.budget, frozenset(options.off))
    found = [row for row in rows if was_measured(row, told if options.details else None)]
    print(markdown(HEAD, list(table(found))))


if __name__ == "__main__":
    main()
