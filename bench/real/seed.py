"""Seed generated faults into the real programs, and keep those that some of their cases show and most do not.

    python -m bench.real.seed --work FOLDER --to FOLDER [--number N] [--seed S] [PROGRAM ...]

Faults are planted as in the corpus (``bench.generated``): a way is drawn by its share of real faults, and its places
are tried in an order that the seed gives. A place is a line that a case of the program comes to (gcov); the cases are
those of its planted faults (``faults/``) and of ``cases.toml``. What serves is written as ``faults/`` has it, a file a
program, for ``bench.real.locate --faults FOLDER``.
"""

from __future__ import annotations

import base64
import json
import random
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from bench.common import ended, options, work_folder
from bench.generated.operators import OPERATORS, Operator
from bench.generated.seed import MOST, TIMEOUTS, drawn
from bench.generated.syntax import Edit as Change
from bench.generated.syntax import Source
from bench.real.faults import Case, Edit, Fault, Outcome, case_of, end_cleanly, load_faults, planted
from bench.real.programs import HERE, Recipe, chosen_recipes, ensure_built, make
from whence.errors import BuildError

SECONDS = 2.0  # that a case may take
FEWEST = 5  # cases that a program must have
Place = tuple[str, Change]  # a file of the tree and a change of it


@dataclass(frozen=True, slots=True)
class Shown:
    """How a planted fault shows: the lines ``file:line`` that are faulty, and which cases fail."""

    lines: tuple[str, ...]
    failing: tuple[int, ...]


class Trial:
    """One real program with its cases; plants faults and keeps those that serve.

    ``planted`` raises nothing: an edit that does not compile does not serve.
    """

    def __init__(self, recipe: Recipe, work: Path) -> None:
        self.recipe = recipe
        self.executable, cases = cases_of(recipe)
        self._tree = ensure_built(recipe, work, "seed", "gcc")
        make(recipe, self._tree)  # an earlier trial has left its fault in the executable
        plain = self._tree / self.executable
        outcomes = [case.run(plain, SECONDS) for case in cases]
        again = [case.run(plain, SECONDS) for case in cases]
        alike = [n for n, outcome in enumerate(outcomes) if outcome == again[n] and outcome.status is not None]
        self.cases, self._right = [cases[n] for n in alike], [outcomes[n] for n in alike]
        self._covered = covered(recipe, work, self.executable, self.cases)
        self._sources = {file: Source((self._tree / file).read_bytes()) for file in sorted(self._covered)}
        self._texts = {(file, source.text) for file, source in self._sources.items()}

    def places(self, operator: Operator) -> list[Place]:
        """Where a fault can be planted in this way: the changes that begin in a line that a case comes to."""
        return [
            (file, change)
            for file, source in self._sources.items()
            for change in sorted(set(operator.make(source)))
            if 1 + source.text.count(b"\n", 0, change.start) in self._covered[file]
        ]

    def planted(self, place: Place, operator: Operator) -> Fault | None:
        """The fault that a change makes; None: it does not serve, or was made before."""
        file, change = place
        source = self._sources[file]
        text, lines = source.edited(change)
        if (file, text) in self._texts or not lines:
            return None
        self._texts.add((file, text))
        named = tuple(f"{file}:{line}" for line in lines)
        fault = Fault(
            name=self.recipe.name,
            program=self.recipe.name,
            executable=self.executable,
            kind=operator.kind,
            description=f"{operator.name}: {change.about}",
            edits=(edit_of(file, source.text, change),),
            lines=named,
            failing=self.cases[0],
            passing=(),
        )
        return self._told(fault, self._failing(fault))

    def _told(self, fault: Fault, failing: Sequence[int]) -> Fault | None:
        """The fault with its cases, where some fail."""
        if not failing:
            return None
        first, *others = [self.cases[n] for n in failing]
        passing = tuple(case for n, case in enumerate(self.cases) if n not in set(failing))
        return replace(fault, failing=first, also_failing=tuple(others), passing=passing)

    def _failing(self, fault: Fault) -> list[int]:
        """Which cases fail; none where it does not compile, or they are too many, or do not fail alike again."""
        try:
            with planted(fault, self._tree):
                return self._failing_of_the_built()
        except BuildError:
            return []

    def _failing_of_the_built(self) -> list[int]:
        faulty = self._tree / self.executable
        failed: dict[int, Outcome] = {}
        for number, case in enumerate(self.cases):
            outcome = case.run(faulty, SECONDS)
            if outcome != self._right[number]:
                failed[number] = outcome
                endless = sum(each.status is None for each in failed.values())
                if len(failed) > MOST * len(self.cases) or endless > TIMEOUTS:
                    return []
        again = list(failed)[:: max(1, len(failed) // 5)]
        return list(failed) if all(self.cases[n].run(faulty, SECONDS) == failed[n] for n in again) else []


def seeded(recipe: Recipe, work: Path, number: int, seed: int) -> Iterator[Fault]:
    """So many faults of a program, or fewer if there are no more places; the same seed gives the same faults.

    Raises ``BuildError`` where the program cannot be built or has hardly a case.
    """
    trial, chance = Trial(recipe, work), random.Random(f"{recipe.name} {seed}")
    left = [(operator, trial.places(operator)) for operator in OPERATORS]
    for count, fault in enumerate(islice(drawn(left, trial.planted, chance), number), 1):
        yield replace(fault, name=f"{recipe.name}-g{count:02}")


def cases_of(recipe: Recipe) -> tuple[str, list[Case]]:
    """The executable of a program that most cases are of, and these cases, each once."""
    found: dict[str, dict[str, Case]] = {}
    for fault in load_faults():
        if fault.program == recipe.name:
            for case in (fault.failing, *fault.also_failing, *fault.passing):
                found.setdefault(fault.executable, {})[repr(case)] = case
    table = tomllib.loads((HERE / "cases.toml").read_text(encoding="utf-8")).get(recipe.name, {})
    for row in table.get("cases", ()):
        case = case_of(row, {})
        found.setdefault(table["executable"], {})[repr(case)] = case
    executable = max(found, key=lambda name: len(found[name]), default="")
    cases = list(found.get(executable, {}).values())
    if len(cases) < FEWEST:
        raise BuildError(f"{recipe.name} has {len(cases)} cases in bench/real: at least {FEWEST} are needed")
    return executable, cases


def covered(recipe: Recipe, work: Path, executable: str, cases: Sequence[Case]) -> dict[str, set[int]]:
    """For each source file of the tree the lines that some case comes to, as gcov counts them."""
    counting = work.resolve() / "gcov-cc"
    counting.write_text('#!/bin/sh\nexec gcc --coverage "$@"\n', encoding="utf-8")
    counting.chmod(0o755)
    tree = ensure_built(recipe, work, "gcov", str(counting), "-g -O0")
    for old in tree.rglob("*.gcda"):
        old.unlink()
    for case in cases:
        case.run(tree / executable, SECONDS)
    found: dict[str, set[int]] = {}
    for counts in tree.rglob("*.gcda"):
        for file in _counted(counts):
            path = (Path(file["folder"]) / file["file"]).resolve()
            if path.is_relative_to(tree.resolve()) and path.suffix == ".c" and path.exists():
                lines = {line["line_number"] for line in file["lines"] if line["count"]}
                found.setdefault(path.relative_to(tree.resolve()).as_posix(), set()).update(lines)
    return {file: lines for file, lines in found.items() if lines}


def _counted(counts: Path) -> Iterator[dict[str, Any]]:
    """The files that gcov has counts of, from one file of counts; each with the folder that it was compiled in."""
    command = ["gcov", "--json-format", "--stdout", counts.name]
    done = subprocess.run(command, cwd=counts.parent, capture_output=True, check=False)
    for line in done.stdout.splitlines():
        report = json.loads(line)
        for file in report["files"]:
            yield {**file, "folder": report["current_working_directory"]}


def edit_of(file: str, text: bytes, change: Change) -> Edit:
    """A change as ``faults/`` has it: from the beginning of its line on."""
    begin = text.rfind(b"\n", 0, change.start) + 1
    kept = text[begin : change.start]
    old, new = text[begin : change.end], kept + change.text
    return Edit(file, 1 + text.count(b"\n", 0, begin), old.decode("latin-1"), new.decode("latin-1"))


def written(faults: Sequence[Fault]) -> str:
    """Faults as TOML, which ``load_faults`` reads."""
    return "\n".join(_table(fault) for fault in faults)


def _table(fault: Fault) -> str:
    edits = [{"file": e.file, "line": e.line, "old": e.old, "new": e.new} for e in fault.edits]
    fields = {
        "name": fault.name,
        "executable": fault.executable,
        "kind": fault.kind,
        "description": fault.description,
        "edits": edits,
        "lines": list(fault.lines),
        "failing": [_row(case) for case in (fault.failing, *fault.also_failing)],
        "passing": [_row(case) for case in fault.passing],
    }
    return "[[fault]]\n" + "".join(f"{name} = {_value(value)}\n" for name, value in fields.items())


def _row(case: Case) -> dict[str, object]:
    files = {name: _text(data) for name, data in case.files.items()}
    return {"args": shlex.join(case.arguments), "stdin": _text(case.stdin), "files": files}


def _text(data: bytes) -> str:
    """Bytes as a case's text, see ``bench.real.cases.content``."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = "base64:"
    return f"base64:{base64.b64encode(data).decode()}" if text.startswith(("base64:", "repeat:")) else text


def _value(value: object) -> str:
    """A value in TOML: strings as JSON has them, which TOML reads alike."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_value(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + "".join(f"\n  {_value(each)}," for each in value) + "\n]"
    return json.dumps(value, ensure_ascii=isinstance(value, str) and not value.isprintable())


def main() -> int:
    """Seed and write, and say how many faults each program has got."""
    end_cleanly()
    parser = options("seed generated faults into the real programs")
    parser.add_argument("--to", type=Path, required=True, help="folder that is written")
    parser.add_argument("--number", type=int, default=5, help="faults of each program")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("programs", nargs="*", help="programs (all that have cases)")
    arguments = parser.parse_args()
    names = arguments.programs or sorted({fault.program for fault in load_faults()})
    work = work_folder(arguments.work)
    arguments.to.mkdir(parents=True, exist_ok=True)
    for recipe in chosen_recipes(names):
        try:
            faults = list(seeded(recipe, work, arguments.number, arguments.seed))
        except BuildError as error:  # the other programs are independent
            print(f"{recipe.name}: {error}", file=sys.stderr, flush=True)
            continue
        (arguments.to / f"{recipe.name}.toml").write_text(written(faults), encoding="utf-8")
        print(f"{recipe.name}: {len(faults)} faults", flush=True)
    return 0


if __name__ == "__main__":
    ended(main)
