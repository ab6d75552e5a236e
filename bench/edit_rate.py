"""How many candidate edits are tried: made by the process whose threads run them, and by one of its own.

    python -m bench.edit_rate [--seconds S] PROGRAM:FAULT ...

Of faults of the corpus, by suspiciousness, as the search for a chain's reference run and `whence fix` try them.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import whence
from bench.common import markdown
from corpus import corpus
from whence.investigation.investigation import Investigation
from whence.run.ahead import made_ahead
from whence.subject.candidate_edits import CandidateRuns
from whence.subject.suspiciousness import rank_by_coverage
from whence.techniques.bugfix.candidates import file_candidates
from whence.techniques.bugfix.knowledge import known
from whence.techniques.bugfix.likelihood import fixes_made
from whence.techniques.bugfix.suspects import Suspects

STATEMENTS = 120  # of the ranking, the first ones
HEAD = ("fault", "statements", "made by", "tried", "with which all cases pass")


def rates(fault: corpus.Fault, seconds: float) -> Iterator[list[str]]:
    """The rows of a fault."""
    with tempfile.TemporaryDirectory() as name:
        corpus.prepare(fault, Path(name))
        with whence.open(Path(name)) as project:
            for is_apart in (False, True):
                statements, tried, passing = _tried(project.investigation, seconds, is_apart)
                made = "a process of its own" if is_apart else "the same process"
                yield [f"{fault.program} {fault.id}", str(statements), made, str(tried), str(passing)]


def _tried(investigation: Investigation, seconds: float, is_apart: bool) -> tuple[int, int, int]:
    """How many statements there are, how many edits were tried, and with how many all cases pass."""
    subject, runs = investigation.subject, investigation.runs
    ranked = [entry.statement for entry in rank_by_coverage(investigation.coverage, "op2")[:STATEMENTS]]
    files = file_candidates(subject, [at.file for at in ranked])
    suspects = Suspects(files, [(at.file, at.line) for at in ranked], fixes_made(known(subject.folder, None)))
    edits = suspects.edits()
    deadline = time.monotonic() + seconds
    making = made_ahead(edits, deadline) if is_apart else nullcontext(edits)
    with making as ready, CandidateRuns(subject, runs, deadline) as candidates:
        sieved = [one for batch in candidates.sieve(suspects.sources, ready, runs.failing) for one in batch]
        passing = sum(one.passes(len(runs.failing)) for one in sieved)
        return len(ranked), candidates.count.tried, passing


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="How many candidate edits are tried in a given time.")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("faults", nargs="+", metavar="PROGRAM:FAULT")
    arguments = parser.parse_args()
    faults = {f"{fault.program}:{fault.id}": fault for name in corpus.programs() for fault in corpus.faults(name)}
    if unknown := [name for name in arguments.faults if name not in faults]:
        parser.error(f"no fault of the corpus is called {unknown[0]}")
    print(markdown(HEAD, [row for name in arguments.faults for row in rates(faults[name], arguments.seconds)]))


if __name__ == "__main__":
    main()
