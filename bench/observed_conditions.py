"""Missing conditions: what observing the values at a faulty statement leaves of the edits that could be tried there.

    python -m bench.observed_conditions [--kind "missing condition"] [--every N] [--offset K] [PROGRAM ...]

Of each fault of the corpus of that kind: the edits that put in a condition which tells failing runs from passing ones
at all statements of the program, and at the faulty lines alone; with which of them all cases pass, and whether the
program without the fault is among them, token by token. Suites are those of ``bench.suites``.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.common import markdown  # noqa: E402
from bench.faults import positive  # noqa: E402
from bench.suites import opened  # noqa: E402
from corpus import corpus  # noqa: E402
from whence.program.source_edits import edited  # noqa: E402
from whence.subject.candidate_edits import CandidateRuns  # noqa: E402
from whence.techniques.bugfix.candidates import file_candidates  # noqa: E402
from whence.techniques.bugfix.observed_conditions import FAILING, observed_conditions  # noqa: E402
from whence.techniques.bugfix.suspects import Suspects  # noqa: E402

NEAR = 1  # lines around a faulty one that count as it: what is missing has no line
PATIENCE = 120.0  # seconds for observing, and for trying


@dataclass(frozen=True, slots=True)
class Seen:
    """What came of one fault: edits of the whole program and of the faulty lines, passing ones by line."""

    fault: str
    edits: int
    own: int
    passing: Counter[int]
    own_passing: int
    has_fix: bool
    observing: float
    trying: float


def seen(fault: corpus.Fault, seed: int = 1) -> Seen:
    """Observe, and try all edits that come of it."""
    with opened(fault, seed, float("inf")) as suite:
        suite.prepare()
        subject, runs = suite.investigation.subject, suite.investigation.runs
        rows = suite.investigation.failing_rows()[:FAILING]
        statements = [(one.file, one.line) for one in subject.places.statements]
        statements.sort(key=lambda at: min(abs(at[1] - line) for line in fault.lines))  # as a good ranking has them
        files = file_candidates(subject, [f"{fault.program}.c"])
        suspects, began = Suspects(files, statements, {}), time.monotonic()
        edits = observed_conditions(subject, runs, suspects, rows, began + PATIENCE).edits
        observed = time.monotonic()
        with CandidateRuns(subject, runs, observed + PATIENCE) as candidates:
            sieved = [one for batch in candidates.sieve(suspects.sources, edits, rows) for one in batch]
        tried = time.monotonic()
    good = b"".join(corpus.source_path(fault.program).read_bytes().split())
    passing = Counter(one.edit.line for one in sieved if one.passes(len(rows)) and one.ran)
    own = {line + step for line in fault.lines for step in range(-NEAR, NEAR + 1)}
    return Seen(
        f"{fault.program} {fault.id}",
        len(edits),
        sum(edit.line in own for edit in edits),
        passing,
        sum(count for line, count in passing.items() if line in own),
        any(b"".join(edited(files[edit.file].source, edit).split()) == good for edit in edits),
        observed - began,
        tried - observed,
    )


def table(found: Sequence[Seen]) -> str:
    """The sums and medians of all faults."""
    mended = [one for one in found if one.own_passing]
    only = sum(not (one.passing.total() - one.own_passing) for one in mended)
    most = sum(one.own_passing >= max(one.passing.total() - one.own_passing, 1) for one in mended)
    rows = [
        ["all cases pass with an edit at the faulty statement", f"{len(mended)} of {len(found)}"],
        ["... and with none of another statement", str(only)],
        ["... and with no more of all others together", str(most)],
        ["the real fix among the edits", str(sum(one.has_fix for one in found))],
        ["edits of the program, median", f"{median(one.edits for one in found):.0f}"],
        ["edits of the faulty statement, median", f"{median(one.own for one in found):.0f}"],
        ["seconds for observing, median", f"{median(one.observing for one in found):.1f}"],
        ["seconds for trying, median", f"{median(one.trying for one in found):.1f}"],
    ]
    return markdown(["figure", ""], rows)


def main() -> None:
    """Measure, and print a line a fault and the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", help="programs of the corpus (all)")
    parser.add_argument("--kind", default="missing condition", help="kind of faults")
    parser.add_argument("--every", type=positive, default=1, metavar="N", help="every Nth of them")
    parser.add_argument("--offset", type=int, default=0, metavar="K", help="of these, from this one on")
    options = parser.parse_args()
    faults = [one for name in options.programs or corpus.programs() for one in corpus.faults(name)]
    wanted = [one for one in faults if one.kind == options.kind][options.offset :: options.every]
    found = list[Seen]()
    for fault in wanted:
        found.append(seen(fault))
        print(found[-1], flush=True)
    print(table(found))


if __name__ == "__main__":
    main()
