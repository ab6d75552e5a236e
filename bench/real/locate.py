"""Locate the faults planted in the real programs with ``whence locate``.

    python -m bench.real.locate --work FOLDER [--budget 60s] [--alone] [--any-state] [--json FILE] [FAULT ...]

Each program is built once by its own configure and make with ``whence-cc``; each fault is planted there, made
again and given its cases as a folder beside a ``whence.toml``. The variants are built first, and the time of that is
told apart; then ``whence spectrum --formula op2`` and ``whence locate`` run. A result is lost where a command
ends in an error, or says that a part of it did. Suggested changes are made in the source (``bench.real.repairs``).
``--alone``: one failing input with what it should give is all that Whence is given, and changes are not tried.
``--faults FOLDER``: those that ``bench.real.seed`` wrote there.

Figures are kept in ``results/`` of the work folder, for each fault, budget and state of Whence's own code: a run that
was stopped goes on where it was. ``--any-state`` takes those of other states too. The reports themselves are kept in
``reports/``. Prints Markdown.
"""

from __future__ import annotations

import hashlib
import json
import re
import resource
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import whence
from bench.common import ended, markdown, options, work_folder
from bench.real.faults import ENVIRONMENT, Case, Fault, Outcome, chosen_faults, end_cleanly, planted
from bench.real.programs import HERE, ensure_built
from bench.real.repairs import Repair, suggestions, tried
from whence.errors import WhenceError
from whence.probe.instrument import Variant

LIMIT = 15  # times the budget, after which a command is ended
Report = Mapping[str, Any]
CRASHES = ("crash", "assertion")
TOLD = 3000  # characters of an internal error
LOST = re.compile(r"internal error|Traceback \(most recent", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Rank:
    """Where a fault stands in a ranking: the best and the worst rank of its best line's tie, of the lines ranked."""

    best: int
    worst: int
    ranked: int

    @property
    def average(self) -> float:
        """The middle of the tie."""
        return (self.best + self.worst) / 2

    def shown(self) -> str:
        """``3`` or ``3-7``, as in a table."""
        return f"{self.best}" if self.best == self.worst else f"{self.best}-{self.worst}"


@dataclass(slots=True)
class Row:
    """One fault's figures. ``lost`` says in words what was lost; a rank is None where no faulty line is ranked."""

    fault: str
    kind: str
    state: str
    symptom: str = "none"
    lost: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)  # by step
    op2: Rank | None = None
    locate: Rank | None = None
    in_slice: bool = False
    level: int | None = None  # in the cause tree
    repairs: list[Repair] = field(default_factory=list)

    @property
    def false(self) -> list[Repair]:
        """The suggested changes that do not hold in the source."""
        return [repair for repair in self.repairs if not repair.holds]


@cache
def state() -> str:
    """Names the state of Whence's own code."""
    digest = hashlib.sha256()
    root = Path(whence.__file__).parent
    for path in sorted(path for path in root.rglob("*") if path.suffix in (".py", ".c", ".h", ".toml")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Conditions:
    """What is the same for all faults: where they are built, the budget in seconds, and whether one input is all."""

    work: Path
    budget: float
    alone: bool = False

    def place(self, folder: str, fault: Fault) -> Path:
        """Where something about a fault is kept."""
        return self.work / folder / f"{fault.name}.{self.budget:g}{'.alone' if self.alone else ''}.json"


def measure(fault: Fault, conditions: Conditions) -> Row:
    """Plant the fault in the program built with ``whence-cc``, and run the commands on it."""
    work, budget = conditions.work, conditions.budget
    row = Row(fault.name, fault.kind, state())
    tree = ensure_built(fault.recipe, work, "whence", "whence-cc")
    plain = ensure_built(fault.recipe, work, "gcc", "gcc") / fault.executable
    with planted(fault, tree) as row.seconds["make"]:
        write_subject(replace(fault, passing=(), also_failing=()) if conditions.alone else fault, tree, plain)
        row.seconds["variants"] = build_variants(row, tree)
        counted = whence_json(row, "spectrum", tree, budget, "--formula", "op2")
        located = whence_json(row, "locate", tree, budget, "--budget", f"{budget:g}s")
    if counted:
        row.op2 = rank_of(fault, counted)
    if located:
        write(conditions.place("reports", fault), located)
        read(row, fault, located)
        if not conditions.alone:
            row.repairs = tried(fault, work, suggestions(located))
    return row


def read(row: Row, fault: Fault, located: Report) -> None:
    """Fill the row from the report of ``whence locate``."""
    row.symptom = (located["symptom"] or {}).get("kind", "none")
    row.locate = rank_of(fault, located)
    row.in_slice = any(f"{entry['file']}:{entry['line']}" in fault.lines for entry in located.get("slice", []))
    nodes = (located.get("tree") or {}).get("nodes", [])
    levels = [node["level"] for node in nodes if not set(fault.lines).isdisjoint(_places(node))]
    row.level = min(levels, default=None)
    row.lost += [line for line in located["summary"] if LOST.search(line)]


def _places(node: Mapping[str, Any]) -> Iterable[str]:
    return (f"{place['file']}:{place['line']}" for place in (node, *node["cause"]))


def build_variants(row: Row, tree: Path) -> float:
    """Build all variants; return the seconds. One that cannot be built is told."""
    began = time.perf_counter()
    with whence.open(tree) as project:
        for kind in Variant:
            try:
                project.investigation.build(kind)
            except WhenceError as error:
                row.lost.append(f"no {kind} variant: {error}")
    return time.perf_counter() - began


def write_subject(fault: Fault, tree: Path, plain: Path) -> None:
    """Write ``whence.toml`` and the cases into the tree; ``plain`` is the program without the fault."""
    folder = tree / "whence-cases"
    shutil.rmtree(folder, ignore_errors=True)
    failing = {"fail" if not n else f"fail{n}": case for n, case in enumerate((fault.failing, *fault.also_failing))}
    passing = {f"pass{n:02}": case for n, case in enumerate(fault.passing, 1)}
    for name, case in {**failing, **passing}.items():
        write_case(case, case.run(plain), folder / name)
    variables = ", ".join(f'{name} = "{value}"' for name, value in ENVIRONMENT.items())
    (tree / "whence.toml").write_text(
        f'[program]\npath = "{fault.executable}"\n\n'
        f'[cases]\nfolder = "{folder.name}"\nenvironment = {{ {variables} }}\n',
        encoding="utf-8",
    )


def write_case(case: Case, expected: Outcome, folder: Path) -> None:
    """Write one case as a folder of its own."""
    (folder / "files").mkdir(parents=True)
    (folder / "args").write_text(shlex.join(case.arguments) + "\n", encoding="utf-8")
    (folder / "stdin").write_bytes(case.stdin)
    (folder / "expected").write_bytes(expected.stdout)
    (folder / "status").write_text(f"{expected.status}\n", encoding="utf-8")
    case.write_files(folder / "files")


def whence_json(row: Row, command: str, tree: Path, budget: float, *more: str) -> Report | None:
    """Run a command of Whence in the tree, and note its seconds; return its JSON, or None and why it was lost."""
    began, used = time.perf_counter(), processor_seconds()
    program = Path(sys.executable).with_name("whence")
    try:
        done = subprocess.run(
            [program, command, "--json", *more],
            cwd=tree,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LIMIT * budget,
            check=False,
        )
    except subprocess.TimeoutExpired:
        row.lost.append(f"{command}: no result in {LIMIT} times the budget")
        return None
    finally:
        row.seconds[command] = time.perf_counter() - began
        row.seconds[f"{command} cpu"] = processor_seconds() - used
    said = done.stderr.decode(errors="replace").strip()
    if done.returncode > 1:
        row.lost.append(f"{command}: status {done.returncode}: {said[-300:]}")
        return None
    if found := LOST.search(said):
        row.lost.append(f"{command}: {said[found.start() :][:TOLD]}")
    report: Report = json.loads(done.stdout)
    return report


def processor_seconds() -> float:
    """Seconds of the processor that ended children took: on a busy machine far fewer than the clock says."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def rank_of(fault: Fault, report: Report) -> Rank | None:
    """Return the rank of the fault's best line in a report."""
    ranking = report["ranking"]
    entries = [entry for entry in ranking if f"{entry['file']}:{entry['line']}" in fault.lines]
    if not entries:
        return None
    best = min(entries, key=lambda entry: (entry["rank"] + entry["rank_worst"], entry["rank"]))
    return Rank(best["rank"], best["rank_worst"], len(ranking))


def kept(fault: Fault, conditions: Conditions, any_state: bool) -> Row | None:
    """The figures of an earlier run, if there are any of this state (or any)."""
    path = conditions.place("results", fault)
    if not path.exists():
        return None
    table = json.loads(path.read_text(encoding="utf-8"))
    for name in ("op2", "locate"):
        table[name] = table[name] and Rank(**table[name])
    table["repairs"] = [
        Repair(**{**each, "said": tuple(each["said"]), "found": each["found"] and tuple(each["found"])})
        for each in table["repairs"]
    ]
    row = Row(**table)
    return row if any_state or row.state == state() else None


def write(path: Path, content: object) -> None:
    """Write figures or a report down for the next run."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content, indent=1), encoding="utf-8")


HEAD = [
    "fault",
    "kind",
    "symptom",
    "lost",
    "make s",
    "variants s",
    "locate s",
    "cpu s",
    "Op2",
    "`locate`",
    "of",
    "slice",
]
HEAD += ["tree level", "changes tried", "false"]


def cells(row: Row) -> list[str]:
    """The table's line for one fault."""
    ranked = row.locate or row.op2
    return [
        row.fault,
        row.kind,
        row.symptom,
        str(len(row.lost)),
        *(f"{row.seconds.get(step, 0.0):.0f}" for step in ("make", "variants", "locate", "locate cpu")),
        *("-" if rank is None else rank.shown() for rank in (row.op2, row.locate)),
        "-" if ranked is None else f"{ranked.ranked:,}",
        "yes" if row.in_slice else "no",
        "-" if row.level is None else str(row.level),
        str(len(row.repairs)),
        str(len(row.false)),
    ]


def summary(rows: Sequence[Row], budget: float) -> str:
    """Results lost, budgets, ranks and false repairs in sentences."""
    crashes = [row for row in rows if row.symptom in CRASHES]
    over = [row for row in rows if row.seconds.get("locate", 0.0) > 1.1 * budget]
    lines = [
        f"{sum(not row.lost for row in rows)} of {len(rows)} without anything lost.",
        f"`locate` took more than 1.1 times the budget of {budget:g} s in {len(over)}.",
        f"`locate`, all: {_within(rows, 'locate')}; where the program crashes: {_within(crashes, 'locate')}. "
        f"Op2, all: {_within(rows, 'op2')}; crashes: {_within(crashes, 'op2')}.",
        f"In the slice {sum(row.in_slice for row in rows)}, "
        f"in the cause tree {sum(row.level is not None for row in rows)}.",
        f"{sum(len(row.repairs) for row in rows)} suggested changes tried in the source, "
        f"{sum(len(row.false) for row in rows)} of them do not hold; of those that the report calls confirmed, "
        f"{sum(repair.confirmed is True for row in rows for repair in row.false)} of "
        f"{sum(repair.confirmed is True for row in rows for repair in row.repairs)}.",
    ]
    return "\n".join(f"- {line}" for line in lines)


def _within(rows: Sequence[Row], ranking: str) -> str:
    """How many stand among the first five and ten, by the middle of the tie."""
    ranks = [rank.average for row in rows if (rank := getattr(row, ranking)) is not None]
    return f"{sum(r <= 5 for r in ranks)} of {len(rows)} within five, {sum(r <= 10 for r in ranks)} within ten"


def main() -> int:
    """Measure the faults named and print the tables."""
    end_cleanly()
    parser = options("locate the planted faults")
    parser.add_argument("--budget", type=lambda text: float(text.removesuffix("s")), default=60.0, help="seconds")
    parser.add_argument("--alone", action="store_true", help="with one failing input alone")
    parser.add_argument("--any-state", action="store_true", help="take figures of other states of the code, too")
    parser.add_argument("--json", type=Path, help="file for the figures")
    parser.add_argument("--faults", type=Path, default=HERE / "faults", metavar="FOLDER", help="(those of bench/real)")
    parser.add_argument("names", nargs="*", metavar="FAULT")
    arguments = parser.parse_args()
    conditions = Conditions(work_folder(arguments.work), arguments.budget, arguments.alone)
    rows = []
    faults = chosen_faults(arguments.names, folder=arguments.faults)
    for fault in faults:
        row = kept(fault, conditions, arguments.any_state)
        if row is None:
            try:
                row = measure(fault, conditions)
            except WhenceError as error:  # the table goes on: the other faults are independent
                print(f"{fault.name}: not measured: {error}", file=sys.stderr, flush=True)
                continue
            write(conditions.place("results", fault), asdict(row))
        rows.append(row)
        print(" | ".join(cells(row)), file=sys.stderr, flush=True)
    print(markdown(HEAD, [cells(row) for row in rows]), summary(rows, arguments.budget), sep="\n\n")
    for row in rows:
        print(*(f"- {row.fault}: {text}" for text in (*row.lost, *(repair.shown() for repair in row.false))), sep="\n")
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(row) for row in rows], indent=1), encoding="utf-8")
    return 0 if len(rows) == len(faults) else 1


if __name__ == "__main__":
    ended(main)
