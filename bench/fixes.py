"""Fixes on the corpus: suggestions learned from other programs' faults, and edits that let all cases pass.

    python -m bench.fixes [--every N] [--workers N] [--learn FILE] [--knowledge FILE] [--details] [--held] [PROGRAM ...]
    python -m bench.fixes --generated FILE [--every N] [--knowledge FILE] [--details]
    python -m bench.fixes --suggested [--knowledge FILE]

`--learn FILE` writes what all faults teach (the knowledge that is shipped is made by it), and measures nothing else;
with `--recorded` it adds what likely invariants said in files of `bench.ranking.record` to what is known already.
`--suggested` tells how often suggestions are right, and without descriptors of some kinds, and runs nothing.
Suggestions are prioritised leaving the fault's program out. A suggestion is right where the real fix has its
description; an edit equals the real fix where it makes the same tokens of the file, or the same optimised code.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import whence  # noqa: E402
from bench.common import markdown  # noqa: E402
from bench.faults import each_fault, fault_options, was_measured  # noqa: E402
from bench.generated.faults import Generated, read_faults  # noqa: E402
from bench.ranking.evidence import read  # noqa: E402
from corpus import corpus  # noqa: E402
from whence.build.edited import Rebuild  # noqa: E402
from whence.errors import WhenceError  # noqa: E402
from whence.program.c_source import CSource  # noqa: E402
from whence.program.source_edits import applied, edited  # noqa: E402
from whence.program.token_changes import c_tokens  # noqa: E402
from whence.techniques.bugfix.association import learn, prioritise  # noqa: E402
from whence.techniques.bugfix.candidates import FileCandidates  # noqa: E402
from whence.techniques.bugfix.knowledge import SHIPPED, Scenario, load, save  # noqa: E402
from whence.techniques.bugfix.likelihood import fixes_made, likeliest_first  # noqa: E402
from whence.techniques.bugfix.said import ALL_PASSING, INVARIANT, NEVER_PASSING, broken, executed  # noqa: E402

if TYPE_CHECKING:
    from whence.subject.subject import Subject

BUDGET = 60.0
AMONG = (3, 10, 30, 100)  # edits of a line


@dataclass(slots=True)
class Taught:
    """What a fault teaches."""

    program: str
    fault: str
    scenarios: list[Scenario] = field(default_factory=list)
    seconds: float = 0.0
    error: str = ""


def teach(program: str, number: int) -> Taught:
    """The scenarios of one fault: the situation where its fix changes something, and what the fix is called."""
    fault = corpus.faults(program)[number]
    taught = Taught(program, fault.id)
    began = time.perf_counter()
    try:
        with tempfile.TemporaryDirectory(prefix="whence-bench-") as name:
            corpus.prepare(fault, Path(name))
            with whence.open(Path(name)) as project:
                fixed = ((f"{program}.c", corpus.source_path(program).read_bytes()),)
                found = project.find(whence.LearnFix(fixed=fixed, origin=f"{program} {fault.id}"), BUDGET)
            taught.scenarios = [
                Scenario(tuple(one["fixes"]), frozenset(one["situation"]), one["from"])
                for one in found.parts["scenarios"]
            ]
    except WhenceError as error:
        taught.error = str(error)
    taught.seconds = time.perf_counter() - began
    return taught


@contextmanager
def others_fixes(program: str) -> Iterator[Path]:
    """A file with the fixes of other programs' faults."""
    with tempfile.TemporaryDirectory(prefix="whence-bench-") as folder:
        path = Path(folder, "fixes")
        save(path, (scenario for scenario in load(SHIPPED) if scenario.origin.split()[0] != program))
        yield path


# ---- Measuring -------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Fixed:
    """What was found for one fault; ``suggested`` and ``edited`` are places of what is right, from 1 (0: nowhere)."""

    program: str
    fault: str
    suggested: int = 0  # of the first suggestion that is right, by the situation of the faulty statement
    described: int = 0  # of the first passing edit that is of the right kind
    edited: int = 0  # of the first passing edit that is the real fix, token by token
    equal: int = 0  # ... that equals it: the same tokens, or the same code to an optimising compiler
    edits: int = 0  # with which all cases pass
    at_fault: bool = False  # ... of a faulty line
    tried: int = 0
    seconds: float = 0.0
    error: str = ""

    @property
    def told(self) -> int:
        """The place of what is right first: an edit of the right kind or equal to the real fix, then a suggestion."""
        places = [place for place in (self.described, self.equal) if place]
        return min(places) if places else self.edits + self.suggested if self.suggested else 0


def measure(program: str, number: int, known: Sequence[Scenario]) -> Fixed:
    """What is suggested and edited for one fault of the corpus."""
    return measured(corpus.faults(program)[number], known)


def measured(fault: corpus.Fault | Generated, known: Sequence[Scenario]) -> Fixed:
    """What is suggested and edited for one fault, with what other programs' faults teach."""
    program = fault.program
    row = Fixed(program, fault.id)
    others = [one for one in known if one.origin.split()[0] != program]
    own = [one for one in known if one.origin == f"{program} {fault.id}"]
    right = {text for one in own for text in one.fixes}
    if own:
        row.suggested = _suggested(known, own[0].origin)
    try:
        with tempfile.TemporaryDirectory(prefix="whence-bench-") as name:
            folder = Path(name)
            corpus.prepare(fault, folder)
            save(folder / "others", others)
            with whence.open(folder) as project:
                project.find(whence.Spectrum())  # builds, and runs the cases
                clock = project.investigation.clock
                began, stood = time.perf_counter(), clock.stood
                found = project.find(whence.Fix(knowledge=(folder / "others",)), BUDGET)
                row.seconds = time.perf_counter() - began - (clock.stood - stood)
                _enter(row, found.parts, fault, right)
                row.equal = _equal(project.investigation.subject, found.parts, fault)
    except WhenceError as error:
        row.error = str(error)
    return row


def _enter(row: Fixed, parts: dict[str, Any], fault: corpus.Fault | Generated, right: set[str]) -> None:
    """What the edits are."""
    faulty, good = corpus.faulty_source(fault).encode(), corpus.source_path(fault.program).read_bytes()
    passing = [edit for edit in parts["edits"] if edit["passes"]]
    row.edits, row.tried = len(passing), parts["trials"]["tried"]
    row.at_fault = any(edit["line"] in fault.lines for edit in passing)
    row.described = _place(bool(right & set(edit["descriptions"])) for edit in passing)
    row.edited = _place(c_tokens(applied(faulty, edit["diff"])) == c_tokens(good) for edit in passing)


def _equal(subject: Subject, parts: dict[str, Any], fault: corpus.Fault | Generated) -> int:
    """The place of the first passing edit that equals the real fix."""
    faulty, good = corpus.faulty_source(fault).encode(), corpus.source_path(fault.program).read_bytes()
    source = subject.folder / f"{fault.program}.c"
    with tempfile.TemporaryDirectory(prefix="whence-bench-") as name:
        rebuild = Rebuild(subject.capture, Path(name))
        code = rebuild.code(source, good, "good")
        texts = [applied(faulty, edit["diff"]) for edit in parts["edits"] if edit["passes"]]
        return _place(
            c_tokens(text) == c_tokens(good) or rebuild.code(source, text, f"edit-{number}") == code
            for number, text in enumerate(texts)
        )


def _place(found: Iterable[bool]) -> int:
    """The place of the first that is right, from 1; 0: none is."""
    return next((place for place, is_right in enumerate(found, 1) if is_right), 0)


# ---- What the candidates hold ----------------------------------------------------------------------------------------


def held(program: str, number: int) -> tuple[str, int]:
    """A fault's kind, and the place of the real fix among the edits of a line, by its tokens; 0: it is none of them.

    The lines are the faulty ones and those beside them, the likeliest edits first by what other programs' faults teach.
    """
    fault = corpus.faults(program)[number]
    source, good = CSource(corpus.faulty_source(fault).encode()), corpus.source_path(program).read_bytes()
    candidates, tokens = FileCandidates(source, f"{program}.c"), c_tokens(good)
    made = fixes_made(one for one in load(SHIPPED) if one.origin.split()[0] != program)
    longer = len("".join(tokens)) - len("".join(c_tokens(source.text)))
    size = _characters(source.text) + longer
    for line in sorted({line + step for line in fault.lines for step in (-1, 0, 1)}):
        for place, edit in enumerate(likeliest_first(chain(candidates.on(line), candidates.alone(line)), made), 1):
            text = edited(source, edit)
            if _characters(text) == size and c_tokens(text) == tokens:
                return fault.kind, place
    return fault.kind, 0


def _characters(text: bytes) -> int:
    """How many characters a text has but for white space."""
    return len(b"".join(text.split()))


def held_table(found: Sequence[tuple[str, int]]) -> str:
    """For each kind of fault how often its fix is among the candidates of a line, and among the first of them."""
    kinds = dict.fromkeys(kind for kind, _ in found)
    places = {kind: [place for other, place in found if other == kind] for kind in kinds}
    places["all"] = [place for _, place in found]
    rows = []
    for kind, mine in places.items():
        there = [place for place in mine if place]
        within = [sum(place <= most for place in there) for most in AMONG]
        rows.append([kind, *map(str, (len(mine), len(there), *within)), f"{median(there):.0f}" if there else "-"])
    head = ["kind", "faults", "real fix held", *(f"first {most}" for most in AMONG), "median place"]
    return markdown(head, rows)


# ---- Suggestions -----------------------------------------------------------------------------------------------------

VALUES, PAIRS = ("fail", "pass", "ALL-", "ONE-FAIL", "ONE-PASS"), ("orig", "alt", "OTHER-", "ONE-TO", "ANY-TO")
KINDS = {
    "values in runs": VALUES,
    "mapping pairs": PAIRS,
    "how it fails": ("SYMPTOM",),
    "invariants": (INVARIANT,),
    "passing cases": (NEVER_PASSING, ALL_PASSING),
    "invariants and passing cases": (INVARIANT, NEVER_PASSING, ALL_PASSING),
}


def suggested(known: Sequence[Scenario]) -> str:
    """How often what other programs' faults teach is right, with all descriptors and without those of each kind."""
    ways = {"all descriptors": (), **{f"without {name}": starts for name, starts in KINDS.items()}}
    ways["structure alone"] = tuple(start for starts in KINDS.values() for start in starts)
    rows = []
    for name, left_out in ways.items():
        kept = [replace(one, situation=_without(one.situation, left_out)) for one in known]
        places = [_suggested(kept, origin) for origin in dict.fromkeys(one.origin for one in kept)]
        rows.append([name, str(len(places)), *(str(sum(0 < place <= most for place in places)) for most in (1, 3))])
    return markdown(["suggestions", "faults", "right: first", "within three"], rows)


def _without(situation: frozenset[str], starts: tuple[str, ...]) -> frozenset[str]:
    return frozenset(text for text in situation if not (starts and text.startswith(starts)))


def _suggested(known: Sequence[Scenario], origin: str) -> int:
    """The place of the first suggestion that is right for a fault, by what other programs' faults teach."""
    others = [one for one in known if one.origin.split()[0] != origin.split()[0]]
    own = [one for one in known if one.origin == origin]
    right = {text for one in own for text in one.fixes}
    return _place(s.fix in right for s in prioritise(learn(others, own[0].situation), own[0].situation))


def with_recorded(known: Sequence[Scenario], paths: Iterable[Path]) -> list[Scenario]:
    """Scenarios with what executes the faulty lines and what invariants break there, as ``LearnFix`` has it."""
    found = {}
    for recorded in (one for path in paths for one in read(path) if one.origin == "corpus"):
        compared = next((one.ranking for one in recorded.found if one.technique == "invariants"), [])
        said = [broken(e) for e in compared if e.statement.line in recorded.lines and "initial" not in e.evidence]
        said += [executed(e) for e in recorded.base.ranking if e.statement.line in recorded.lines]
        found[f"{recorded.program} {recorded.fault}"] = frozenset[str]().union(*said)
    return [replace(one, situation=one.situation | found.get(one.origin, frozenset())) for one in known]


def table(rows: Sequence[Fixed]) -> str:
    """A row a program, and one for all."""
    programs = [[row for row in rows if row.program == name] for name in dict.fromkeys(row.program for row in rows)]
    lines = [(part[0].program, part) for part in programs] + [("all", list(rows))]
    return markdown(
        [
            *("program", "faults", "suggestion right: first", "within three", "all cases pass with an edit"),
            *(
                "... of a faulty line",
                "edit of the right kind: first",
                "within three",
                "the real fix: first",
                "within three",
            ),
            *("or equal: first", "within three", "right description, edits, then suggestions: first", "within three"),
            *("seconds, median", "edits tried"),
        ],
        [[name, *_cells(part)] for name, part in lines if part],
    )


def _cells(rows: Sequence[Fixed]) -> list[str]:
    def within(most: int, *places: int) -> int:
        return sum(0 < place <= most for place in places)

    counts = [
        len(rows),
        *(within(most, *(row.suggested for row in rows)) for most in (1, 3)),
        sum(row.edits > 0 for row in rows),
        sum(row.at_fault for row in rows),
        *(within(most, *(row.described for row in rows)) for most in (1, 3)),
        *(within(most, *(row.edited for row in rows)) for most in (1, 3)),
        *(within(most, *(row.equal for row in rows)) for most in (1, 3)),
        *(within(most, *(row.told for row in rows)) for most in (1, 3)),
    ]
    seconds = f"{median(row.seconds for row in rows):.1f}"
    return [*map(str, counts), seconds, f"{median(row.tried for row in rows):,.0f}"]


def _detail(row: Fixed) -> str:
    return (
        f"{row.program} {row.fault}: suggestion {row.suggested}, kind {row.described}, real {row.edited}, "
        f"equal {row.equal}, told {row.told}, {row.edits} pass, at the fault {row.at_fault}, {row.tried} tried, "
        f"{row.seconds:.1f} s"
    )


def main() -> None:
    """Measure, and print the table; or learn."""
    parser = fault_options(__doc__)
    parser.add_argument("--learn", type=Path, metavar="FILE", help="write what the faults teach, and nothing else")
    parser.add_argument("--knowledge", type=Path, default=SHIPPED, metavar="FILE", help="learned before [the shipped]")
    parser.add_argument("--held", action="store_true", help="count whose candidates hold the fix, and run nothing")
    parser.add_argument(
        "--generated", type=Path, metavar="FILE", help="faults that bench.generated made, one at a time"
    )
    parser.add_argument("--suggested", action="store_true", help="how often suggestions are right; run nothing")
    parser.add_argument("--recorded", type=Path, nargs="+", metavar="FILE", help="add what was recorded, with --learn")
    options = parser.parse_args()
    if options.suggested:
        print(suggested(load(options.knowledge)))
        return
    if options.recorded:
        save(options.learn or options.knowledge, with_recorded(load(options.knowledge), options.recorded))
        return
    if options.held:
        print(held_table(list(each_fault(options, held))))
        return
    if options.learn:
        rows = [row for row in each_fault(options, teach) if was_measured(row)]
        save(options.learn, [one for row in rows for one in row.scenarios])
        print(f"{len(rows)} faults, {sum(row.seconds for row in rows) / max(1, len(rows)):.1f} s each")
        return
    known = load(options.knowledge)
    if options.generated:
        faults = read_faults(options.generated)[options.offset :: options.every]
        found = (measured(fault, known) for fault in faults)
    else:
        found = iter(each_fault(options, measure, known))
    print(table([row for row in found if was_measured(row, _detail if options.details else None)]))


if __name__ == "__main__":
    main()
