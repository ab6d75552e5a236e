"""The faults planted in the real programs: small patches of our own, each with its cases.

``faults.toml`` describes them. A fault's patch is applied to an unpacked tree, the program is made again, and
its cases run in folders that hold nothing but the case's own files. As a script:

    python -m bench.real.faults --work FOLDER [FAULT ...]

builds the programs with gcc, once plain and once with each fault, and checks that the failing case fails with
the fault only, and that every passing case gives the same with and without it.
"""

from __future__ import annotations

import base64
import os
import shlex
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.common import options, work_folder
from bench.real.programs import HERE, Recipe, ensure_built, load_recipes, make, run_step
from whence.errors import SubjectError, WhenceError

CASE_SECONDS = 10
ENVIRONMENT = {"LC_ALL": "C", "TZ": "UTC0"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run gave: its standard output and its status (negative: the signal that ended it)."""

    stdout: bytes
    status: int


@dataclass(frozen=True, slots=True)
class Case:
    """One run of a subject: arguments, standard input, files made before, and the outcome if known."""

    arguments: tuple[str, ...]
    stdin: bytes = b""
    files: Mapping[str, bytes] = field(default_factory=dict)
    expected: Outcome | None = None

    def run(self, executable: Path) -> Outcome:
        """Run the case in a folder of its own; raises ``SubjectError`` when it does not end in time."""
        with tempfile.TemporaryDirectory() as name:
            self.write_files(Path(name))
            try:
                done = subprocess.run(
                    [executable.resolve(), *self.arguments],
                    cwd=name,
                    input=self.stdin,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    env={"PATH": os.environ["PATH"], **ENVIRONMENT},
                    timeout=CASE_SECONDS,
                    check=False,
                )
            except subprocess.TimeoutExpired as error:
                raise SubjectError(f"{executable} {shlex.join(self.arguments)} does not end") from error
        return Outcome(done.stdout, done.returncode)

    def write_files(self, folder: Path) -> None:
        """Write the case's files into ``folder``."""
        for name, content in self.files.items():
            (folder / name).write_bytes(content)


@dataclass(frozen=True, slots=True)
class Fault:
    """A planted fault. ``lines`` are the statements ``file:line`` of the patched tree that count as faulty.

    Where code is missing they are the statements on both sides of the gap and the condition that guards it.
    """

    name: str
    program: str
    executable: str
    kind: str
    description: str
    lines: tuple[str, ...]
    failing: Case
    passing: tuple[Case, ...]

    @property
    def patch(self) -> Path:
        """The patch that plants the fault."""
        return HERE / "faults" / f"{self.name}.patch"

    @property
    def patched_files(self) -> list[str]:
        """The files that the patch changes, relative to the program's tree."""
        lines = self.patch.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
        return [line.removeprefix("+++ b/") for line in lines if line.startswith("+++ b/")]

    @property
    def recipe(self) -> Recipe:
        """How the fault's program is built."""
        return load_recipes()[self.program]


def load_faults(path: Path = HERE / "faults.toml") -> list[Fault]:
    """Return all faults in the order of the file."""
    return [_fault(table) for table in tomllib.loads(path.read_text(encoding="utf-8"))["fault"]]


def chosen_faults(names: Sequence[str]) -> list[Fault]:
    """Return the faults whose name starts with one of those given (``sed``, ``sed-01``), or all of them."""
    faults = load_faults()
    for name in names:
        if not any(fault.name.startswith(name) for fault in faults):
            raise SubjectError(f"no fault {name} in faults.toml")
    return [fault for fault in faults if not names or fault.name.startswith(tuple(names))]


@contextmanager
def planted(fault: Fault, tree: Path) -> Iterator[float]:
    """Plant the fault in a built tree and make it again; afterwards the sources (not the program) are as before.

    Yields the seconds that make took. Raises ``BuildError`` when the patch does not fit: after a run that was
    killed, the tree has to be removed.
    """
    log = tree.parent / f"{tree.name}.patch.log"
    sources = {tree / name: (tree / name).read_bytes() for name in fault.patched_files}
    try:
        run_step(["patch", "-p1", "--fuzz=0", "--no-backup-if-mismatch", "-i", str(fault.patch)], tree, log)
        yield make(fault.recipe, tree)
    finally:
        for path, content in sources.items():
            path.write_bytes(content)


def _fault(table: Mapping[str, Any]) -> Fault:
    shared = table.get("files", {})
    return Fault(
        name=table["name"],
        program=table["name"].split("-")[0],
        executable=table["executable"],
        kind=table["kind"],
        description=table["description"],
        lines=tuple(table["lines"]),
        failing=_case(table["failing"], shared),
        passing=tuple(_case(case, shared) for case in table["passing"]),
    )


def _case(table: Mapping[str, Any], shared: Mapping[str, str]) -> Case:
    files = {**shared, **table.get("files", {})}
    expected = Outcome(_content(table["stdout"]), table.get("status", 0)) if "stdout" in table else None
    return Case(
        arguments=tuple(shlex.split(table["args"])),
        stdin=_content(table.get("stdin", "")),
        files={name: _content(text) for name, text in files.items()},
        expected=expected,
    )


def _content(text: str) -> bytes:
    """Bytes of a text in the file; binary content is written as ``base64:...``."""
    return base64.b64decode(text[7:]) if text.startswith("base64:") else text.encode()


def complaints(fault: Fault, plain: Path, faulty: Path) -> list[str]:
    """Return what is wrong with a fault's cases, given the plain and the faulty executable (copies)."""
    found = []
    expected = fault.failing.run(plain)
    if expected != fault.failing.expected:
        found.append(f"the plain program gives {expected} in the failing case")
    if fault.failing.run(faulty) == expected:
        found.append("the failing case passes")
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
    """Verify the faults named, at -O0 and as the programs are built by default."""
    parser = options("verify the planted faults with gcc")
    parser.add_argument("faults", nargs="*")
    arguments = parser.parse_args()
    work = work_folder(arguments.work)
    wrong = 0
    for fault in chosen_faults(arguments.faults):
        found = [text for cflags in ("-g -O0", "-g -O2") for text in verify(fault, work, cflags)]
        wrong += bool(found)
        print(f"{fault.name:30} {len(fault.passing):3} passing  {'; '.join(found) or 'ok'}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except WhenceError as error:
        sys.exit(f"error: {error}")
