"""Slices grown along implicit dependences, on the corpus: which faults come in, and how large the slices get.

    python -m bench.implicit [--every N] [--workers N] [--seconds S] [--details] [PROGRAM ...]

For each fault the shortest failing run is sliced from its symptom: as it is (plain), grown along the implicit
dependences that switched runs confirm (verified), and grown along all potential ones without verifying (all). A fault
is in a slice when one of its lines is. Sizes are lines. A fault is in a condition when one of its lines has a branch.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.faults import each_fault, fault_options, was_measured  # noqa: E402
from corpus import corpus  # noqa: E402

WAYS = ("plain", "verified", "all")
HEADER = (
    "program",
    "faults",
    "in slice: plain / verified / all",
    "lines: plain / verified / all",
    "candidates",
    "switched",
    "verified",
    "seconds",
)


@dataclass(slots=True)
class Row:
    """One fault's slices: ``lines`` and ``inside`` by way."""

    program: str
    fault: str
    kind: str
    in_condition: bool = False
    lines: dict[str, int] = field(default_factory=dict)
    inside: dict[str, bool] = field(default_factory=dict)
    candidates: int = 0
    tried: int = 0
    verified: int = 0
    stopped: bool = False
    seconds: float = 0.0
    error: str = ""


def measure(program: str, number: int, seconds: float) -> Row:
    """The slices of one fault."""
    from whence.errors import WhenceError

    fault = corpus.faults(program)[number]
    row = Row(program, fault.id, fault.kind)
    try:
        with tempfile.TemporaryDirectory(prefix="whence-bench-") as name:
            _measure(fault, Path(name), row, seconds)
    except WhenceError as error:
        row.error = str(error)
    return row


def _measure(fault: corpus.Fault, folder: Path, row: Row, seconds: float) -> None:
    """Fill the row from the folder made for the fault."""
    from whence.alter.session import Session
    from whence.dependence.slices import by_line, compute, symptom_start
    from whence.probe.instrument import Variant
    from whence.probe.layout import Kind
    from whence.run.config import read_config
    from whence.run.symptom import find_symptom
    from whence.subject.recorder import Recorder
    from whence.subject.runs import blocks_executed, run_all
    from whence.subject.subject import subject_from_config
    from whence.subject.trace_reader import TraceReader
    from whence.techniques.predicate_switching.implicit_dependences import grow
    from whence.trace.slicing import Slice

    corpus.prepare(fault, folder)
    subject = subject_from_config(read_config(folder))
    runs = run_all(subject)
    lengths = blocks_executed(subject, runs)
    chosen = runs.tested[min(runs.failing, key=lambda n: (lengths[n] == 0, lengths[n]))]
    with Recorder(subject) as recorder:
        recording = recorder.record(chosen.case, chosen.outcome)
    symptom = find_symptom(recording.trace, recording.result, recording.outcome, subject.folder)
    reader, start = TraceReader(subject, recording.trace), symptom_start(symptom)

    branches = reader.statement_numbers[reader.trace.plan.sites["kind"][:-1] == Kind.BRANCH]
    row.in_condition = any(n >= 0 and reader.statements[n].line in fault.lines for n in set(branches.tolist()))

    def note(way: str, found: Slice) -> None:
        lines = {statement.line for statement in by_line(reader, found).statements}
        row.lines[way], row.inside[way] = len(lines), not lines.isdisjoint(fault.lines)

    note("plain", compute(reader.trace, start.references))
    note("all", grow(reader, start, None, symptom).found)
    with Session(subject, chosen.case) as session:
        session.observe(0)
        subject.variant(Variant.REPLAY)
        began = time.perf_counter()
        growth = grow(reader, start, session, symptom, deadline=time.monotonic() + seconds)
        row.seconds = time.perf_counter() - began
    note("verified", growth.found)
    row.candidates, row.tried, row.stopped = growth.candidates, growth.tried, growth.stopped
    row.verified = len(growth.dependences)


def table(rows: list[Row]) -> Iterable[str]:
    """The results as a Markdown table: a line a program, one for all, and two for the faults that plain slices miss."""
    yield "| " + " | ".join(HEADER) + " |"
    yield "| --- |" + " ---: |" * (len(HEADER) - 1)
    for name in sorted({row.program for row in rows}):
        yield _line(name, [row for row in rows if row.program == name])
    yield _line("all", rows)
    outside = [row for row in rows if not row.inside["plain"]]
    yield _line("outside of the plain slice", outside)
    yield _line("of these in conditions", [row for row in outside if row.in_condition])


def _line(name: str, rows: list[Row]) -> str:
    if not rows:
        return f"| {name} | 0 |" + " |" * (len(HEADER) - 2)
    cells = [
        name,
        str(len(rows)),
        " / ".join(str(sum(row.inside[way] for row in rows)) for way in WAYS),
        " / ".join(f"{mean(row.lines[way] for row in rows):.1f}" for way in WAYS),
        f"{mean(row.candidates for row in rows):.0f}",
        f"{mean(row.tried for row in rows):.0f}",
        f"{mean(row.verified for row in rows):.0f}",
        f"{mean(row.seconds for row in rows):.1f}",
    ]
    return "| " + " | ".join(cells) + " |"


def _detail(row: Row) -> str:
    sizes = ", ".join(f"{way} {row.lines[way]}{' (in)' if row.inside[way] else ''}" for way in WAYS)
    work = f"{row.candidates} candidates, {row.tried} switched, {row.verified} verified, {row.seconds:.1f} s"
    return f"{row.program} {row.fault} ({row.kind}): {sizes}; {work}" + (", stopped" if row.stopped else "")


def main() -> None:
    """Measure, and print the table and what could not be measured."""
    parser = fault_options(__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="budget of one fault")
    options = parser.parse_args()
    measured = each_fault(options, measure, options.seconds)
    rows = [row for row in measured if was_measured(row, _detail if options.details else None)]
    print("\n".join(table(rows)))
    stopped = sum(row.stopped for row in rows)
    if stopped:
        print(f"\n{stopped} of {len(rows)} searches were stopped by their budget of {options.seconds:g} s")


if __name__ == "__main__":
    main()
