"""Compare the verdicts of the programs' own tests: built with gcc, and with the record variant in place.

    python -m bench.real.check --work FOLDER [PROGRAM ...]

Each program is built twice, with gcc and with ``whence-cc``. In the second tree the executables are replaced
by their record variants, every run of which writes a trace (into a ring, so that long runs stay small; a
trace is removed once its process has ended). Prints a line for each program, and each test whose verdict
differs; the status is 1 if there is one.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import threading
from pathlib import Path

from bench.common import memory_folder, options, work_folder
from bench.real.programs import Recipe, check, chosen_recipes, ensure_built, make
from whence.errors import WhenceError
from whence.probe.instrument import Variant
from whence.subject.subject import Subject

RING_BYTES = 8 << 20
SWEEP_SECONDS = 0.5

Verdicts = dict[str, str]


def reference_verdicts(recipe: Recipe, work: Path) -> tuple[Verdicts, float]:
    """Return gcc's verdicts and the seconds of that check; kept in ``work/verdicts`` for the next time."""
    kept = work / "verdicts" / f"{recipe.name}.json"
    if not kept.exists():
        found = check(recipe, ensure_built(recipe, work, "gcc", "gcc"))
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(json.dumps(found, indent=1), encoding="utf-8")
    verdicts, seconds = json.loads(kept.read_text(encoding="utf-8"))
    return verdicts, seconds


def recorded_verdicts(recipe: Recipe, work: Path) -> tuple[Verdicts, float, int]:
    """Return the verdicts with record variants in place, the seconds of the check, and the traces written."""
    tree = ensure_built(recipe, work, "whence", "whence-cc")
    plain = {tree / name: (tree / name).with_suffix(".plain") for name in recipe.executables}
    make(recipe, tree)
    try:
        for executable, kept in plain.items():
            executable.rename(kept)
            shutil.copy(Subject(tree, kept, []).variant(Variant.RECORD), executable)
        with Traces() as traces:
            verdicts, seconds = check(recipe, tree, traces.environment)
        return verdicts, seconds, traces.count
    finally:
        for executable, kept in plain.items():
            if kept.exists():
                kept.replace(executable)


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


def differences(reference: Verdicts, recorded: Verdicts) -> list[str]:
    """Return a line for each test whose verdict differs or that ran on one side only."""
    return [
        f"  {name}: gcc {reference.get(name, 'not run')}, recorded {recorded.get(name, 'not run')}"
        for name in sorted(reference.keys() | recorded.keys())
        if reference.get(name) != recorded.get(name)
    ]


def main() -> int:
    """Check the programs named and print the table."""
    parser = options("compare the verdicts of the programs' own tests")
    parser.add_argument("programs", nargs="*")
    arguments = parser.parse_args()
    work = work_folder(arguments.work)
    wrong = 0
    print("program    tests  differ  traces  gcc s  recorded s")
    for recipe in chosen_recipes(arguments.programs):
        if recipe.verdicts == "none":
            continue
        reference, plain_seconds = reference_verdicts(recipe, work)
        recorded, seconds, traces = recorded_verdicts(recipe, work)
        lines = differences(reference, recorded)
        wrong += len(lines)
        figures = f"{len(lines):7} {traces:7} {plain_seconds:6.0f} {seconds:11.0f}"
        print(f"{recipe.name:10} {len(reference):5} {figures}", *lines, sep="\n", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except WhenceError as error:
        sys.exit(f"error: {error}")
