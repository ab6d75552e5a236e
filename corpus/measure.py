"""Counts the failing cases of every fault: ``python corpus/measure.py [NAME ...] [--cc COMMAND] [--write]``.

A case fails when its output or status differs from the correct program's. ``--write`` records the counts in
``faults.toml``; without it a count that differs from the recorded one is an error (status 1).
"""

from __future__ import annotations

import argparse
import re
import shlex
import sys
import tempfile
from pathlib import Path

import corpus

LARGEST_SHARE = 0.4


def main() -> int:
    """Measures the named programs (all without names); returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("names", nargs="*", metavar="NAME", help="programs to measure (all)")
    parser.add_argument("--cc", default=shlex.join(corpus.COMPILER), help="compiler command with options")
    parser.add_argument("--write", action="store_true", help="record the counts in faults.toml")
    options = parser.parse_args()
    compiler = shlex.split(options.cc)
    differ = [measure(name, compiler, options.write) for name in options.names or corpus.programs()]
    return int(any(differ))


def measure(name: str, compiler: list[str], write: bool) -> bool:
    """Measures and prints all faults of a program; returns whether a count differs from the recorded one."""
    with tempfile.TemporaryDirectory() as folder:
        binary = Path(folder) / name
        corpus.compile_program(corpus.source_path(name).read_text(), binary, compiler)
        expected = corpus.outcomes(name, binary)
        counts = {}
        for fault in corpus.faults(name):
            corpus.compile_program(corpus.faulty_source(fault), binary, compiler)
            actual = corpus.outcomes(name, binary)
            failed = [n for n, (a, b) in enumerate(zip(expected, actual, strict=True), 1) if a != b]
            counts[fault.id] = len(failed)
            print(report(fault, failed, len(expected)), flush=True)
    if write:
        record(name, counts)
        return False
    return any(counts[fault.id] != fault.failing for fault in corpus.faults(name))


def report(fault: corpus.Fault, failed: list[int], total: int) -> str:
    """One line about a fault: its count, what is wrong with that, and the first failing cases."""
    notes = [f"recorded {fault.failing}"] if fault.failing != len(failed) else []
    if not failed:
        notes.append("NO CASE FAILS")
    if len(failed) > LARGEST_SHARE * total:
        notes.append("TOO MANY FAIL")
    shown = " ".join(map(str, failed[:12])) + (" ..." if len(failed) > 12 else "")
    return f"{fault.patch.stem:40} {len(failed):4} of {total}  {'; '.join(notes):20} {shown}"


def record(name: str, counts: dict[str, int]) -> None:
    """Writes the counts into the ``failing`` keys of the program's ``faults.toml``."""
    path = corpus.ROOT / name / "faults.toml"
    current = ""
    lines = []
    for line in path.read_text().splitlines():
        if match := re.match(r'id = "(.*)"', line):
            current = match[1]
        lines.append(f"failing = {counts[current]}" if line.startswith("failing = ") else line)
    path.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
