"""Programs with an overflow each: verdict and crash in the plain program and in every variant.

    python -m bench.real.overflows

A row is a program with its flags: how many lengths of what is copied were tried, how often the plain program ended in
which way, and in how many of them each variant did not show the same status, signal, output and error output.
"""

from __future__ import annotations

import signal
import sys
from collections import Counter
from pathlib import Path

from bench.common import markdown
from whence.build.quick import build_sources
from whence.build.toolchain import whence_home
from whence.probe.instrument import Variant
from whence.run.cases import Case
from whence.run.runner import TraceRequest
from whence.subject.subject import Subject

SOURCES = Path(__file__).parent / "overflowing"
VARIANTS = (Variant.COVER, Variant.RECORD, Variant.ALTER, Variant.REPLAY)
PROTECTED = "-fstack-protector-strong"
FLAGS = (("-O0", "-g"), ("-O1",), ("-O2",), ("-O2", "-g"), ("-O0", PROTECTED), ("-O2", PROTECTED))
# Lengths at which no address is overwritten in part: where that leads depends on where code and data lie.
LENGTHS: dict[str, tuple[int, ...]] = {
    "argument_heap": (3, 20, 25, 31, 33, 48, 64, 200, 320),
    "argument_local": (3, 16, 17, 20, 23, 48, 57, 64, 200, 320),
    "argument_static": (3, 23, 25, 31, 36, 39, 48, 64, 100, 200),
    "neighbour": (3, 6, 7, 9, 25, 31, 36, 48, 64, 100),
    "own_loop": (3, 7, 9, 10, 14, 20, 23, 31, 36, 48, 200),
    "read_input": (3, 31, 33, 36, 39, 48, 64, 200, 320),
}

Shown = tuple[int | None, int, bytes, bytes]


def main() -> int:
    """Print the table; status 1 where a variant differs."""
    rows, differing = [], 0
    for name in LENGTHS:
        for flags in FLAGS:
            subject, chosen = built(name, flags), cases(name)
            plain = shown(subject, chosen, None)
            different = [_differing(plain, shown(subject, chosen, kind)) for kind in VARIANTS]
            differing += sum(different)
            rows.append([name, " ".join(flags), str(len(chosen)), _ends(plain), *map(str, different)])
    print(markdown(("program", "flags", "lengths", "the plain program", *VARIANTS), rows))
    return int(differing > 0)


def _differing(plain: list[Shown], variant: list[Shown]) -> int:
    return sum(a != b for a, b in zip(plain, variant, strict=True))


def _ends(results: list[Shown]) -> str:
    """How often the program ended in which way."""
    ends = Counter(signal.Signals(number).name if number else f"status {status}" for status, number, _, _ in results)
    return ", ".join(f"{count} {end}" for end, count in ends.items())


def built(name: str, flags: tuple[str, ...]) -> Subject:
    """A program compiled by the wrapper with these flags."""
    folder = Path(whence_home()) / "overflows" / "_".join([name, *flags])
    return Subject(SOURCES, build_sources([SOURCES / f"{name}.c"], flags, folder), [])


def cases(name: str) -> list[Case]:
    """A case for each length of what is copied, as an argument or on standard input."""
    given = {n: b"A" * n for n in LENGTHS[name]}
    if name == "read_input":
        return [Case(f"{n}", (), text) for n, text in given.items()]
    return [Case(f"{n}", (text.decode(),)) for n, text in given.items()]


def shown(subject: Subject, chosen: list[Case], kind: Variant | None) -> list[Shown]:
    """Status, signal and output of each case in the plain program (None) or in a variant."""
    with subject.runner(kind) as runner:
        requests = None
        if kind in (Variant.RECORD, Variant.REPLAY):
            requests = [TraceRequest(runner.sandbox.new_path(f"trace{n}"), 1 << 26) for n in range(len(chosen))]
        results = runner.run_cases(chosen, traces=requests)
    return [(result.status, result.signal, result.stdout, result.stderr) for result in results]


if __name__ == "__main__":
    sys.exit(main())
