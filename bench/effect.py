"""How well altered runs locate faults: the dissertation's table 2.2 on the corpus, with what Whence adds.

    python -m bench.effect [--every N] [--offset K] [--workers N] [--budget S] [--seed S] [--details] [PROGRAM ...]

Each fault's suite has at most five failing and 25 passing cases, chosen at random (the seed and the fault decide). A
method's rank is the worst one of the tie in which the best-placed faulty line stands, among the statements that failing
cases executed (definition 6); wasted effort is that rank less one. The methods: Tarantula, Ochiai and Op2; value
replacement with one, two and all failing runs (ties by Tarantula); single branch switches; correction sets and the
first failing run's cause tree as `whence locate` looks for them; rules of values alone, and all rules; and the combined
ranking of `whence locate`.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.common import markdown  # noqa: E402
from bench.faults import each_fault, fault_options, was_measured  # noqa: E402
from corpus import corpus  # noqa: E402

if TYPE_CHECKING:
    from whence.alter.work import Work
    from whence.findings import Entry
    from whence.subject.runs import Runs
    from whence.subject.subject import Subject

FAILING, PASSING = 5, 25
METHODS = {
    "tarantula": "Tarantula",
    "ochiai": "Ochiai",
    "op2": "Op2",
    "values-1": "value replacement, 1 failing run",
    "values-2": "value replacement, 2 failing runs",
    "values": "value replacement, all failing runs",
    "switch": "branch switches",
    "invariants": "likely invariants",
    "formula": "correction sets",
    "causes": "cause tree, four levels",
    "rules-values": "rules of values alone",
    "rules": "all rules",
    "locate-values": "locate, without rules of operators",
    "locate-op2": "locate, with Op2 where altered runs say nothing",
    "locate-runs": "locate, without formulas and cause trees",
    "locate": "whence locate",
}


@dataclass(slots=True)
class Row:
    """One fault: for each method the faulty statement's rank (worst of its tie) among ``total`` statements."""

    program: str
    fault: str
    kind: str
    total: int = 0
    ranks: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    error: str = ""

    def score(self, method: str) -> float:
        """Share of the statements that need not be read, in percent."""
        return 100 * (self.total - self.ranks[method]) / self.total


class Measuring:
    """One fault, every method."""

    def __init__(self, fault: corpus.Fault, folder: Path, seed: int, budget: float) -> None:
        from whence.investigation.investigation import Investigation, Setup
        from whence.run.config import read_config
        from whence.subject.subject import subject_from_config

        corpus.prepare(fault, folder)
        self.budget = budget
        self.row = Row(fault.program, fault.id, fault.kind)
        self.investigation = Investigation(subject_from_config(read_config(folder)), Setup(workers=1, fresh=True))
        names = _suite(self.investigation.runs, random.Random(f"{fault.program} {fault.id} {seed}"))
        self.investigation.with_cases([case for case in self.investigation.subject.cases if case.name in names])
        self.coverage = self.investigation.coverage
        self.lines = frozenset(fault.lines)
        self.failing = self.investigation.failing_rows()

    @property
    def subject(self) -> Subject:
        """The faulty program with the cases of its suite."""
        return self.investigation.subject

    @property
    def runs(self) -> Runs:
        """The runs of these cases."""
        return self.investigation.runs

    def all(self) -> Row:
        """The ranks by all methods."""
        from whence.techniques.spectrum import spectrum

        for formula in ("tarantula", "ochiai", "op2"):
            ranking = spectrum(self.coverage, formula=formula).ranking
            self.row.total = len(ranking)
            self.note(formula, ranking)
        for step in (self._values, self._joined, self._rules_of_values):
            step()
        return self.row

    def work(self) -> AbstractContextManager[Work]:
        """Altered runs with the budget of one `whence locate`."""
        self.investigation.clock.start(self.budget)
        return self.investigation.work()

    def note(self, method: str, ranking: Sequence[Entry], began: float | None = None) -> None:
        """Keep where a ranking has the fault; a line that it does not hold comes after all others."""
        ranks = [e.rank_worst for e in ranking if e.statement.line in self.lines]
        self.row.ranks[method] = min(ranks, default=self.row.total + 1)
        if began is not None:
            self.row.seconds[method] = time.perf_counter() - began

    def _values(self) -> None:
        from whence.techniques.value_replacement.technique import replaced

        for method, count in (("values-1", 1), ("values-2", 2)):
            began = time.perf_counter()
            with self.work() as work:
                found = replaced(self.investigation, self.failing[:count], work)
            self.note(method, found.ranking, began)

    def _joined(self) -> None:
        """All that `whence locate` searches, and what it makes of it."""
        from whence.diagnosis.combined_ranking import fuse
        from whence.diagnosis.locate import ALTERING, COMPARING_MOST
        from whence.diagnosis.reasoning import TREE, cause_tree, correction_sets
        from whence.diagnosis.searches import searches
        from whence.diagnosis.spectrum_and_slice import Evidence, locate
        from whence.subject.symptoms import symptom_of
        from whence.subject.trace_reader import TraceReader
        from whence.techniques.likely_invariants.technique import compared_values
        from whence.techniques.spectrum import spectrum

        investigation, subject = self.investigation, self.investigation.subject
        recording = investigation.record(investigation.runs.tested[self.failing[0]])
        symptom = symptom_of(recording, subject.folder)
        reader = TraceReader(subject, recording.trace)
        base = locate(Evidence(self.coverage, reader, symptom), subject.name)
        began = time.perf_counter()
        with self.work() as work:
            found = []
            with work.share(ALTERING):
                for step in searches(investigation, self.failing, work):
                    with work.share(step.share):
                        found.append(step.search())
            reasoned = [correction_sets(investigation, self.failing, work)]
        reasoned.append(cause_tree(reader, symptom, recording, TREE))
        found.append(compared_values(investigation, self.failing, COMPARING_MOST))
        self.note("locate-runs", fuse(base, found).ranking)
        found += reasoned
        for findings in found:
            self.note(findings.technique, findings.ranking)
        self.note("locate", fuse(base, found).ranking, began)
        self.note("locate-op2", fuse(spectrum(self.coverage, formula="op2"), found).ranking)
        self.base, self.others = base, [findings for findings in found if findings.technique != "rules"]

    def _rules_of_values(self) -> None:
        from whence.diagnosis.combined_ranking import fuse
        from whence.techniques.rules.candidates import Family
        from whence.techniques.rules.rules import rules
        from whence.techniques.rules.trials import Settings

        began = time.perf_counter()
        settings = Settings(families=frozenset(Family) - {Family.OPERATOR})
        with self.work() as work:
            found = rules(self.investigation.subject, self.investigation.runs, work, settings)
        self.note("rules-values", found.ranking, began)
        self.note("locate-values", fuse(self.base, [found, *self.others]).ranking)


def _suite(runs: Runs, chance: random.Random) -> set[str]:
    """Names of the cases of a fault's suite."""
    rows = chance.sample(runs.failing, min(FAILING, len(runs.failing)))
    rows += chance.sample(runs.passing, min(PASSING, len(runs.passing)))
    return {runs.tested[row].case.name for row in rows}


def measure(program: str, number: int, seed: int, budget: float) -> Row:
    """One fault with every method; what cannot be measured says why."""
    from whence.errors import WhenceError

    fault = corpus.faults(program)[number]
    try:
        with tempfile.TemporaryDirectory(prefix="whence-bench-") as name:
            return Measuring(fault, Path(name), seed, budget).all()
    except WhenceError as error:
        return Row(program, fault.id, fault.kind, error=str(error))


def table(rows: Sequence[Row]) -> str:
    """The results of all faults, a line a method."""
    head = ["method", "first alone", "score >= 99 %", ">= 90 %", ">= 80 %", "mean wasted effort", "mean seconds"]
    lines = []
    for method, name in METHODS.items():
        chosen = [row for row in rows if method in row.ranks]
        scores = [row.score(method) for row in chosen]
        wasted = sum(row.ranks[method] - 1 for row in chosen) / max(len(chosen), 1)
        seconds = [row.seconds[method] for row in chosen if method in row.seconds]
        counts = [sum(score >= least for score in scores) for least in (99, 90, 80)]
        first = sum(row.ranks[method] == 1 for row in chosen)
        spent = f"{sum(seconds) / len(seconds):.1f}" if seconds else ""
        lines.append([name, *map(str, [first, *counts]), f"{wasted:.1f}", spent])
    return markdown(head, lines)


def by_program(rows: Sequence[Row]) -> str:
    """How often the fault is first alone, a line a program."""
    shown = ("tarantula", "op2", "values", "switch", "rules-values", "rules", "locate")
    lines = []
    for program in sorted({row.program for row in rows}):
        mine = [row for row in rows if row.program == program and row.ranks]
        counts = [sum(row.ranks.get(method) == 1 for row in mine) for method in shown]
        lines.append([program, *map(str, [len(mine), *counts])])
    return markdown(["program", "faults", *shown], lines)


def ranks_of(row: Row) -> str:
    """A line a fault."""
    ranks = ", ".join(f"{method} {rank}" for method, rank in row.ranks.items())
    return f"{row.program} {row.fault} ({row.kind}): {ranks} of {row.total}"


def main() -> None:
    """Measure, and print the tables and what could not be measured."""
    parser = fault_options(__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--budget", type=float, default=60.0, help="seconds that each search may take")
    options = parser.parse_args()
    rows = each_fault(options, measure, options.seed, options.budget)
    found = [row for row in rows if was_measured(row, ranks_of if options.details else None)]
    print(f"{table(found)}\n\n{by_program(found)}")


if __name__ == "__main__":
    main()
