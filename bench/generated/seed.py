"""Seed faults into the corpus' programs, and keep those that some cases show and most do not.

    python -m bench.generated.seed --to FILE [--number N] [--seed S] [--jobs N] [--only WAY] [PROGRAM ...]

For each program N faults. For each a way to plant it is drawn by its share of real faults (``operators``), and its
places are tried, each once, until one serves: it compiles, at least one case fails, at most 40 % do (what fails more
often does not outlive its first test: Natella, Cotroneo, Durães and Madeira, "On fault representativeness of software
fault injection", 2013), and failing cases fail alike once more. The same seed gives the same faults.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from bench.generated.faults import Generated, write_faults  # noqa: E402
from bench.generated.operators import OPERATORS, Operator  # noqa: E402
from bench.generated.syntax import Edit, Source  # noqa: E402
from corpus import corpus  # noqa: E402

MOST = 0.4  # share of the cases that may fail
SECONDS = 1.0  # that a case may take
Place = TypeVar("Place")
Planted = TypeVar("Planted")
TIMEOUTS = 3  # cases that take longer, from which on a fault is given up: each costs its whole time


def seeded(program: str, number: int, seed: int, only: str = "") -> list[Generated]:
    """So many faults of a program, or fewer if there are no more places, by all ways or ``only`` one; deterministic."""
    source, chance = Source(corpus.source_path(program).read_bytes()), random.Random(f"{program} {seed}")
    with tempfile.TemporaryDirectory(prefix="whence-seed-") as name:
        trial = Trial(program, source, Path(name) / program)
        ways = [operator for operator in OPERATORS if only in ("", operator.name)]
        left = [(operator, sorted(set(operator.make(source)))) for operator in ways]
        found = islice(drawn(left, trial.planted, chance), number)
        return [replace(fault, id=f"{count:04}") for count, fault in enumerate(found, 1)]


def drawn(
    left: Sequence[tuple[Operator, list[Place]]],
    planted: Callable[[Place, Operator], Planted | None],
    chance: random.Random,
) -> Iterator[Planted]:
    """One fault after the other: a way to plant it is drawn, and its places are tried until one serves."""
    for _, places in left:
        chance.shuffle(places)
    while left := [(operator, places) for operator, places in left if places]:
        operator, places = chance.choices(left, [operator.share for operator, _ in left])[0]
        found = next(filter(None, (planted(places.pop(), operator) for _ in range(len(places)))), None)
        if found is not None:
            yield found


class Trial:
    """One program, its cases and what they give when it is right; plants faults and keeps those that serve."""

    def __init__(self, program: str, source: Source, binary: Path) -> None:
        self.program, self.source, self._binary = program, source, binary
        self._cases, self._texts = corpus.cases(program), {source.text}
        corpus.compile_program(source.text.decode(), binary)
        self._right = [corpus.run(binary, case, SECONDS) for case in self._cases]

    def planted(self, edit: Edit, operator: Operator) -> Generated | None:
        """The fault that an edit makes; None: it does not serve, or was made before."""
        text, lines = self.source.edited(edit)
        if text in self._texts or not lines:
            return None
        self._texts.add(text)
        failing = self._failing(text.decode())
        about = (operator.kind, operator.name, edit.about, lines)
        return Generated(self.program, "", *about, failing, text.decode()) if failing else None

    def _failing(self, source: str) -> int:
        """How many cases fail; 0 where it does not compile, or they are too many, or do not fail alike again."""
        path, most = self._binary.with_suffix(".c"), MOST * len(self._cases)
        path.write_text(source)
        flags = ("-std=c11", "-g", "-O0", "-w", "-o", self._binary, path, "-lm")
        if subprocess.run([*corpus.COMPILER, *flags], capture_output=True, check=False).returncode:
            return 0
        failed: dict[int, corpus.Outcome] = {}
        for number, case in enumerate(self._cases):
            outcome = corpus.run(self._binary, case, SECONDS)
            if outcome != self._right[number]:
                failed[number] = outcome
                if len(failed) > most or Counter(o.status for o in failed.values())[None] > TIMEOUTS:
                    return 0
        again = list(failed)[:: max(1, len(failed) // 5)]
        is_alike = all(corpus.run(self._binary, self._cases[number], SECONDS) == failed[number] for number in again)
        return len(failed) if is_alike else 0


def main() -> None:
    """Seed, write, and say how many of which kind there are."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("programs", nargs="*", help="programs of the corpus (all)")
    parser.add_argument("--to", type=Path, required=True, help="file that is written")
    parser.add_argument("--number", type=int, default=50, help="faults of each program")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="programs at a time")
    names = [operator.name for operator in OPERATORS]
    parser.add_argument("--only", default="", choices=names, metavar="WAY", help="the one way to plant faults (all)")
    options = parser.parse_args()
    programs = options.programs or corpus.programs()
    settings = options.number, options.seed, options.only
    with ProcessPoolExecutor(options.jobs) as pool:
        of_programs = pool.map(seeded, programs, *([value] * len(programs) for value in settings))
        faults = []
        for program, found in zip(programs, of_programs, strict=True):
            print(f"{program}: {len(found)} faults", flush=True)
            faults += found
    faults.sort(key=lambda fault: (fault.id, fault.program))  # any first part has as many of each program
    write_faults(options.to, faults)
    kinds = Counter(fault.kind for fault in faults)
    print(f"{len(faults)} faults: " + ", ".join(f"{count} {kind}" for kind, count in kinds.most_common()))


if __name__ == "__main__":
    main()
