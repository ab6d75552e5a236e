"""Fetch, unpack, build and test the real programs of the benchmark.

``programs.toml`` says for each program where its upstream archive comes from and how it is built. All files
lie under a work folder given by the caller: ``archives/`` as downloaded, and one folder for each named build.
As a script:

    python -m bench.real.programs --work FOLDER [--cc gcc] [PROGRAM ...]

fetches and builds the programs named (default all) and prints how long each step took.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.common import ended, options, work_folder
from whence.errors import BuildError

HERE = Path(__file__).resolve().parent
TIMEOUT = 3 * 3600
Environment = Mapping[str, str] | None  # added to the caller's own
# `whence` and `whence-cc` lie beside the interpreter that runs this.
PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


@dataclass(frozen=True, slots=True)
class Recipe:
    """How one program is fetched, built and tested; see ``programs.toml`` for the fields."""

    name: str
    package: str
    archive: str
    sha256: str
    folder: str
    configure: tuple[str, ...]
    make: tuple[str, ...]
    executables: tuple[str, ...]
    check: tuple[str, ...]
    verdicts: str
    scripts: tuple[str, ...] = ()
    script_command: tuple[str, ...] = ()
    pattern: str = ""
    make_tested: tuple[str, ...] = ()  # what builds programs that only the tests run
    tested: tuple[str, ...] = ()  # the programs that the tests run, where these are not `executables`
    strip: int = 1  # leading folders of the archive's names


@dataclass(frozen=True, slots=True)
class BuildTimes:
    """Seconds that the steps of a build took."""

    configure: float
    make: float


def load_recipes(path: Path = HERE / "programs.toml") -> dict[str, Recipe]:
    """Return the recipes by program name."""
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    return {name: Recipe(name=name, **_frozen(table)) for name, table in tables.items()}


def chosen_recipes(names: Sequence[str]) -> list[Recipe]:
    """Return the recipes named, or all; raises ``BuildError`` for a name that is unknown."""
    recipes = load_recipes()
    for name in names:
        if name not in recipes:
            raise BuildError(f"no program {name}: programs.toml has {', '.join(recipes)}")
    return [recipes[name] for name in names or recipes]


def fetch(recipe: Recipe, work: Path) -> Path:
    """Return the upstream archive, downloaded into ``work/archives`` with apt-get unless it is there.

    Raises ``BuildError`` where it cannot be fetched, or is not the one that the recipe names; other files of the
    package, which apt-get fetches with it, do not matter.
    """
    archives = work / "archives"
    archives.mkdir(parents=True, exist_ok=True)
    archive = archives / recipe.archive
    if not archive.exists():
        command = ["apt-get", "source", "--download-only", recipe.package]
        run_step(command, archives, archives / "apt.log", may_fail=True)
    if not archive.exists():
        raise BuildError(
            f"Debian's source package {recipe.package} has no {recipe.archive}",
            "the recipes are for Debian 12; a deb-src line is needed in apt's sources",
        )
    if hashlib.sha256(archive.read_bytes()).hexdigest() != recipe.sha256:
        raise BuildError(f"{archive} is not the archive that programs.toml names (its SHA-256 differs)")
    return archive


def unpack(recipe: Recipe, work: Path, build: str) -> Path:
    """Unpack the program afresh into ``work/build`` and return its tree."""
    parent = work / build
    tree = parent / recipe.folder
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    archive = fetch(recipe, work).resolve()
    run_step(["tar", "xf", str(archive), f"--strip-components={recipe.strip}"], tree, parent / "unpack.log")
    return tree


def build(recipe: Recipe, tree: Path, cc: str = "gcc", cflags: str = "-g -O2") -> BuildTimes:
    """Configure and make the unpacked program with compiler ``cc``; logs are written beside the tree.

    Raises ``BuildError`` with the last lines of the log when a step fails.
    """
    configure = [part.format(cc=cc, cflags=cflags) for part in recipe.configure]
    return BuildTimes(
        configure=run_step(configure, tree, _log(tree, "configure")),
        make=make(recipe, tree),
    )


def make(recipe: Recipe, tree: Path) -> float:
    """Run the program's make in a configured tree and return the seconds it took."""
    return run_step(list(recipe.make), tree, _log(tree, "make"))


def make_tested(recipe: Recipe, tree: Path) -> None:
    """Make the programs that only the tests run, if the recipe has such."""
    if recipe.make_tested:
        run_step(list(recipe.make_tested), tree, _log(tree, "make_tested"))


def ensure_built(recipe: Recipe, work: Path, build_name: str, cc: str, cflags: str = "-g -O2") -> Path:
    """Return the tree of the named build, which is made unless an earlier call finished it."""
    tree = work / build_name / recipe.folder
    stamp = tree.parent / f"{tree.name}.built"
    if not stamp.exists():
        build(recipe, unpack(recipe, work, build_name), cc, cflags)
        stamp.touch()
    return tree


def check(recipe: Recipe, tree: Path, environment: Environment = None) -> tuple[dict[str, str], float]:
    """Run the program's own tests; return verdict by test name and the seconds taken.

    A failing test is a verdict and not an error. A verdict is automake's word (``PASS``, ``SKIP``, ...), what the
    recipe's pattern finds in the check's output, or for programs without a test runner a digest of the output and the
    status of each script.
    """
    start = time.perf_counter()
    for old in tree.rglob("*.trs"):
        old.unlink()
    log = _log(tree, "check")
    run_step(list(recipe.check), tree, log, environment, may_fail=True)
    if recipe.verdicts == "trs":
        verdicts = _trs_verdicts(tree)
    elif recipe.verdicts == "log":
        verdicts = _log_verdicts(recipe.pattern, log)
    else:
        verdicts = _outputs(recipe, tree, environment)
    return verdicts, time.perf_counter() - start


def run_step(
    command: Sequence[str],
    folder: Path,
    log: Path,
    environment: Environment = None,
    *,
    may_fail: bool = False,
) -> float:
    """Run one command with its output in ``log``; return its seconds.

    Raises ``BuildError`` when it fails, unless it may.
    """
    start = time.perf_counter()
    with log.open("w", encoding="utf-8") as out:
        status = subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PATH": PATH, **(environment or {})},
            timeout=TIMEOUT,
            check=False,
        ).returncode
    if status and not may_fail:
        tail = "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-15:])
        raise BuildError(f"`{' '.join(command)}` ended with status {status} in {folder}:\n{tail}")
    return time.perf_counter() - start


def _frozen(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}


def _log(tree: Path, step: str) -> Path:
    return tree.parent / f"{tree.name}.{step}.log"


def _trs_verdicts(tree: Path) -> dict[str, str]:
    verdicts: dict[str, str] = {}
    for path in sorted(tree.rglob("*.trs")):
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        results = [line.split(":")[2].split()[0] for line in lines if line.startswith(":test-result:")]
        verdicts[str(path.relative_to(tree).with_suffix(""))] = " ".join(results)
    return verdicts


def _log_verdicts(pattern: str, log: Path) -> dict[str, str]:
    """What the pattern finds in a check's output: groups ``verdict`` and ``name`` (default: the verdict)."""
    text = log.read_text(encoding="utf-8", errors="replace")
    found = [match.groupdict() for match in re.finditer(pattern, text, re.MULTILINE)]
    return {groups.get("name") or groups["verdict"]: groups["verdict"] for groups in found}


def _outputs(recipe: Recipe, tree: Path, environment: Environment) -> dict[str, str]:
    scripts = [path for pattern in recipe.scripts for path in sorted(tree.glob(pattern))]
    return {str(path.relative_to(tree)): _output_digest(recipe, tree, path, environment) for path in scripts}


def _output_digest(recipe: Recipe, tree: Path, script: Path, environment: Environment) -> str:
    command = [part.format(script=script.relative_to(tree)) for part in recipe.script_command]
    command[0] = str(tree / command[0])
    done = subprocess.run(
        command,
        cwd=tree,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "PATH": PATH, **(environment or {})},
        timeout=TIMEOUT,
        check=False,
    )
    return f"{done.returncode} {hashlib.sha256(done.stdout).hexdigest()[:16]}"


def main() -> int:
    """Fetch and build, and print the times."""
    parser = options("fetch and build the real programs")
    parser.add_argument("--cc", default="gcc")
    parser.add_argument("--cflags", default="-g -O2")
    parser.add_argument("programs", nargs="*")
    arguments = parser.parse_args()
    work = work_folder(arguments.work)
    build_name = f"plain-{Path(arguments.cc).name}"
    print("program    configure s   make s")
    for recipe in chosen_recipes(arguments.programs):
        tree = unpack(recipe, work, build_name)
        times = build(recipe, tree, arguments.cc, arguments.cflags)
        print(f"{recipe.name:10} {times.configure:11.1f} {times.make:8.1f}", flush=True)
    return 0


if __name__ == "__main__":
    ended(main)
