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
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import whence  # noqa: E402
from bench.faults import each_fault, fault_options, was_measured  # noqa: E402
from corpus import corpus  # noqa: E402
from whence.errors import SubjectError, WhenceError  # noqa: E402
from whence.probe.instrument import Variant  # noqa: E402

if TYPE_CHECKING:
    from whence.findings import Findings

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
    corpus.prepare(fault, folder)
    with whence.open(folder) as project:
        investigation = project.investigation
        branches = (s.line for site in investigation.coverage.sites if site.side for s in site.statements)
        row.in_condition = not set(fault.lines).isdisjoint(branches)
        _note(row, fault, "plain", project.find(whence.Slicing()))
        _note(row, fault, "all", project.find(whence.RelevantSlicing(verify=False), float("inf")))
        for variant in (Variant.ALTER, Variant.REPLAY):
            investigation.build(variant)
        began = time.perf_counter()
        grown = project.find(whence.RelevantSlicing(), seconds)
        row.seconds = time.perf_counter() - began
    _note(row, fault, "verified", grown)
    if "implicit" not in grown.parts:
        raise SubjectError(grown.summary[-1])
    part = grown.parts["implicit"]
    row.candidates, row.tried, row.stopped = part["candidates"], part["switched"], part["stopped"]
    row.verified = part["verified"]


def _note(row: Row, fault: corpus.Fault, way: str, found: Findings) -> None:
    lines = {entry.statement.line for entry in found.ranking}
    row.lines[way], row.inside[way] = len(lines), not lines.isdisjoint(fault.lines)


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
