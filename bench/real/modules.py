"""Read every module of the real programs, print it back unchanged, have LLVM verify it, and build record variants.

    python -m bench.real.modules --work FOLDER [PROGRAM ...]

Prints a line for each program (all its executables together): modules, instructions, modules whose printed text
differs from what was read, and the seconds of each step. Every module of the variants is compiled anew.
"""

from __future__ import annotations

import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bench.common import ended, options, work_folder
from bench.real.programs import Recipe, chosen_recipes, ensure_built
from whence.build.capture import Capture, read_executable
from whence.build.ir import canonical_text, verify
from whence.build.variant import build_variant, runtime_objects
from whence.probe.instrument import record_texts
from whence.probe.library import wrapped
from whence.probe.plan import Numbering
from whence.program.printer import print_module
from whence.program.program import Program
from whence.program.reader import read_module


@dataclass(slots=True)
class Row:
    """One program's figures; times in seconds."""

    modules: int = 0
    instructions: int = 0
    changed: int = 0
    read: float = 0.0
    verify: float = 0.0
    rewrite: float = 0.0
    compile: float = 0.0


def measure(recipe: Recipe, tree: Path) -> Row:
    """Return the figures of all executables of a program built with ``whence-cc``."""
    row = Row()
    for name in recipe.executables:
        add_executable(row, read_executable(tree / name))
    return row


def add_executable(row: Row, capture: Capture) -> None:
    """Add one executable's figures; raises ``ProgramError`` when LLVM refuses a printed module."""
    clock = time.perf_counter()
    texts = [canonical_text(module.bitcode.read_bytes()) for module in capture.modules]
    program = Program([read_module(text) for text in texts])
    row.read += time.perf_counter() - clock
    row.modules += len(texts)
    row.instructions += program.block_starts[-1]
    clock = time.perf_counter()
    for text, module in zip(texts, program.modules, strict=True):
        printed = print_module(module)
        row.changed += printed != text
        verify(printed)
    row.verify += time.perf_counter() - clock
    clock = time.perf_counter()
    fresh = f"; {os.getpid()} {clock}\n"  # a comment, for which no compiled object is kept
    rewritten = [text + fresh for text in record_texts(program, Numbering(program), wrapped())]
    row.rewrite += time.perf_counter() - clock
    clock = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        build_variant(capture, "record", rewritten, runtime_objects(), Path(folder) / "variant")
    row.compile += time.perf_counter() - clock


def main() -> int:
    """Measure the programs named and print the table."""
    parser = options("read, print, verify and rewrite the modules of real programs")
    parser.add_argument("programs", nargs="*")
    arguments = parser.parse_args()
    work = work_folder(arguments.work)
    print("program    modules  instructions  changed  read s  print+verify s  rewrite s  compile+link s")
    changed = 0
    for recipe in chosen_recipes(arguments.programs):
        row = measure(recipe, ensure_built(recipe, work, "whence", "whence-cc"))
        changed += row.changed
        print(
            f"{recipe.name:10} {row.modules:7} {row.instructions:13} {row.changed:8} {row.read:7.1f}"
            f" {row.verify:15.1f} {row.rewrite:10.1f} {row.compile:15.1f}",
            flush=True,
        )
    return 1 if changed else 0


if __name__ == "__main__":
    ended(main)
