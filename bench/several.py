"""Several faults in one program: Minimal, Partial and Full recomputation against each fault alone, and clusters.

    python -m bench.several [--versions N] [--workers N] [--seed S] [--details] [--work FOLDER] [PROGRAM ...]

The dissertation's experiment (section 3.2, tables 3.2 and 3.3) on the corpus: versions with two to five faults each, a
suite of at most 30 cases for each version. A technique gives a list; the fault that stands first in it is fixed, by
putting the right line back; so it goes on while a case fails. A list's score is the share of statements that one need
not read before the fault, of those that failing cases execute before the first fix (definition 6, ties by their worst
rank). The state of a search is handed on as by `whence faults`: statements are found again after each edit, and the
edit tells what was fixed.
"""

from __future__ import annotations

import random
import shutil
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import whence  # noqa: E402
from bench.common import markdown, options, work_folder  # noqa: E402
from corpus import corpus  # noqa: E402
from whence.findings import Findings, Statement  # noqa: E402

if TYPE_CHECKING:
    from whence.project import Project
    from whence.subject.coverage import Coverage
    from whence.subject.runs import Runs

TECHNIQUES = ("minimal", "partial", "full")
THRESHOLDS = (0.1, 0.3, 0.5, 0.7, 0.9)
SUITE = 30  # cases at most
ENOUGH = 5  # failing and passing cases at least, where there are so many
TRIES = 500  # sets of faults that are tried for a version

Faults = tuple[corpus.Fault, ...]


@dataclass(slots=True)
class Scores:
    """The scores of located faults, by technique (clusters: by threshold), and the searches that each made."""

    found: dict[str, list[float]] = field(default_factory=dict)
    searched: dict[str, int] = field(default_factory=dict)
    faults: int = 0
    versions: int = 0
    cases: list[tuple[int, int]] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, name: str, scores: Iterable[float], searched: int = 0) -> None:
        """Scores of one version."""
        self.found.setdefault(name, []).extend(scores)
        self.searched[name] = self.searched.get(name, 0) + searched


# ---- Versions and suites ---------------------------------------------------------------------------------------------


def versions(program: str, seed: int) -> Iterable[Faults]:
    """Sets of two to five faults that can be put into one source, in an order that the seed gives; each once."""
    chance = random.Random(f"{program} {seed}")
    seen: set[frozenset[str]] = set()
    for _ in range(TRIES):
        faults = tuple(chance.sample(corpus.faults(program), chance.randint(2, 5)))
        names = frozenset(fault.id for fault in faults)
        if names in seen:
            continue
        seen.add(names)
        try:
            corpus.combined(faults)
        except ValueError:
            continue
        yield tuple(sorted(faults, key=lambda fault: fault.id))


def suite(coverage: Coverage, faults: Sequence[frozenset[Statement]], chance: random.Random) -> list[int] | None:
    """Rows of a suite: a failing case for each fault, enough of both kinds, then cases that execute something new.

    ``faults`` are the statements of each, as far as the program knows them (a declaration is none). None where no
    failing case executes one of them.
    """
    executed = executed_by(coverage)
    rows = chance.sample(range(len(executed)), len(executed))
    failing = [row for row in rows if coverage.failed[row]]
    passing = [row for row in rows if not coverage.failed[row]]
    chosen: list[int] = []
    for statements in filter(None, faults):
        hits = [row for row in failing if executed[row] & statements]
        if not hits:
            return None
        chosen += hits[:1] if not set(hits) & set(chosen) else []
    chosen += [row for row in failing if row not in chosen][: max(ENOUGH - len(chosen), 0)]
    chosen += passing[:ENOUGH]
    reached = frozenset().union(*(executed[row] for row in chosen))
    for row in [*passing, *failing]:
        if len(chosen) < SUITE and not executed[row] <= reached:
            chosen.append(row)
            reached |= executed[row]
    return sorted(chosen)


def executed_by(coverage: Coverage) -> list[frozenset[Statement]]:
    """The statements that each case executed."""
    blocks = [(column, site.statements) for column, site in enumerate(coverage.sites) if not site.side]
    return [frozenset(s for column, statements in blocks if row[column] for s in statements) for row in coverage.counts]


# ---- One program with some faults ------------------------------------------------------------------------------------


class World:
    """A program with some faults, and the cases that count; ``names`` are those of the suite (None: all cases)."""

    def __init__(self, folder: Path, base: Path, faults: Faults, names: Sequence[str] | None = None) -> None:
        self.folder, self.base, self.faults, self.names = folder, base, faults, names
        self.source = corpus.combined(faults)

    @property
    def name(self) -> str:
        """The numbers of its faults."""
        return "+".join(fault.id for fault in self.faults)

    @cached_property
    def project(self) -> Project:
        """The program, with the cases of the suite only."""
        shutil.copytree(self.base, self.folder, dirs_exist_ok=True)
        (self.folder / f"{self.source.program}.c").write_text(self.source.source)
        project = whence.open(self.folder, whence.Setup(workers=1))
        if self.names is not None:
            wanted = set(self.names)
            cases = project.investigation.subject.cases
            project.investigation.with_cases([case for case in cases if case.name in wanted])
        return project

    @property
    def runs(self) -> Runs:
        """The runs of its cases."""
        return self.project.investigation.runs

    def restrict(self, rows: Sequence[int]) -> list[str]:
        """Make some rows of the runs the suite; gives their cases' names."""
        cases = [self.runs.tested[row].case for row in rows]
        self.project.investigation.with_cases(cases)
        return [case.name for case in cases]

    def find(self, technique: str, state: str, threshold: float | None = None) -> Findings:
        """The next list of a search whose state is kept under a name beside the program's folder."""
        path = self.folder.parent / f"{state}.json"
        return self.project.find(
            whence.SeveralFaults(technique=technique, state=path, threshold=threshold), float("inf")
        )

    @cached_property
    def total(self) -> int:
        """The statements that failing cases execute."""
        return len(self.project.find(whence.Spectrum()).ranking)

    @cached_property
    def statements(self) -> dict[str, frozenset[Statement]]:
        """The statements of each fault, by its id."""
        file = f"{self.source.program}.c"
        known = frozenset(self.project.investigation.subject.places.statements)
        places = zip(self.faults, self.source.lines, strict=True)
        return {fault.id: known & {Statement(file, line) for line in lines} for fault, lines in places}

    def score(self, worst: Mapping[Statement, int], total: int) -> tuple[str, float]:
        """The fault that a list of worst ranks leads to first, and its score; 0 for a fault that is not in it."""
        ranks = {
            name: min((worst.get(s, total) for s in found), default=total) for name, found in self.statements.items()
        }
        name = min(ranks, key=lambda name: (ranks[name], name))
        return name, 100 * (total - ranks[name]) / total


class Worlds:
    """The worlds of one version, by the faults that are left; made when they are needed."""

    def __init__(self, folder: Path, base: Path, names: Sequence[str], first: World) -> None:
        self._folder, self._base, self._names = folder, base, names
        self._worlds = {first.faults: first}

    def of(self, faults: Faults) -> World:
        """The world with these faults."""
        if faults not in self._worlds:
            names = "+".join(fault.id for fault in faults)
            self._worlds[faults] = World(self._folder / names, self._base, faults, self._names)
        return self._worlds[faults]


def locate_all(technique: str, worlds: Worlds, faults: Faults) -> tuple[list[float], int]:
    """Locate and fix fault after fault; the score of each list, and how many searches of a case that took."""
    scores: list[float] = []
    searched, total = 0, worlds.of(faults).total
    while faults and (world := worlds.of(faults)).runs.failing:
        found = world.find(technique, technique)
        searched += len(found.parts["iteration"]["searched"])
        fault, score = world.score({e.statement: e.rank_worst for e in found.ranking}, total)
        scores.append(score)
        faults = tuple(other for other in faults if other.id != fault)
    return scores, searched


def locate_clusters(threshold: float, worlds: Worlds, faults: Faults) -> list[float]:
    """Group the failing cases, and locate one fault with each group's list: the scores of the faults found so.

    A fault that several groups lead to counts once, with the mean of their scores.
    """
    world = worlds.of(faults)
    located: dict[str, list[float]] = {}
    for group in world.find("full", "clusters", threshold).parts["clusters"]:
        ranks = {Statement(entry["file"], entry["line"]): entry["rank_worst"] for entry in group["ranking"]}
        fault, score = world.score(ranks, world.total)
        located.setdefault(fault, []).append(score)
    return [mean(scores) for scores in located.values()]


# ---- The experiment --------------------------------------------------------------------------------------------------


def measure(program: str, work: Path, count: int, seed: int, details: bool) -> Scores:
    """The scores of one program over ``count`` versions; programs are kept below the folder ``work``."""
    scores = Scores()
    began = time.perf_counter()
    shutil.rmtree(work, ignore_errors=True)  # of an earlier measurement: states of its searches
    base = work / "base"
    corpus.prepare(corpus.faults(program)[0], base)
    alone: dict[str, float] = {}
    for number, faults in enumerate(versions(program, seed)):
        if scores.versions == count:
            break
        worlds = _worlds(work / f"{seed}-{number}", base, faults, seed)
        if worlds is None:
            continue
        _measure_version(worlds, faults, scores)
        for fault in faults:
            if fault.id not in alone:
                alone[fault.id] = _alone(work / f"alone-{fault.id}", base, fault, seed)
        scores.add("ideal", [alone[fault.id] for fault in faults])
        if details:
            print(_detail(program, worlds.of(faults).name, scores), file=sys.stderr, flush=True)
    scores.seconds = time.perf_counter() - began
    return scores


def _worlds(folder: Path, base: Path, faults: Faults, seed: int) -> Worlds | None:
    """The worlds of a version with its suite; None where a fault is executed by no failing case."""
    world = World(folder / "all", base, faults)
    chance = random.Random(f"{seed} {world.name}")
    chosen = suite(world.project.investigation.coverage, list(world.statements.values()), chance)
    return None if chosen is None else Worlds(folder, base, world.restrict(chosen), world)


def _measure_version(worlds: Worlds, faults: Faults, scores: Scores) -> None:
    scores.versions += 1
    scores.faults += len(faults)
    first = worlds.of(faults)
    scores.cases.append((len(first.runs.failing), len(first.runs.passing)))
    for technique in TECHNIQUES:
        scores.add(technique, *locate_all(technique, worlds, faults))
    for threshold in THRESHOLDS:
        scores.add(f"T={threshold}", locate_clusters(threshold, worlds, faults))


def _alone(folder: Path, base: Path, fault: corpus.Fault, seed: int) -> float:
    """The score of a fault that is alone in the program, with a suite of its own: the ideal."""
    world = World(folder / "all", base, (fault,))
    chosen = suite(world.project.investigation.coverage, [], random.Random(f"{seed} {world.name}"))
    world.restrict(chosen or [])
    found = world.find("full", "full")
    return world.score({e.statement: e.rank_worst for e in found.ranking}, world.total)[1]


# ---- Tables ----------------------------------------------------------------------------------------------------------


def _detail(program: str, name: str, scores: Scores) -> str:
    """The mean scores so far, after one more version."""
    failing, passing = scores.cases[-1]
    so_far = ", ".join(f"{key} {mean(found):.1f}" for key, found in scores.found.items())
    return f"{program} {name}, {failing} failing and {passing} passing: {so_far}"


def technique_table(results: Mapping[str, Scores]) -> str:
    """Table 3.2: the mean score of a located fault by each technique; in brackets searches of a case a version."""
    header = ["program", "versions", "faults", "failing / passing", "ideal", "full", "partial", "minimal", "s"]
    rows = []
    for program, scores in results.items():
        failing, passing = (mean(column) for column in zip(*scores.cases, strict=True))
        cells = [f"{_mean(scores, name)} ({scores.searched[name] / scores.versions:.1f})" for name in TECHNIQUES[::-1]]
        counts = [str(scores.versions), str(scores.faults), f"{failing:.1f} / {passing:.1f}"]
        rows.append([program, *counts, _mean(scores, "ideal"), *cells, f"{scores.seconds:.0f}"])
    averages = [f"{mean(float(_mean(s, name)) for s in results.values()):.1f}" for name in ("ideal", *TECHNIQUES[::-1])]
    return markdown(header, [*rows, ["mean", "", "", "", *averages, ""]])


def cluster_table(results: Mapping[str, Scores]) -> str:
    """Table 3.3: the mean score of a fault located with a group's list; in brackets how many a version are."""
    names = [f"T={threshold}" for threshold in THRESHOLDS]
    rows = [
        [program, *(f"{_mean(s, name)} ({len(s.found[name]) / s.versions:.1f})" for name in names)]
        for program, s in results.items()
    ]
    averages = [f"{mean(float(_mean(scores, name)) for scores in results.values()):.1f}" for name in names]
    return markdown(["program", *names], [*rows, ["mean", *averages]])


def _mean(scores: Scores, name: str) -> str:
    return f"{mean(scores.found[name]):.1f}"


def main() -> None:
    """Measure, and print the two tables."""
    parser = options(__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="programs of the corpus (all)")
    parser.add_argument("--versions", type=int, default=10, help="versions a program")
    parser.add_argument("--workers", type=int, default=2, help="programs at a time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--details", action="store_true", help="tell the means so far after each version")
    chosen = parser.parse_args()
    work = work_folder(chosen.work) / "several"
    programs = chosen.programs or corpus.programs()
    jobs = [(program, work / program, chosen.versions, chosen.seed, chosen.details) for program in programs]
    with ProcessPoolExecutor(chosen.workers) as pool:
        results = dict(zip(programs, pool.map(measure, *zip(*jobs, strict=True)), strict=True))
    print(technique_table(results), cluster_table(results), sep="\n\n")


if __name__ == "__main__":
    main()
