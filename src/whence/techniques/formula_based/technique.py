"""Correction sets on an investigation: its failing runs as formulas, and the statements that a solver names.

BugAssist's question (Jose and Majumdar, 2011) over paths that are encoded when they are needed.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from whence.alter.work import Work
from whence.errors import SubjectError
from whence.findings import Entry, Statement, Symptom
from whence.formula.encoder import Encoder
from whence.formula.smt import script
from whence.investigation.investigation import Investigation
from whence.subject.runs import blocks_executed
from whence.subject.suspiciousness import rank_by_coverage
from whence.subject.symptoms import symptom_of
from whence.subject.trace_reader import TraceReader
from whence.techniques.formula_based.localisation import Options, Search, search
from whence.techniques.formula_based.on_demand_formula import Bounds
from whence.techniques.formula_based.paths import add_paths
from whence.techniques.formula_based.trace_formula import FailingRun, Run, TraceFormula

SECONDS = 60.0  # where the search has no end
ENCODING = 0.2  # of the time, after which no more runs are encoded
MOST_BLOCKS = 5_000  # of a passing run that is looked at
PASSING = 50  # cases whose values a repair must not contradict


@dataclass(slots=True)
class Prepared:
    """Failing and passing runs encoded, the statements' suspiciousness and weights, the symptom of the first run.

    ``refused`` says of which failing runs no formula can be made, and why.
    """

    suspects: list[Entry]
    failing: list[FailingRun] = field(default_factory=list)
    passing: list[Run] = field(default_factory=list)
    refused: list[SubjectError] = field(default_factory=list)
    symptom: Symptom | None = None

    @property
    def weights(self) -> dict[Statement, float]:
        """From 0 for the most suspicious statement to 1 for the least."""
        highest = max((entry.score for entry in self.suspects), default=0.0)
        lowest = min((entry.score for entry in self.suspects), default=0.0)
        return {e.statement: (highest - e.score) / ((highest - lowest) or 1.0) for e in self.suspects}


def prepare(investigation: Investigation, rows: Sequence[int], work: Work, weights: str = "op2") -> Prepared:
    """What a search needs; ``weights`` is a formula of suspiciousness, ``work`` tells of the time and of Ctrl-C.

    Runs of which no formula can be made are named in ``runs.left_out``. Passing runs are taken as long as there is
    time.
    """
    subject, runs = investigation.subject, investigation.runs
    now = time.monotonic()
    latest = now + ENCODING * ((work.deadline or now + SECONDS) - now)
    found = Prepared(rank_by_coverage(investigation.coverage, weights))
    encoder = Encoder(subject.program, subject.plan)
    for row in rows:
        if found.failing and (work.stopped or time.monotonic() >= latest):
            runs.left_out.append(f"no time for a formula of `{runs.tested[row].case.name}`: --budget 5m")
            continue
        try:
            _add_failing(found, investigation, row, encoder)
        except SubjectError as error:
            found.refused.append(error)
            runs.left_out.append(f"no formula of `{runs.tested[row].case.name}`: {error}")
    for run in _passing(investigation, encoder) if found.failing else ():
        found.passing.append(run)
        if work.stopped or time.monotonic() >= latest:
            break
    return found


def _add_failing(found: Prepared, investigation: Investigation, row: int, encoder: Encoder) -> None:
    """Record and encode the failing case of a row."""
    subject = investigation.subject
    recording = investigation.record_departing(row)
    symptom = symptom_of(recording, subject.folder)
    found.symptom = found.symptom or symptom
    found.failing.append(FailingRun(TraceReader(subject, recording.trace), recording, symptom, encoder))


def _passing(investigation: Investigation, encoder: Encoder) -> Iterator[Run]:
    """The shortest passing runs; those that cannot be recorded tell nothing."""
    subject, runs = investigation.subject, investigation.runs
    lengths = blocks_executed(subject, runs)
    for row in sorted(runs.passing, key=lambda row: (lengths[row] == 0, lengths[row]))[:PASSING]:
        if lengths[row] > MOST_BLOCKS:
            return
        try:
            recording = investigation.record(runs.tested[row])
            yield Run(TraceReader(subject, recording.trace), recording, (), encoder)
        except SubjectError as error:
            runs.left_out.append(f"not compared: {error}")


def solve(prepared: Prepared, investigation: Investigation, work: Work, size: int = 2) -> Search:
    """The correction sets of prepared runs, as far as there is time; formulas at fault go to ``runs.left_out``."""
    options = Options(size=size, deadline=work.deadline or float("inf"))
    found = search(prepared.failing, prepared.passing, prepared.weights, work, options)
    investigation.runs.left_out += [_saved(formula) for formula in found.contradicting]
    return found


def solve_paths(found: Search, prepared: Prepared, work: Work, size: int, method: str) -> list[str]:
    """Add the sets over several paths (``method``: ofc or bugassist); what that took, in words."""
    bounds = Bounds(size=size, deadline=work.deadline or float("inf"))
    return add_paths(found, prepared.weights, work, bounds, method)


def _saved(formula: TraceFormula) -> str:
    """Save a formula that contradicts its own run, and say where: the encoder is at fault."""
    name = formula.run.recording.case.name
    path = Path("whence-report", "contradiction-" + re.sub(r"[^\w.-]", "_", name) + ".smt2")
    path.parent.mkdir(exist_ok=True)
    terms = formula.run.encoding.terms
    path.write_text(script(terms, [*formula.conditions, *(e for es in formula.equations.values() for e in es)]))
    return f"the formula of `{name}` contradicts its own run, which is a fault of whence: please report it with {path}"
