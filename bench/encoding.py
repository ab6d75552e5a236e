"""Runs as terms, against what was recorded: on the corpus, faulty versions, whole runs and slices.

    python -m bench.encoding [--faults N] [--every K] [PROGRAM ...]

Of each program the first N faults (default 2) and of their cases every K-th (default 40) are recorded and encoded, as a
whole and the backward slice from the last output. Every instance's term is compared with the recorded value:
*unexplained* ones differ, *undecided* ones have no value. *Taken* is the share of instances whose values are no terms
of the inputs: memory that nothing recorded wrote, instructions that are not modelled, and results of library functions
without a summary, those that print left out. Instances a second are of the processor's time, the compiling of steps
included; one encoder serves all runs of a version.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.common import markdown  # noqa: E402
from bench.faults import positive  # noqa: E402
from corpus import corpus  # noqa: E402

if TYPE_CHECKING:
    from whence.formula.encoder import Encoder, Inputs
    from whence.formula.encoding import Encoding
    from whence.run.cases import Case
    from whence.trace.trace import Trace

HEADER = ("program", "runs", "instances", "a second", "of slices", "a second", "unexplained", "undecided", "taken %")
PRINTING = frozenset({"printf", "putchar", "puts", "fputs", "fprintf", "vfprintf", "fputc", "write"})


@dataclass(slots=True)
class Row:
    """What was counted for one program."""

    program: str
    runs: int = 0
    instances: int = 0
    sliced: int = 0
    seconds: float = 0.0
    slice_seconds: float = 0.0
    unexplained: int = 0
    undecided: int = 0
    taken: int = 0
    notes: Counter[str] = field(default_factory=Counter)

    def cells(self) -> tuple[str, ...]:
        """The row of the table."""
        return (
            self.program,
            str(self.runs),
            f"{self.instances:,}",
            f"{self.instances / self.seconds:,.0f}",
            f"{self.sliced:,}",
            f"{self.sliced / self.slice_seconds:,.0f}",
            str(self.unexplained),
            str(self.undecided),
            f"{100 * self.taken / self.instances:.2f}",
        )


def main() -> int:
    """Print the table, and what was taken as recorded."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", default=corpus.programs(), metavar="PROGRAM")
    parser.add_argument("--faults", type=int, default=2, metavar="N")
    parser.add_argument("--every", type=positive, default=40, metavar="K")
    arguments = parser.parse_args()
    rows = [measure(name, arguments.faults, arguments.every) for name in arguments.programs]
    print(markdown(HEADER, [row.cells() for row in rows]))
    notes: Counter[str] = sum((row.notes for row in rows), Counter())
    print("\n".join(f"{count:8,}  {note}" for note, count in notes.most_common()))
    return 0


def measure(name: str, faults: int, every: int) -> Row:
    """One program's row."""
    from whence.formula.encoder import Encoder
    from whence.run.config import read_config
    from whence.subject.recorder import Recorder
    from whence.subject.subject import subject_from_config

    row = Row(name)
    for fault in corpus.faults(name)[:faults]:
        with tempfile.TemporaryDirectory() as folder:
            corpus.prepare(fault, Path(folder))
            subject = subject_from_config(read_config(Path(folder)))
            encoder = Encoder(subject.program, subject.plan)
            with Recorder(subject) as recorder:
                for case in subject.cases[::every]:
                    trace = recorder.record(case).trace
                    _measure_run(row, encoder, trace, _inputs(case))
    return row


def _inputs(case: Case) -> Inputs:
    from whence.formula.encoder import Inputs

    stdin = case.stdin.read_bytes() if isinstance(case.stdin, Path) else case.stdin or b""
    return Inputs(tuple(case.arguments), stdin)


def _measure_run(row: Row, encoder: Encoder, trace: Trace, inputs: Inputs) -> None:
    from whence.trace.columns import N_OUT
    from whence.trace.slicing import backward_slice

    began = time.process_time()
    encoding = encoder.encode(trace, inputs)
    row.seconds += time.process_time() - began
    row.runs += 1
    row.instances += len(encoding.instances)
    _count(row, encoding)
    outputs = trace.columns.outs[: trace.columns.counts[N_OUT]]["event"]
    if len(outputs):
        events = backward_slice(trace.plan, trace.columns, np.array([int(outputs[-1]) + 1])).events
        began = time.process_time()
        sliced = encoder.encode(trace, inputs, events)
        row.slice_seconds += time.process_time() - began
        row.sliced += len(sliced.instances)
        row.unexplained += len(sliced.unexplained)


def _count(row: Row, encoding: Encoding) -> None:
    from whence.formula.encoding import SymbolKind

    known = [(i.value, encoding.evaluation.value(i.term)) for i in encoding.instances if i.value is not None]
    row.unexplained += len(encoding.unexplained) + sum(found not in (value, None) for value, found in known)
    row.undecided += sum(found is None for _, found in known)
    for kind in (SymbolKind.INITIAL, SymbolKind.OPAQUE, SymbolKind.LIBRARY, SymbolKind.FREE):
        for symbol in encoding.of_kind(kind):
            made = encoding.symbols[symbol].name
            row.taken += made not in PRINTING and encoding.evaluation.value(symbol) is not None
    row.notes += encoding.notes


if __name__ == "__main__":
    sys.exit(main())
