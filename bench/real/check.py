"""Compare the verdicts of the programs' own tests: built with gcc, with ``whence-cc``, and with its variants in place.

    python -m bench.real.check --work FOLDER [--any-state] [PROGRAM ...]

Each program is built twice, with gcc and with ``whence-cc``. In the second tree the tests are run on what was built,
and again with the cover and the record variant in place of the executables. Every run of the record variant writes a
trace (into a ring, so that long runs stay small; a trace is removed once its process has ended). Prints a Markdown
table with a line for each program, and each test whose verdict differs; the status is 1 if there is one. What was found
is kept in ``verdicts/`` of the work folder for the recipe and the state of Whence's own code, so that a run that was
stopped goes on where it was; ``--any-state`` takes it of any state.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from bench.common import ended, markdown, memory_folder, options, work_folder
from bench.real.locate import state
from bench.real.programs import Recipe, check, chosen_recipes, ensure_built, make, make_tested
from whence.errors import BuildError, WhenceError
from whence.probe.instrument import Variant
from whence.subject.subject import Subject

RING_BYTES = 8 << 20
SWEEP_SECONDS = 0.5

Verdicts = dict[str, str]


@dataclass(frozen=True, slots=True)
class Checked:
    """One run of a program's tests: verdict by test, seconds, traces written, and of what: state and recipe."""

    verdicts: Verdicts
    seconds: float
    traces: int = 0
    state: str = ""
    recipe: str = ""


def reference_verdicts(recipe: Recipe, work: Path) -> Checked:
    """Run the tests of the program built with gcc; raises ``BuildError`` if there is none."""
    found = Checked(*check(recipe, ready_to_check(recipe, work, "gcc", "gcc")))
    if not found.verdicts:
        raise BuildError(f"`{' '.join(recipe.check)}` gives no verdict")
    return found


def plain_verdicts(recipe: Recipe, work: Path) -> Checked:
    """Run the tests of the program built with ``whence-cc``."""
    return Checked(*check(recipe, ready_to_check(recipe, work, "whence", "whence-cc")), state=state())


def ready_to_check(recipe: Recipe, work: Path, build: str, cc: str) -> Path:
    """Return the tree of the build, in which all programs that are tested are made."""
    tree = ensure_built(recipe, work, build, cc)
    put_back(set_aside(recipe, tree))  # a run that was killed leaves variants behind
    make(recipe, tree)
    make_tested(recipe, tree)
    return tree


def set_aside(recipe: Recipe, tree: Path) -> dict[Path, Path]:
    """Return for each program that the tests run where it lies while a variant is in its place."""
    names = recipe.tested or recipe.executables
    return {tree / name: (tree / name).with_suffix(".plain") for name in names}


def put_back(plain: dict[Path, Path]) -> None:
    """Put the programs that are set aside back into their places."""
    for executable, kept in plain.items():
        if kept.exists():
            kept.replace(executable)


def variant_verdicts(recipe: Recipe, work: Path, kind: Variant) -> Checked:
    """Run the tests with a variant in place of each executable."""
    tree = ready_to_check(recipe, work, "whence", "whence-cc")
    plain = set_aside(recipe, tree)
    try:
        for executable, kept in plain.items():
            executable.rename(kept)
            shutil.copy(Subject(tree, kept, []).variant(kind), executable)
        with Traces() as traces:
            verdicts, seconds = check(recipe, tree, traces.environment if kind is Variant.RECORD else None)
        if kind is Variant.RECORD and not traces.count:
            raise BuildError(f"the tests run none of {', '.join(path.name for path in plain)}")
        return Checked(verdicts, seconds, traces.count, state())
    finally:
        put_back(plain)


def kept(path: Path, recipe: Recipe, any_state: bool, run: Callable[[], Checked]) -> Checked:
    """What an earlier run of the recipe found, if of this state (or of any, or Whence has no part in it); else run."""
    digest = hashlib.sha256(repr(recipe).encode()).hexdigest()[:12]
    if path.exists():
        found = Checked(**json.loads(path.read_text(encoding="utf-8")))
        if found.recipe == digest and (any_state or found.state in ("", state())):
            return found
    found = replace(run(), recipe=digest)
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(asdict(found), indent=1), encoding="utf-8")
    return found


class Traces:
    """A folder in memory for traces; while the block runs, those of processes that have ended are removed."""

    def __init__(self) -> None:
        self.count = 0
        self._folder = tempfile.TemporaryDirectory(dir=memory_folder())
        self._ended = threading.Event()
        self._sweeper = threading.Thread(target=self._sweep)

    @property
    def environment(self) -> dict[str, str]:
        """What makes every run of a record variant write a trace of its own into the folder."""
        return {
            "WHENCE_TRACE": f"{self._folder.name}/",
            "WHENCE_TRACE_LIMIT": str(RING_BYTES),
            "WHENCE_RING": "1",
        }

    def __enter__(self) -> Traces:
        self._sweeper.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._sweeper.join()
        self._folder.cleanup()

    def _sweep(self) -> None:
        while not self._ended.wait(SWEEP_SECONDS):
            self._remove_ended()
        self._remove_ended()

    def _remove_ended(self) -> None:
        for trace in Path(self._folder.name).iterdir():  # named by the number of the process
            if not Path("/proc", trace.name).exists():
                trace.unlink()
                self.count += 1


def differences(reference: Verdicts, other: Verdicts, name: str) -> list[str]:
    """Return a line for each test whose verdict differs or that ran on one side only."""
    return [
        f"{test}: gcc {reference.get(test, 'not run')}, {name} {other.get(test, 'not run')}"
        for test in sorted(reference.keys() | other.keys())
        if reference.get(test) != other.get(test)
    ]


HEAD = ["program", "tests", "differing: plain", "cover", "record", "traces", "seconds: gcc", "plain", "cover", "record"]


def main() -> int:
    """Check the programs named and print the table."""
    parser = options("compare the verdicts of the programs' own tests")
    parser.add_argument("--any-state", action="store_true", help="take what other states of the code gave, too")
    parser.add_argument("programs", nargs="*")
    arguments = parser.parse_args()
    work = work_folder(arguments.work)
    rows, lines = [], list[str]()
    for recipe in chosen_recipes(arguments.programs):
        if recipe.verdicts == "none":
            continue
        try:
            row, found = compared(recipe, work, arguments.any_state)
        except WhenceError as error:  # the table goes on: the other programs are independent
            lines.append(f"- {recipe.name}: not checked: {error}")
            continue
        rows.append(row)
        lines += found
        print(" | ".join(row), *found, sep="\n", file=sys.stderr, flush=True)
    print(markdown(HEAD, rows), "", *lines, sep="\n")
    return 1 if lines else 0


def compared(recipe: Recipe, work: Path, any_state: bool) -> tuple[list[str], list[str]]:
    """A program's line of the table, and its tests that differ."""

    def found(name: str, run: Callable[[], Checked]) -> Checked:
        return kept(work / "verdicts" / f"{recipe.name}.{name}.json", recipe, any_state, run)

    gcc = found("gcc", lambda: reference_verdicts(recipe, work))
    ours = {
        "plain": found("plain", lambda: plain_verdicts(recipe, work)),
        "cover": found("cover", lambda: variant_verdicts(recipe, work, Variant.COVER)),
        "record": found("record", lambda: variant_verdicts(recipe, work, Variant.RECORD)),
    }
    wrong = [differences(gcc.verdicts, run.verdicts, name) for name, run in ours.items()]
    seconds = [f"{run.seconds:.0f}" for run in (gcc, *ours.values())]
    counts = [f"{len(gcc.verdicts)}", *(f"{len(lines)}" for lines in wrong), f"{ours['record'].traces}"]
    return [recipe.name, *counts, *seconds], [f"- {recipe.name}: {line}" for lines in wrong for line in lines]


if __name__ == "__main__":
    ended(main)
