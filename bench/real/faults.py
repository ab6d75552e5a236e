"""The faults planted in the real programs: small edits of our own, each with its cases.

The files in ``faults/``, one a program, describe them. A fault's edits are made in an unpacked tree, the program is
made again, and its cases run in folders that hold nothing but the case's own files. As a script:

    python -m bench.real.faults --work FOLDER [FAULT ...]

builds the programs with gcc, once plain and once with each fault, and checks that the failing cases fail with
the fault only, and that every passing case gives the same with and without it.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.common import ended, options, work_folder
from bench.real.cases import content
from bench.real.programs import HERE, Recipe, ensure_built, load_recipes, make
from whence.errors import BuildError, SubjectError

CASE_SECONDS = 10
ENVIRONMENT = {"LC_ALL": "C", "TZ": "UTC0"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run gave: its standard output, and its status (negative: the signal that ended it; None: no end)."""

    stdout: bytes
    status: int | None


@dataclass(frozen=True, slots=True)
class Case:
    """One run of a subject: arguments, standard input, files made before, and the outcome if known."""

    arguments: tuple[str, ...]
    stdin: bytes = b""
    files: Mapping[str, bytes] = field(default_factory=dict)
    expected: Outcome | None = None

    def run(self, executable: Path, seconds: float = CASE_SECONDS) -> Outcome:
        """Run the case in a folder of its own, and end it when it does not end in time."""
        with tempfile.TemporaryDirectory() as name, tempfile.TemporaryFile() as stdin:
            self.write_files(Path(name))
            stdin.write(self.stdin)
            stdin.seek(0)  # a file, as Whence gives it: some programs ask what their input is
            try:
                done = subprocess.run(
                    [executable.resolve(), *self.arguments],
                    cwd=name,
                    stdin=stdin,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    env={"PATH": os.environ["PATH"], **ENVIRONMENT},
                    timeout=seconds,
                    check=False,
                )
            except subprocess.TimeoutExpired as error:
                return Outcome(error.stdout or b"", None)
        return Outcome(done.stdout, done.returncode)

    def write_files(self, folder: Path) -> None:
        """Write the case's files into ``folder``."""
        for name, text in self.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(text)


@dataclass(frozen=True, slots=True)
class Edit:
    """A piece of a source file, which begins in a line of the unpacked tree, and what stands there with the fault."""

    file: str
    line: int
    old: str
    new: str

    def made(self, text: str) -> str:
        """The file's text with the edit; raises ``BuildError`` where the old piece is not found."""
        starts = text.split("\n")
        begin = sum(len(line) + 1 for line in starts[: self.line - 1])
        place = text.find(self.old, begin)
        if not begin <= place <= begin + len(starts[self.line - 1]):
            raise BuildError(f"{self.file}:{self.line} does not hold {self.old!r}")
        return text[:place] + self.new + text[place + len(self.old) :]


@dataclass(frozen=True, slots=True)
class Fault:
    """A planted fault. ``lines`` are the statements ``file:line`` of the edited tree that count as faulty.

    Where code is missing they are the statements on both sides of the gap and the condition that guards it.
    """

    name: str
    program: str
    executable: str
    kind: str
    description: str
    edits: tuple[Edit, ...]
    lines: tuple[str, ...]
    failing: Case
    passing: tuple[Case, ...]
    also_failing: tuple[Case, ...] = ()

    @property
    def recipe(self) -> Recipe:
        """How the fault's program is built."""
        return load_recipes()[self.program]


def load_faults(folder: Path = HERE / "faults") -> list[Fault]:
    """Return all faults, program by program."""
    tables = [tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.toml"))]
    return [_fault(table) for file in tables for table in file["fault"]]


def chosen_faults(names: Sequence[str], own_suites: bool = False, folder: Path = HERE / "faults") -> list[Fault]:
    """Return the faults of a folder whose name starts with one of those given (``sed``, ``sed-01``), or all of them.

    With ``own_suites`` of those, too, that have no cases but the package's own tests (``suite_faults/``).
    """
    faults = [*load_faults(folder), *(load_faults(HERE / "suite_faults") if own_suites else ())]
    for name in names:
        if not any(fault.name.startswith(name) for fault in faults):
            raise SubjectError(f"no fault {name} in {folder}")
    return [fault for fault in faults if not names or fault.name.startswith(tuple(names))]


@contextmanager
def planted(fault: Fault, tree: Path) -> Iterator[float]:
    """Plant the fault in a built tree and make it again; afterwards the sources (not the program) are as before.

    Yields the seconds that make took. Raises ``BuildError`` when an edit does not fit: after a run that was
    killed, the tree has to be removed.
    """
    sources = {tree / edit.file: (tree / edit.file).read_bytes() for edit in fault.edits}
    try:
        for edit in sorted(fault.edits, key=lambda edit: -edit.line):  # so that lines before it keep their numbers
            path = tree / edit.file
            path.write_text(edit.made(path.read_text("latin-1")), "latin-1")
        yield make(fault.recipe, tree)
    finally:
        for path, content in sources.items():
            path.write_bytes(content)


def end_cleanly() -> None:
    """From now on SIGTERM and SIGINT (also in the background) raise, so that the sources are put right again."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)


def _fault(table: Mapping[str, Any]) -> Fault:
    shared = table.get("files", {})
    edits = tuple(Edit(**edit) for edit in table["edits"])
    failing = table.get("failing", {"args": ""})
    first, *others = [case_of(case, shared) for case in (failing if isinstance(failing, list) else [failing])]
    return Fault(
        name=table["name"],
        program=table["name"].split("-")[0],
        executable=table["executable"],
        kind=table["kind"],
        description=table["description"],
        edits=edits,
        lines=tuple(table.get("lines") or [f"{edit.file}:{edit.line}" for edit in edits]),
        failing=first,
        passing=tuple(case_of(case, shared) for case in table.get("passing", ())),
        also_failing=tuple(others),
    )


def case_of(table: Mapping[str, Any], shared: Mapping[str, str]) -> Case:
    """A case as ``faults/`` and ``cases.toml`` have it, with files that it shares with others."""
    files = {**shared, **table.get("files", {})}
    expected = Outcome(content(table["stdout"]), table.get("status", 0)) if "stdout" in table else None
    return Case(
        arguments=tuple(shlex.split(table["args"])),
        stdin=content(table.get("stdin", "")),
        files={file: content(text) for file, text in files.items()},
        expected=expected,
    )


def complaints(fault: Fault, plain: Path, faulty: Path) -> list[str]:
    """Return what is wrong with a fault's cases, given the plain and the faulty executable (copies)."""
    found = []
    for case in (fault.failing, *fault.also_failing):
        right = case.run(plain)
        if right.status is None or right.status < 0 or case.expected not in (None, right):
            found.append(f"the plain program gives {right} in a failing case")
        if case.run(faulty) == right:
            found.append(f"a failing case passes: {shlex.join(case.arguments)}")
    for number, case in enumerate(fault.passing, 1):
        if case.run(plain) != case.run(faulty):
            found.append(f"passing case {number} fails: {shlex.join(case.arguments)}")
    return found


def verify(fault: Fault, work: Path, cflags: str) -> list[str]:
    """Build the fault's program with gcc, plain and with the fault; return what is wrong with the cases."""
    build = f"gcc{cflags.replace(' ', '')}"
    tree = ensure_built(fault.recipe, work, build, "gcc", cflags)
    plain = tree.parent / f"{fault.program}-plain"
    make(fault.recipe, tree)
    plain.write_bytes((tree / fault.executable).read_bytes())
    plain.chmod(0o755)
    with planted(fault, tree):
        return complaints(fault, plain, tree / fault.executable)


def main() -> int:
    """Verify the faults named, at -O0 and as the programs are built by default, or with the flags given."""
    end_cleanly()
    parser = options("verify the planted faults with gcc")
    parser.add_argument("--cflags", nargs=1, action="extend", help="may be repeated")
    parser.add_argument("faults", nargs="*")
    arguments = parser.parse_args()
    work = work_folder(arguments.work)
    wrong = 0
    for fault in chosen_faults(arguments.faults):
        found = [text for cflags in arguments.cflags or ("-g -O0", "-g -O2") for text in verify(fault, work, cflags)]
        wrong += bool(found)
        print(f"{fault.name:30} {len(fault.passing):3} passing  {'; '.join(found) or 'ok'}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    ended(main)
