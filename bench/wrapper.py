"""What whence-cc costs: gzip's configure and build against its own compiler as CC, and its own time a call.

    python -m bench.wrapper [--work FOLDER] [--rounds N] [--calls N] [--skip-gzip]

Its own time is what a call takes of the processor beyond the compilers that it runs: the plain one, and the one that
makes the IR. It is measured with Python's bytecode caches, as any installation has them, and without
(PYTHONDONTWRITEBYTECODE). The build, by the clock, is done with them.
"""

from __future__ import annotations

import compileall
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import whence
from bench.common import markdown, options, run, take_turns, work_folder
from bench.real.programs import BuildTimes, build, load_recipes, unpack
from whence.build.flags import CommandLine
from whence.build.toolchain import Toolchain, find_toolchain

SOURCE = '#include <stdio.h>\nint main(void) { puts("one call"); return 0; }\n'
CALLS = {
    "a question (`--version`)": ["--version"],
    "compile (`-c`)": ["-g", "-O2", "-c", "call.c", "-o", "call.o"],
    "link": ["call.o", "-o", "call"],
}


def main() -> int:
    """Print two tables."""
    parser = options(__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="builds of gzip with each compiler (default 3)")
    parser.add_argument("--calls", type=int, default=40, help="calls of each kind (default 40)")
    parser.add_argument("--skip-gzip", action="store_true", help="only measure single calls")
    arguments = parser.parse_args()
    work = work_folder(arguments.work)
    toolchain = find_toolchain("bundled")
    cached, bare = (_installation(work / name, cached) for name, cached in (("cached", True), ("bare", False)))
    print(_calls_table(toolchain, work / "calls", arguments.calls, cached, bare), flush=True)
    if not arguments.skip_gzip:
        os.environ["PYTHONPATH"] = str(cached)
        print("\n" + _gzip_table(toolchain, work, arguments.rounds))
    return 0


def _installation(folder: Path, cached: bool) -> Path:
    """A copy of the package with bytecode caches or without any; returns the folder to put on Python's path."""
    shutil.rmtree(folder, ignore_errors=True)
    here = Path(whence.__file__).parent
    shutil.copytree(here, folder / "whence", ignore=shutil.ignore_patterns("__pycache__"))
    if cached:
        compileall.compile_dir(folder, quiet=1)
    return folder


# ---- Single calls --------------------------------------------------------------------------------------------------


def _calls_table(toolchain: Toolchain, folder: Path, calls: int, cached: Path, bare: Path) -> str:
    """Milliseconds of whence-cc's own for each kind of call."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "call.c").write_text(SOURCE)
    header = ("call", "own compiler ms", "compiler for the IR ms", "whence-cc's own ms", "without caches ms")
    return markdown(header, [_call_row(name, toolchain, folder, calls, cached, bare) for name in CALLS])


def _call_row(name: str, toolchain: Toolchain, folder: Path, calls: int, cached: Path, bare: Path) -> list[str]:
    """Time one kind of call with all that takes turns in it."""
    arguments = CALLS[name]

    def clang(words: Sequence[str]) -> float:
        return run(toolchain.call(list(words)), toolchain.environment(), folder).cpu

    def wrapper(installation: Path) -> float:
        settings = {"PYTHONPATH": str(installation), "PYTHONDONTWRITEBYTECODE": "1"}
        return run([Path(sys.executable).parent / "whence-cc", *arguments], settings, folder).cpu

    capture = _capture_arguments(arguments, folder)
    measures = {
        "plain": lambda: clang(arguments),
        "ir": lambda: clang(capture) if capture else 0.0,
        "cached": lambda: wrapper(cached),
        "bare": lambda: wrapper(bare),
    }
    found = take_turns(measures, calls)
    compilers = found["plain"] + found["ir"]
    own = (found["cached"] - compilers, found["bare"] - compilers)
    return [name, *(f"{1000 * seconds:.0f}" for seconds in (found["plain"], found["ir"], *own))]


def _capture_arguments(arguments: list[str], folder: Path) -> list[str]:
    """The arguments that make the IR of a call that compiles; none for others."""
    line = CommandLine(arguments)
    return [w for source in line.sources for w in line.ir_arguments(source, str(folder / "call.bc"))]


# ---- A whole build -------------------------------------------------------------------------------------------------


def _gzip_table(toolchain: Toolchain, work: Path, rounds: int) -> str:
    """Configure and make with each compiler in turn, by the clock."""
    recipe = load_recipes()["gzip"]
    compilers = (_as_program(toolchain, work / "own-cc"), "whence-cc")
    found: dict[str, list[BuildTimes]] = {compiler: [] for compiler in compilers}
    for number in range(rounds + 1):
        for compiler, times in found.items():
            taken = build(recipe, unpack(recipe, work / "real", f"bench-{Path(compiler).name}"), compiler)
            if number:  # the first one warms up
                times.append(taken)
    rows = []
    for step in ("configure", "make", "both"):
        own, ours = (median(_seconds(step, taken) for taken in times) for times in found.values())
        rows.append([step, f"{own:.1f}", f"{ours:.1f}", f"{ours / own:.2f}"])
    return markdown([recipe.folder, "own compiler s", "whence-cc s", "ratio"], rows)


def _seconds(step: str, taken: BuildTimes) -> float:
    return {"configure": taken.configure, "make": taken.make, "both": taken.configure + taken.make}[step]


def _as_program(toolchain: Toolchain, path: Path) -> str:
    """A program that is the compiler that whence-cc runs, with the same flags of its own."""
    words = " ".join(f"'{word}'" for word in toolchain.call([]))
    path.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    path.chmod(0o755)
    return str(path)


if __name__ == "__main__":
    sys.exit(main())
