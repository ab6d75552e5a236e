"""``whence formula``: which statements' change can make failing runs right, found by a solver, and the right values."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click

from whence.cli.options import (
    FORMULAS,
    CaseCommand,
    Options,
    Search,
    open_subject,
    search_options,
    shared_options,
    show,
)
from whence.errors import SubjectError

if TYPE_CHECKING:
    from whence.alter.work import Work
    from whence.findings import Entry, Findings, Statement, Symptom
    from whence.formula.encoder import Encoder
    from whence.subject.recorder import Recorder
    from whence.subject.runs import Runs
    from whence.subject.subject import Subject
    from whence.techniques.correction.formula import FailingRun, Run, TraceFormula
    from whence.techniques.correction.localisation import Search as Found

SECONDS = 60.0  # where the search has no end
ENCODING = 0.2  # of the time, after which no more runs are encoded
METHODS = ("path", "ofc", "bugassist")  # one path; several, on demand; all of them
SOLVING = 0.35  # of the time that is left then; the rest is for altered runs where they are needed
MOST_BLOCKS = 5_000  # of a passing run that is looked at
PASSING = 50  # cases whose values a repair must not contradict


@click.command(cls=CaseCommand)
@shared_options
@search_options
@click.option("--failing", default=5, type=click.IntRange(1), show_default=True, help="Failing runs, the shortest.")
@click.option("--size", default=2, type=click.IntRange(1, 3), show_default=True, help="Statements in a set at most.")
@click.option("--method", type=click.Choice(METHODS), default="path", show_default=True, help="Paths in a formula.")
@click.option("--weights", type=click.Choice(FORMULAS), default="op2", show_default=True, help="Order of equals.")
def formula(options: Options, search: Search, failing: int, size: int, method: str, weights: str) -> int:
    """Find the statements whose change can make failing runs right, and the values they had to have.

    Each failing run becomes a formula; a solver finds the smallest sets of statements without which the right result
    is possible. Branches are sent the other way in altered runs, and repairs are tried in them. Where formulas do not
    say it all (loops, floating point, time), values are forced and rules tried in altered runs, too.
    """
    from whence.cli.steps import open_work, record_failing, rows_alike, run_cases, search_summary, summary
    from whence.subject.recorder import Recorder

    subject = open_subject(options)
    runs = run_cases(subject, options)
    rows = rows_alike(subject, runs, options, failing)
    with Recorder(subject, options.trace_limit, options.window) as recorder:
        record_failing(subject, runs, recorder, rows)  # at the first use what that compiles is not part of the search
        with open_work(subject, runs, search, "altered runs") as work:
            prepared = prepare(subject, runs, rows, recorder, work, weights)
            found = localise(subject, runs, rows, prepared, work, size, method)
    found.summary[:0] = summary(subject, runs)
    found.summary += search_summary(work)
    return show(subject, found, options)


def localise(
    subject: Subject,
    runs: Runs,
    rows: Sequence[int],
    prepared: Prepared,
    work: Work,
    size: int = 2,
    method: str = METHODS[0],
) -> Findings:
    """The statements that prepared formulas name, and what altered runs show where formulas do not say it all.

    ``method`` is one of METHODS. Raises SubjectError where no formula could be made and no run can be altered.
    """
    from whence.cli.altering import rules_and_values
    from whence.techniques.correction.ranking import findings

    with work.share(SOLVING):
        found, paths = solve(prepared, runs, work, size), list[str]()
    if method != METHODS[0]:
        with work.share(SOLVING):
            paths = _over_paths(found, prepared, work, size, method)
    altered: list[Findings] = []
    if found.gaps and all(runs.tested[row].case.command is None for row in rows):
        try:
            altered = rules_and_values(subject, runs, rows, work)
        except SubjectError as error:  # what formulas say stands without
            if not found.diagnoses:
                raise
            runs.left_out.append(f"no altered runs: {error}")
    elif not prepared.failing:
        raise prepared.refused[0]
    result = findings(subject.name, found, prepared.suspects, altered, prepared.symptom)
    result.summary += paths
    return result


def _over_paths(found: Found, prepared: Prepared, work: Work, size: int, method: str) -> list[str]:
    """Add the sets over several paths; what that took, in words."""
    from whence.techniques.correction.expansion import Bounds
    from whence.techniques.correction.paths import add_paths

    bounds = Bounds(size=size, deadline=work.deadline or float("inf"))
    return add_paths(found, prepared.weights, work, bounds, method)


def _saved(formula: TraceFormula) -> str:
    """Save a formula that contradicts its own run, and say where: the encoder is at fault."""
    from pathlib import Path

    from whence.formula.smt import script

    name = formula.run.recording.case.name
    path = Path("whence-report", "contradiction-" + re.sub(r"[^\w.-]", "_", name) + ".smt2")
    path.parent.mkdir(exist_ok=True)
    terms = formula.run.encoding.terms
    path.write_text(script(terms, [*formula.conditions, *(e for es in formula.equations.values() for e in es)]))
    return f"the formula of `{name}` contradicts its own run, which is a fault of whence: please report it with {path}"


def solve(prepared: Prepared, runs: Runs, work: Work, size: int = 2) -> Found:
    """The correction sets of prepared runs, as far as there is time; formulas at fault go to ``runs.left_out``."""
    from whence.techniques.correction.localisation import Options as Settings
    from whence.techniques.correction.localisation import search

    settings = Settings(size=size, deadline=work.deadline or float("inf"))
    found = search(prepared.failing, prepared.passing, prepared.weights, work, settings)
    runs.left_out += [_saved(formula) for formula in found.contradicting]
    return found


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


def prepare(
    subject: Subject,
    runs: Runs,
    rows: Sequence[int],
    recorder: Recorder,
    work: Work,
    weights: str = "op2",
) -> Prepared:
    """What a search needs; ``weights`` is a formula of suspiciousness, ``work`` tells of the time and of Ctrl-C.

    Runs of which no formula can be made are named in ``runs.left_out``. Passing runs are taken as long as there is
    time.
    """
    from whence.formula.encoder import Encoder
    from whence.subject.runs import coverage
    from whence.techniques.spectrum import spectrum

    now = time.monotonic()
    latest = now + ENCODING * ((work.deadline or now + SECONDS) - now)
    found = Prepared(spectrum(coverage(subject, runs), formula=weights, subject=subject.name).ranking)
    encoder = Encoder(subject.program, subject.plan)
    for row in rows:
        if found.failing and (work.stopped or time.monotonic() >= latest):
            runs.left_out.append(f"no time for a formula of `{runs.tested[row].case.name}`: --budget 5m")
            continue
        try:
            _add_failing(found, subject, runs, row, recorder, encoder)
        except SubjectError as error:
            found.refused.append(error)
            runs.left_out.append(f"no formula of `{runs.tested[row].case.name}`: {error}")
    for run in _passing(subject, runs, recorder, encoder) if found.failing else ():
        found.passing.append(run)
        if work.stopped or time.monotonic() >= latest:
            break
    return found


def _add_failing(found: Prepared, subject: Subject, runs: Runs, row: int, recorder: Recorder, encoder: Encoder) -> None:
    """Record and encode the failing case of a row."""
    from whence.subject.story import Story
    from whence.subject.symptoms import symptom_of
    from whence.techniques.correction.formula import FailingRun

    tested = runs.tested[row]
    recording = recorder.record(tested.case, tested.outcome)
    symptom = symptom_of(recording, subject.folder)
    found.symptom = found.symptom or symptom
    found.failing.append(FailingRun(Story(subject, recording.trace), recording, symptom, encoder))


def _passing(subject: Subject, runs: Runs, recorder: Recorder, encoder: Encoder) -> Iterator[Run]:
    """The shortest passing runs; those that cannot be recorded tell nothing."""
    from whence.subject.runs import blocks_executed
    from whence.subject.story import Story
    from whence.techniques.correction.formula import Run

    lengths = blocks_executed(subject, runs)
    for row in sorted(runs.passing, key=lambda row: (lengths[row] == 0, lengths[row]))[:PASSING]:
        tested = runs.tested[row]
        if lengths[row] > MOST_BLOCKS:
            return
        try:
            recording = recorder.record(tested.case, tested.outcome)
            yield Run(Story(subject, recording.trace), recording, (), encoder)
        except SubjectError as error:
            runs.left_out.append(f"not compared: {error}")
