"""One meaning, three ways: every alteration of the corpus's failing runs by snapshot and by fork, some from the start.

    python -m bench.alter_ways [--work FOLDER] [--faults N] [--most N] [--sample N] [PROGRAM ...]

For each of the first faults of each program, the shortest failing run is altered at every instance of every site, in
all the ways that suit the site (``alterations``); of more than ``--most`` alterations, so many are drawn. A row says
how many there were, how many the runs from the start were, and how many results differ in verdict, status, signal,
first wrong byte, length or number of changes made. A result that is refused in one way is not compared.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.common import markdown, options, work_folder
from corpus import corpus
from whence.alter.changes import CHANGE, Batch, Flag, Op, Verdict, Way
from whence.alter.session import Session
from whence.build.quick import build_sources
from whence.probe.sites import AlterPlan, Form, Operation, Role
from whence.run.cases import Case
from whence.run.outcome import Expected
from whence.subject.subject import Subject

COMPARED = ("verdict", "status", "signal", "first_wrong", "length", "applied")
VARIABLES = 3  # that are tried in another one's place
STEP = 8  # bytes that a pointer is moved
ONE = int(np.float64(1).view(np.uint64))

Records = NDArray[np.void]


# ---- All alterations -------------------------------------------------------------------------------------------------


@dataclass(slots=True, frozen=True)
class Kind:
    """One kind of change, for the sites of some roles and forms."""

    op: Op
    roles: tuple[Role, ...]
    forms: tuple[Form, ...]
    value: int = 0
    flags: int = 0
    operation: int = 0
    least: int = 1  # bits of the site at least


USED = (Role.LOAD, Role.STORE, Role.ARGUMENT, Role.RESULT, Role.RETURN, Role.BINARY)
INTEGER, FLOAT, POINTER = (Form.INTEGER,), (Form.FLOAT,), (Form.POINTER,)
ANY = (*INTEGER, *FLOAT, *POINTER)
KINDS = [
    Kind(Op.NOT, (Role.BRANCH,), INTEGER),
    Kind(Op.NOT, (Role.COMPARE,), ANY),
    Kind(Op.SET, (Role.SWITCH,), INTEGER),
    Kind(Op.ADD, (Role.SWITCH,), INTEGER, 1),
    Kind(Op.ADD, USED, INTEGER, 1, least=8),
    Kind(Op.ADD, USED, FLOAT, ONE),
    Kind(Op.ADD, USED, POINTER, STEP),
    Kind(Op.SET, USED, ANY),
    Kind(Op.NEGATE, USED, (*INTEGER, *FLOAT), least=8),
    Kind(Op.ADD, (Role.LOAD,), INTEGER, 1, Flag.MEMORY, least=8),
    Kind(Op.NOT, (Role.RESULT, Role.RETURN), INTEGER),
    Kind(Op.KEEP, (Role.STORE,), ANY),
    Kind(Op.SKIP, (Role.CALL,), ANY),
    Kind(Op.SKIP, (Role.CALL,), INTEGER, 1, least=1),
    Kind(Op.RIGHT_ADD, (Role.BINARY, Role.COMPARE), INTEGER, 1, least=8),
    Kind(Op.LEFT_SET, (Role.BINARY, Role.COMPARE), ANY),
]
FAMILIES = [
    ((Role.BINARY,), INTEGER, Operation.ADD, Operation.XOR),
    ((Role.BINARY,), FLOAT, Operation.FADD, Operation.FREM),
    ((Role.COMPARE,), (*INTEGER, *POINTER), Operation.EQ, Operation.UGE),
    ((Role.COMPARE,), FLOAT, Operation.OEQ, Operation.UNO),
]


def alterations(plan: AlterPlan, events: Records) -> Records:
    """Every change (CHANGE) of each of the observed instances (EVENT), one after the other."""
    kinds = [*KINDS, *_operators()]
    made = [_changes(plan, events, kind) for kind in kinds]
    return np.concatenate([*made, *(_variables(plan, events, number) for number in range(VARIABLES))])


def _operators() -> Iterator[Kind]:
    for roles, forms, first, last in FAMILIES:
        for operation in Operation:
            if first <= operation <= last:
                yield Kind(Op.OPERATOR, roles, forms, operation=operation)


def _changes(plan: AlterPlan, events: Records, kind: Kind) -> Records:
    """One kind of change at every instance that it suits."""
    rows = plan.sites[events["site"]]
    suits = np.isin(rows["role"], kind.roles) & np.isin(rows["form"], kind.forms)
    if kind.op is not Op.SKIP or kind.value:
        suits &= rows["width"] >= kind.least
    events, rows = events[suits], rows[suits]
    made = _at(events, rows)
    made["op"], made["value"], made["flags"] = kind.op, kind.value, kind.flags
    made["operation"] = kind.operation or rows["operation"]
    if kind.op is Op.NOT:
        made["width"][rows["role"] == Role.COMPARE] = 1
    return made[(kind.op is not Op.OPERATOR) | (made["operation"] != rows["operation"])]


def _at(events: Records, rows: Records) -> Records:
    made = np.zeros(len(events), CHANGE)
    made["clock"], made["site"] = events["clock"], events["site"]
    for name in ("block", "form", "width"):
        made[name] = rows[name]
    return made


def _variables(plan: AlterPlan, events: Records, number: int) -> Records:
    """Another variable of the function takes the place of what is loaded: the n-th that has the same type."""
    rows = plan.sites[events["site"]]
    chosen = np.full(len(plan.sites), -1)
    for site in np.unique(events["site"][rows["role"] == Role.LOAD]).tolist():
        row = plan.sites[site]
        variables = plan.variables[plan.functions[row["function"]] : plan.functions[row["function"] + 1]]
        same = (variables["form"] == row["form"]) & (variables["width"] == row["width"])
        found = np.flatnonzero(same & (variables["slot"] != row["slot"]))
        chosen[site] = found[number] if number < len(found) else -1
    suits = chosen[events["site"]] >= 0
    made = _at(events[suits], rows[suits])
    made["op"], made["address"] = Op.VARIABLE, chosen[events["site"][suits]]
    return made


# ---- Comparing -------------------------------------------------------------------------------------------------------


def differing(one: Records, other: Records, fields: Sequence[str] = COMPARED) -> NDArray[np.intp]:
    """The numbers of the results that differ in these fields; those that one of both has refused are left out.

    What ends at no clock - it took too long, or it was lost - has no length to compare.
    """
    refused = (one["verdict"] == Verdict.REFUSED) | (other["verdict"] == Verdict.REFUSED)
    timeless = np.isin(one["verdict"], [Verdict.TIMEOUT, Verdict.LOST])
    differs = np.zeros(len(one), np.bool_)
    for name in fields:
        unlike = one[name] != other[name]
        differs |= unlike & ~timeless if name in ("length", "applied") else unlike
    return np.flatnonzero(differs & ~refused)


def run(subject: Subject, case: Case, way: Way, changes: Records, outputs: bool = False) -> Records:
    """The results of single changes, by one way."""
    with Session(subject, case, way) as session:
        return session.run(Batch.single(changes), outputs=outputs).records


# ---- The corpus ------------------------------------------------------------------------------------------------------


def main() -> int:
    """Print a table, and each difference below it."""
    parser = options(__doc__)
    parser.add_argument("--faults", type=int, default=3, help="faults of each program (default 3)")
    parser.add_argument("--most", type=int, default=20_000, help="alterations of a run (default 20,000)")
    parser.add_argument("--sample", type=int, default=300, help="of them from the start (default 300)")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM")
    arguments = parser.parse_args()
    work = work_folder(arguments.work)
    rows, notes = [], []
    for name in arguments.programs or corpus.programs():
        for fault in corpus.faults(name)[: arguments.faults]:
            row, found = compare(work, fault, arguments.most, arguments.sample)
            rows.append(row)
            notes += found
            print(" | ".join(row), file=sys.stderr, flush=True)
    print(markdown(HEAD, rows))
    print("\n".join(["", *notes]) if notes else "")
    return 1 if notes else 0


HEAD = ["fault", "ticks", "alterations", "refused", "snapshot and fork differ", "from the start", "differ"]


def compare(work: Path, fault: corpus.Fault, most: int, sample: int) -> tuple[list[str], list[str]]:
    """The row of one fault, and a line for each difference."""
    subject, case, length = shortest_failing(work, fault)
    with Session(subject, case, Way.SNAPSHOT) as session:
        observed = session.observe()
    draw = np.random.default_rng(1)
    changes = alterations(subject.alter_plan, observed.events)
    changes = changes[np.sort(draw.permutation(len(changes))[:most])]
    snapshot, fork = (run(subject, case, way, changes) for way in (Way.SNAPSHOT, Way.FORK))
    unlike = differing(snapshot, fork)
    some = np.sort(draw.permutation(len(changes))[:sample])
    inside = run(subject, case, Way.FORK, changes[some], outputs=True)
    whole = run(subject, case, Way.RESTART, changes[some], outputs=True)
    others = differing(inside, whole, ("verdict", "status", "signal", "first_wrong"))
    refused = int(np.count_nonzero(fork["verdict"] == Verdict.REFUSED))
    counts = (length, len(changes), refused, len(unlike), len(some), len(others))
    name = f"{fault.program}-{fault.id}"
    notes = [f"{name}: {changes[i]}: {snapshot[i]} by snapshot, {fork[i]} by fork" for i in unlike[:5]]
    notes += [f"{name}: {changes[some[i]]}: {inside[i]} by fork, {whole[i]} from the start" for i in others[:5]]
    return [name, *(f"{count:,}" for count in counts)], notes


def shortest_failing(work: Path, fault: corpus.Fault) -> tuple[Subject, Case, int]:
    """The faulty program with its failing case that has the fewest ticks, and their number."""
    right = build(work / "right" / fault.program, fault.program, corpus.source_path(fault.program).read_text())
    wrong = build(work / f"{fault.program}-{fault.id}", fault.program, corpus.faulty_source(fault))
    cases = [as_case(case) for case in corpus.cases(fault.program)]
    with right.runner() as good, wrong.runner() as bad:
        expected = [Expected(r.stdout, None, r.status) for r in good.run_cases(cases)]
        results = bad.run_cases(cases)
    failing = [
        replace(case, expected=e)
        for case, e, r in zip(cases, expected, results, strict=True)
        if (e.stdout, e.status) != (r.stdout, r.status)
    ]
    lengths = []
    for case in failing:
        with Session(wrong, case) as session:
            lengths.append(session.observe(0).length)
    chosen = int(np.argmin(lengths))
    return wrong, failing[chosen], lengths[chosen]


def build(folder: Path, name: str, text: str) -> Subject:
    """A program of one source file, with captured IR."""
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / f"{name}.c"
    source.write_text(text)
    return Subject(folder, build_sources([source], ["-O0", "-g", "-lm"], folder), [])


def as_case(case: corpus.Case) -> Case:
    """A case of the corpus, with the files that its arguments name."""
    folder = corpus.ROOT / case.program
    named = [a for a in case.arguments if (folder / a).is_file()]
    return Case(case.text, case.arguments, case.stdin, tuple((name, folder / name) for name in named))


if __name__ == "__main__":
    sys.exit(main())
