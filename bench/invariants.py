"""How well likely invariants locate faults of the corpus: rankings, sets of candidates, kinds, and training runs.

    python -m bench.invariants [--every N] [--offset K] [--workers N] [--seed S] [--details] [PROGRAM ...]

Each fault's suite is that of ``bench.effect``: at most five failing and 25 passing cases. A method's rank is the worst
one of the tie in which the best-placed faulty line stands, among the statements that failing cases executed. A set of
candidates has the root cause where a candidate, or a line of the expression behind one, is a faulty line.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.common import markdown  # noqa: E402
from bench.effect import Measuring, ranks_of  # noqa: E402
from bench.faults import each_fault, fault_options, was_measured  # noqa: E402
from corpus import corpus  # noqa: E402

if TYPE_CHECKING:
    from whence.techniques.likely_invariants.collect import Collection
    from whence.techniques.likely_invariants.kinds import Settings
    from whence.techniques.likely_invariants.runs import Observer

METHODS = ("tarantula", "ochiai", "op2", "paper", "default")
STEPS = ("failed", "slice", "dependence", "several")
SINGLE = ("executed", "branch", "values", "nonzero", "step", "order")  # beside ranges


@dataclass(slots=True)
class Row:
    """One fault: ranks by method; by kinds and training for each step its lines, and whether the root is there."""

    program: str
    kind: str
    fault: str
    total: int = 0
    seconds: float = 0.0
    ranks: dict[str, int] = field(default_factory=dict)
    sets: dict[tuple[str, str], list[tuple[int, bool]]] = field(default_factory=dict)
    error: str = ""


def measure(program: str, number: int, seed: int) -> Row:
    """One fault; what cannot be measured says why."""
    from whence.errors import WhenceError

    fault = corpus.faults(program)[number]
    row = Row(program, fault.kind, fault.id)
    try:
        with tempfile.TemporaryDirectory(prefix="whence-bench-") as name:
            _fill(row, Measuring(fault, Path(name), seed, 60.0))
    except WhenceError as error:
        row.error = str(error)
    return row


def _fill(row: Row, measuring: Measuring) -> None:
    from whence.subject.recorder import Recorder
    from whence.techniques.likely_invariants.collect import collect
    from whence.techniques.likely_invariants.diagnosis import Options, diagnose
    from whence.techniques.likely_invariants.kinds import PAPER_SETTINGS
    from whence.techniques.likely_invariants.runs import Observer
    from whence.techniques.likely_invariants.training import Choice
    from whence.techniques.spectrum import spectrum

    for formula in METHODS[:3]:
        ranking = spectrum(measuring.coverage, formula=formula).ranking
        measuring.row.total = row.total = len(ranking)
        measuring.note(formula, ranking)
    began = time.perf_counter()
    with Recorder(measuring.subject) as recorder:
        observer = Observer(measuring.subject, recorder)
        found = collect(observer, measuring.runs, measuring.failing, len(measuring.failing))
    default = diagnose(observer, found.failing, found.good, Options())
    row.seconds = time.perf_counter() - began
    measuring.note("default", default.ranking)
    options = Options(PAPER_SETTINGS, Choice.EDITS, paper=True)
    measuring.note("paper", diagnose(observer, found.failing, found.good, options).ranking)
    row.ranks = measuring.row.ranks
    for name, settings in _settings().items():
        for choice in Choice if name in ("paper", "default") else (Choice.MIXTURE,):
            row.sets[name, str(choice)] = list(_sets(observer, found, settings, choice, measuring.lines))


def _settings() -> dict[str, Settings]:
    """Each choice of kinds that is compared; single ones are ranges and that kind."""
    from whence.techniques.likely_invariants.kinds import ALL, PAPER_SETTINGS, Kind, Settings

    found = {"paper": PAPER_SETTINGS, "paper, promoted": replace(PAPER_SETTINGS, promote=True)}
    found["paper, data alone"] = replace(PAPER_SETTINGS, control=False)
    found["range"] = Settings(Kind.RANGE)
    found |= {name: Settings(Kind.RANGE | Kind[name.upper()]) for name in SINGLE}
    found["default, with control"] = Settings(control=True)
    return found | {"default": Settings(), "all": Settings(ALL)}


def _sets(
    observer: Observer, found: Collection, settings: Settings, choice: str, faulty: frozenset[int]
) -> Iterator[tuple[int, bool]]:
    """For each step how many lines the set has, and whether the root cause is among them."""
    from whence.techniques.likely_invariants.candidates import candidates
    from whence.techniques.likely_invariants.feedback import expression_lines
    from whence.techniques.likely_invariants.kinds import learn
    from whence.techniques.likely_invariants.training import NUMBER, Choice, choose

    training = choose(found.good, found.failing[0], Choice(choice), NUMBER)
    invariants = learn([run.profile for run in training], len(observer.static), len(observer.pairs))
    made = candidates(observer, found.failing, invariants, settings)
    statements, broken = observer.subject.places.statements, made.broken[0]
    numbers = observer.subject.places.numbers[observer.subject.plan.sites["instruction"][:-1]]
    behind: dict[int, set[int]] = {}
    for sites in made.sets:
        own = {site: int(numbers[site]) for site in sites.tolist() if numbers[site] >= 0}
        has_root = any(statements[number].line in faulty for number in own.values())
        for site, number in own.items():
            if has_root or len(own) > 60:  # expressions of large sets would take long, and are nearly everything
                break
            if site not in behind:
                event = int(broken.events(site)[0])
                behind[site] = {line.line for line in expression_lines(broken, event, statements[number])}
            has_root = not faulty.isdisjoint(behind[site])
        yield len(set(own.values())), has_root


# ---- Tables ----------------------------------------------------------------------------------------------------------


def ranking_table(rows: Sequence[Row]) -> str:
    """The rankings, a line a method."""
    head = ["method", "first alone", "within 5", "within 10", "mean rank"]
    programs = sorted({row.program for row in rows})
    lines = []
    for method in METHODS:
        ranks = [row.ranks[method] for row in rows]
        counts = [sum(rank <= most for rank in ranks) for most in (1, 5, 10)]
        means = [_mean([row.ranks[method] for row in rows if row.program == program]) for program in programs]
        lines.append([method, *map(str, counts), _mean(ranks), *means])
    return markdown([*head, *programs], lines)


def _mean(numbers: Sequence[float]) -> str:
    return f"{sum(numbers) / max(len(numbers), 1):.1f}"


def set_table(rows: Sequence[Row]) -> str:
    """The sets of candidates: of each step the share with the root cause, and the mean number of lines."""
    lines = []
    for key in rows[0].sets:
        cells = []
        for step in range(len(STEPS)):
            sizes, roots = zip(*(row.sets[key][step] for row in rows), strict=True)
            cells.append(f"{100 * sum(roots) / len(rows):.0f} % in {sum(sizes) / len(rows):.1f}")
        lines.append([f"{key[0]}; {key[1]}", *cells])
    return markdown(["kinds; training", *STEPS], lines)


def main() -> None:
    """Measure, and print the tables and what could not be measured."""
    parser = fault_options(__doc__, workers=1)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    measured = each_fault(options, measure, options.seed)
    rows = [row for row in measured if was_measured(row, ranks_of if options.details else None)]
    print(f"{len(rows)} faults, {_mean([row.seconds for row in rows])} s each\n")
    print(f"{ranking_table(rows)}\n\n{set_table(rows)}")


if __name__ == "__main__":
    main()
