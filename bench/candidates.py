"""The candidates of likely invariants on the corpus: after each step how many lines, by kinds and by training runs.

    python -m bench.candidates [--every N] [--offset K] [--workers N] [--seed S] [--details] [PROGRAM ...]

Each fault's suite is that of ``bench.suites``. A set of candidates has the root cause where a candidate, or a line of
the expression behind one, is a faulty line. How well the rankings made of them do is measured by ``bench.invariants``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.common import markdown  # noqa: E402
from bench.faults import each_fault, fault_options, was_measured  # noqa: E402
from bench.suites import Suite, opened  # noqa: E402
from corpus import corpus  # noqa: E402
from whence.errors import WhenceError  # noqa: E402

if TYPE_CHECKING:
    from whence.techniques.likely_invariants.collect import Collection
    from whence.techniques.likely_invariants.kinds import Settings
    from whence.techniques.likely_invariants.runs import Observer

STEPS = ("failed", "slice", "dependence", "several")
SINGLE = ("executed", "branch", "values", "nonzero", "step", "order")  # beside ranges


@dataclass(slots=True)
class Row:
    """One fault: by kinds and training for each step its lines, and whether the root is there."""

    program: str
    fault: str
    sets: dict[tuple[str, str], list[tuple[int, bool]]] = field(default_factory=dict)
    error: str = ""


def measure(program: str, number: int, seed: int) -> Row:
    """One fault; what cannot be measured says why."""
    fault = corpus.faults(program)[number]
    row = Row(program, fault.id)
    try:
        with opened(fault, seed, float("inf")) as suite:
            _fill(row, suite)
    except WhenceError as error:
        row.error = str(error)
    return row


def _fill(row: Row, suite: Suite) -> None:
    from whence.techniques.likely_invariants.collect import collect
    from whence.techniques.likely_invariants.runs import Observer
    from whence.techniques.likely_invariants.training import Choice

    investigation, rows = suite.investigation, suite.investigation.failing_rows()
    observer = Observer(investigation.subject, investigation.recorder)
    found = collect(observer, investigation.runs, rows, len(rows))
    for name, settings in _settings().items():
        for choice in Choice if name in ("paper", "default") else (Choice.MIXTURE,):
            row.sets[name, str(choice)] = list(_sets(observer, found, settings, choice, suite.lines))


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


def sizes_of(row: Row) -> str:
    """A line a fault."""
    sizes = " ".join(f"{size}{'*' if has_root else ''}" for size, has_root in row.sets["default", "mixture"])
    return f"{row.program} {row.fault}: {sizes}"


def main() -> None:
    """Measure, and print the table and what could not be measured."""
    parser = fault_options(__doc__, workers=1)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    measured = each_fault(options, measure, options.seed)
    print(set_table([row for row in measured if was_measured(row, sizes_of if options.details else None)]))


if __name__ == "__main__":
    main()
