"""Formula-based localisation over one path and over several: tables I to III of the paper on the corpus.

    python -m bench.formula_paths [--every N] [--offset K] [--seed S] [--size N] [--budget S] [--methods M,M]
                                  [--details] [PROGRAM ...]

Suites are those of `bench.suites`. `path` is the formula of the failing run
alone; `switches` adds those of single branches whose switch mends the run, which is what `whence formula` asks;
`bugassist` is the formula of all paths within a bound, `ofc` the one computed on demand. `+cw` orders the sets by
weights of Op2 (all sets up to the size are found in any case, so it takes as long). Statements are ranked as in section
III-B6 (``techniques/formula_based/bugassist_ranking.py``): those in the sets of all failing cases, by their mean rank.
A fault of which no line is among them counts as `lost`; ranks are of the others. It is checked that the sets of both
ways over several paths are the same where both come to an end, and whether the other sets are sets over several paths:
those of one path have to be; a value that turns a branch, as it has to, may be wrong where it is read elsewhere.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import whence  # noqa: E402
from bench.common import markdown  # noqa: E402
from bench.faults import each_fault, fault_options, was_measured  # noqa: E402
from bench.suites import Suite, opened  # noqa: E402
from corpus import corpus  # noqa: E402

if TYPE_CHECKING:
    from whence.findings import Entry, Statement
    from whence.subject.recorder import Recording

METHODS = ("path", "switches", "bugassist", "bugassist+cw", "ofc", "ofc+cw")
Sets = list[frozenset["Statement"]]


@dataclass(slots=True)
class Answer:
    """What one method says of one failing case."""

    sets: Sets
    seconds: float
    formulas: int = 1
    switched: int = 0
    questions: int = 0
    complete: bool = True


@dataclass(slots=True)
class Row:
    """One fault: for each method its answers, one a failing case, and the best, mean and worst rank of the fault."""

    program: str
    fault: str
    answers: dict[str, list[Answer]] = field(default_factory=dict)
    ranks: dict[str, tuple[int, float, int]] = field(default_factory=dict)
    singles: dict[str, tuple[int, int]] = field(default_factory=dict)
    disagreements: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    error: str = ""


def measure(program: str, number: int, seed: int, size: int, budget: float, methods: Sequence[str]) -> Row:
    """One fault with every method; what cannot be measured says why."""
    from whence.errors import WhenceError

    fault = corpus.faults(program)[number]
    row = Row(program, fault.id)
    try:
        with opened(fault, seed, budget) as suite:
            _measure(row, fault, suite, size, budget, methods)
    except WhenceError as error:
        row.error = str(error)
    return row


def _measure(row: Row, fault: corpus.Fault, suite: Suite, size: int, budget: float, methods: Sequence[str]) -> None:
    from whence.errors import SubjectError
    from whence.subject.recorder import Recorder
    from whence.techniques.formula_based import bugassist_ranking

    suspects = suite.project.find(whence.Spectrum(formula="op2")).ranking
    highest, lowest = (pick(entry.score for entry in suspects) for pick in (max, min))
    weights = {e.statement: (highest - e.score) / ((highest - lowest) or 1.0) for e in suspects}
    _build(suite)
    with Recorder(suite.investigation.subject) as recorder:
        for index in suite.investigation.failing_rows():
            tested = suite.investigation.runs.tested[index]
            try:
                recording = recorder.record(tested.case, tested.outcome)
                ways = dict.fromkeys(method.partition("+")[0] for method in methods)
                answers = {way: _answer(suite, recording, way, weights, size, budget) for way in ways}
            except SubjectError as error:
                row.refused.append(f"{tested.case.name}: {error}")
                continue
            for method in methods:
                row.answers.setdefault(method, []).append(answers[method.partition("+")[0]])
            row.disagreements += _disagreements(tested.case.name, answers)
    for method, found in row.answers.items():
        used = weights if method.endswith("+cw") else {}
        ranking = bugassist_ranking.of_runs([bugassist_ranking.of_run(answer.sets, used) for answer in found])
        row.ranks[method] = _ranks(ranking, fault)
        row.singles[method] = _held(found, fault)


def _build(suite: Suite) -> None:
    """Let the variants be there before anything is timed."""
    from whence.probe.instrument import Variant

    for kind in (Variant.RECORD, Variant.ALTER, Variant.REPLAY):
        suite.investigation.subject.variant(kind)


def _answer(
    suite: Suite,
    recording: Recording,
    way: str,
    weights: dict[Statement, float],
    size: int,
    budget: float,
) -> Answer:
    """The sets of one failing case."""
    from whence.techniques.formula_based.on_demand_formula import Bounds, expand

    began, deadline = time.perf_counter(), time.monotonic() + budget
    if way in ("path", "switches"):
        return _path(suite, recording, size, deadline, switches=way == "switches")
    bounds = Bounds(size=size, deadline=deadline)
    found = expand(suite.investigation.subject, recording, weights, bounds, everything=way == "bugassist")
    whole = not (found.stopped or found.open or found.found.undecided or found.found.stopped)
    spent = time.perf_counter() - began
    return Answer(found.sets, spent, found.formulas, found.switched, found.questions, whole)


def _path(suite: Suite, recording: Recording, size: int, deadline: float, switches: bool) -> Answer:
    """The sets of the recorded path alone, or also of its branches whose switch mends the run."""
    from whence.alter.work import Work
    from whence.formula.encoder import Encoder
    from whence.subject.symptoms import symptom_of
    from whence.subject.trace_reader import TraceReader
    from whence.techniques.formula_based.localisation import Options, search
    from whence.techniques.formula_based.trace_formula import FailingRun

    began, subject = time.perf_counter(), suite.investigation.subject
    encoder, symptom = Encoder(subject.program, subject.plan), symptom_of(recording, subject.folder)
    run = FailingRun(TraceReader(subject, recording.trace), recording, symptom, encoder)
    options = Options(size=size, deadline=deadline, consistency=False, templates=False, confirms=False)
    if switches:
        with Work(subject, workers=1, fresh=True, deadline=deadline) as work:
            found = search([run], [], {}, work, options)
    else:
        found = search([run], [], {}, None, options)
    sets = [frozenset(diagnosis.statements) for diagnosis in found.diagnoses]
    return Answer(sets, time.perf_counter() - began, questions=found.questions, complete=not found.stopped)


def _disagreements(case: str, answers: dict[str, Answer]) -> list[str]:
    """Where complete answers contradict each other."""
    known = {way: set(answer.sets) for way, answer in answers.items() if answer.complete}
    found = []
    if "bugassist" in known and "ofc" in known and (told := _lines(known["bugassist"] ^ known["ofc"])):
        found.append(f"{case}: {told} by bugassist or by ofc only")
    for way in ("path", "switches"):
        if way in known and "ofc" in known:
            lost = [s for s in known[way] if not any(other <= s for other in known["ofc"])]
            found += [f"{case}: {_lines(lost)} by {way}, not by ofc"] if lost else []
    return found


def _lines(sets: Iterable[frozenset[Statement]]) -> str:
    return ", ".join("+".join(str(s.line) for s in sorted(statements)) for statements in sorted(sets, key=sorted))


def _ranks(ranking: Sequence[Entry], fault: corpus.Fault) -> tuple[int, float, int]:
    """Best, mean and worst rank of the best-placed faulty line; zeros where none is in the ranking."""
    found = [(e.rank, e.rank_average, e.rank_worst) for e in ranking if e.statement.line in fault.lines]
    return min(found, key=lambda ranks: ranks[1], default=(0, 0.0, 0))


def _held(answers: Sequence[Answer], fault: corpus.Fault) -> tuple[int, int]:
    """In how many failing cases a faulty line is a set alone, and of how many."""
    lines = frozenset(fault.lines)
    held = sum(any(len(s) == 1 and {x.line for x in s} <= lines for s in answer.sets) for answer in answers)
    return held, len(answers)


def told(row: Row) -> str:
    """A line a fault and method."""
    lines = [f"{row.program} {row.fault}: {', '.join(row.refused)}".rstrip(": ")]
    for method, ranks in row.ranks.items():
        found, (held, cases) = row.answers[method], row.singles[method]
        lines.append(
            f"    {method}: rank {ranks[0]} {ranks[1]:.1f} {ranks[2]}; alone in {held} of {cases}; "
            f"{mean(len(a.sets) for a in found):.1f} sets, {mean(a.switched for a in found):.1f} switched, "
            f"{mean(a.questions for a in found):.1f} questions, {mean(a.seconds for a in found):.2f} s"
        )
    return "\n".join(lines)


def table(rows: Sequence[Row], methods: Sequence[str]) -> str:
    """The results of all faults, a line a method."""
    head = ["method", "faults", "best", "mean", "worst", "lost", "first alone", "alone in cases", "sets", "switched"]
    head += ["formulas", "questions", "s a case", "not complete"]
    lines = []
    for method in methods:
        chosen = [row for row in rows if method in row.ranks]
        ranked = [row.ranks[method] for row in chosen if row.ranks[method][0]]
        answers = [answer for row in chosen for answer in row.answers[method]]
        if not answers:
            continue
        held, cases = (sum(row.singles[method][k] for row in chosen) for k in (0, 1))
        ranks = [f"{mean(rank[k] for rank in ranked):.1f}" if ranked else "" for k in range(3)]
        counts = [len(chosen) - len(ranked), sum(rank[2] == 1 for rank in ranked), f"{held} of {cases}"]
        means = [mean(getattr(a, name) for a in answers) for name in ("switched", "formulas", "questions")]
        sizes = [mean(len(a.sets) for a in answers), *means]
        incomplete = sum(not a.complete for a in answers)
        spent = f"{mean(a.seconds for a in answers):.2f}"
        lines.append(
            [method, str(len(chosen)), *ranks, *map(str, counts), *(f"{x:.1f}" for x in sizes), spent, str(incomplete)]
        )
    return markdown(head, lines)


def main() -> None:
    """Measure, and print the table, disagreements, and what could not be measured."""
    parser = fault_options(__doc__, workers=1)
    parser.set_defaults(programs=["gatekeeper"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--size", type=int, default=1, help="statements in a set at most")
    parser.add_argument("--budget", type=float, default=60.0, help="seconds for each case and method")
    parser.add_argument("--methods", default=",".join(METHODS), help=f"of {', '.join(METHODS)}")
    options = parser.parse_args()
    methods = [method for method in METHODS if method in options.methods.split(",")]
    measured = each_fault(options, measure, options.seed, options.size, options.budget, methods)
    rows = [row for row in measured if was_measured(row, told if options.details else None)]
    print(table(rows, methods))
    for row in rows:
        for line in row.disagreements:
            print(f"{row.program} {row.fault}, {line}")
        for line in row.refused:
            print(f"{row.program} {row.fault}, not measured: {line}")


if __name__ == "__main__":
    main()
