"""Value Replacement: the order of statements by all that speaks for them, and what each of it weighs.

    python -m bench.values_order [--every N] [--offset K] [--workers N] [--budget S] [--seed S] [--details]
        [--generated FILE] [PROGRAM ...]

``whence values`` searches the suites of bench.suites, and its statements are ranked in three ways: by the runs with a
pair, equals by Op2 (``--ties op2``); by the weights that are shipped; and by weights that are learned from the other
programs' faults. A rank is the worst of its tie. At the end the weights that all these faults give are printed. With
``--generated`` the faults are those of a file that ``bench.generated`` made, ranked by the first two ways alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

import whence
from bench.common import markdown
from bench.faults import each_fault, fault_options, was_measured
from bench.generated.faults import Generated, read_faults
from bench.ranking.learn import Example, Floats, learned
from bench.ranking.measure import HEAD, line
from bench.suites import Suite, opened
from corpus import corpus
from whence.errors import WhenceError
from whence.findings import Entry
from whence.subject.suspiciousness import tie_ranks
from whence.techniques.value_replacement.weights import WEIGHTS, shares

PENALTY = 1.0  # of the squared weights
BY_TIES, WEIGHED = "by runs, equals by Op2", "weighed"


@dataclass(slots=True)
class Row:
    """One fault: its rank in either way, and the shares that are weighed of each statement, with which are faulty."""

    program: str
    fault: str
    ranks: dict[str, int] = field(default_factory=dict)
    example: Example = field(default_factory=lambda: Example(np.zeros((0, len(WEIGHTS))), np.zeros(0, np.bool_)))
    error: str = ""


def faults_of(program: str, generated: Path | None = None) -> Sequence[corpus.Fault | Generated]:
    """The faults of a program: of the corpus, or of a file of generated ones."""
    if generated is None:
        return corpus.faults(program)
    return [fault for fault in read_faults(generated) if fault.program == program]


def measure(program: str, number: int, seed: int, budget: float, generated: Path | None = None) -> Row:
    """One fault, ranked in both ways; what cannot be measured says why."""
    fault = faults_of(program, generated)[number]
    row = Row(program, fault.id)
    try:
        with opened(fault, seed, budget) as suite:
            suite.prepare()
            suite.keep()
            _rank(row, suite)
    except WhenceError as error:
        row.error = str(error)
    return row


def _rank(row: Row, suite: Suite) -> None:
    found = suite.find(WEIGHED, whence.ValueReplacement())
    suite.find(BY_TIES, whence.ValueReplacement(ties="op2"))
    row.ranks = dict(suite.row.ranks)
    ranking = found.ranking if found else []
    matrix = np.array([_shares(entry) for entry in ranking], np.float64).reshape(-1, len(WEIGHTS))
    row.example = Example(matrix, np.array([entry.statement.line in suite.lines for entry in ranking], np.bool_))


def _shares(entry: Entry) -> list[float]:
    told = entry.evidence
    found = shares(told, told["searched"], told["failing_total"], told["passing_total"])
    return [found[name] for name in WEIGHTS]


def held_out(rows: Sequence[Row]) -> Iterator[int]:
    """The rank of each fault by weights that were learned from other programs."""
    by_program = {program: _learned([row for row in rows if row.program != program]) for program in _programs(rows)}
    for row in rows:
        _, worst = tie_ranks(np.round(row.example.matrix @ by_program[row.program], 6))
        faulty = row.example.faulty
        yield int(worst[faulty].min()) if faulty.any() else len(faulty) + 1


def _programs(rows: Sequence[Row]) -> list[str]:
    return sorted({row.program for row in rows})


def _learned(rows: Sequence[Row]) -> Floats:
    return learned([row.example for row in rows], PENALTY)


def main() -> None:
    """Measure, and print the table and the weights."""
    parser = fault_options(__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--budget", type=float, default=10.0, help="seconds that a search may take")
    parser.add_argument("--generated", type=Path, help="file of generated faults, in place of the corpus'")
    options = parser.parse_args()
    known = partial(faults_of, generated=options.generated)
    arguments = options.seed, options.budget, options.generated
    measured = each_fault(options, measure, *arguments, faults_of=known)
    rows = [row for row in measured if was_measured(row, _told if options.details else None)]
    table = [line(way, [row.ranks[way] for row in rows]) for way in (BY_TIES, WEIGHED)]
    if options.generated is None and len(_programs(rows)) > 1:
        table.append(line("learned from other programs", list(held_out(rows))))
    print(markdown(list(HEAD), table))
    weights = dict(zip(WEIGHTS, _learned(rows).round(2).tolist(), strict=True))
    print(", ".join(f"{name} {weight}" for name, weight in weights.items()))


def _told(row: Row) -> str:
    """A line a fault."""
    return f"{row.program} {row.fault}: " + ", ".join(f"{way} {rank}" for way, rank in row.ranks.items())


if __name__ == "__main__":
    main()
