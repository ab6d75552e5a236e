"""Failing schedules of small programs: ``python -m bench.threads.schedules [NAME...]`` prints a table.

Each program has an error of threads that some schedules show, and a correct twin. For each strategy, and for all in
turn: how many schedules were run before one failed, in the median; how many programs have one within ``--runs``
schedules and ``--seconds``. Of the twins (``--twins``: so many schedules each) none may fail. Programs whose first
line calls their error harmless are left out: no schedule shows it.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import whence
from bench.threads.programs import PROGRAMS, Program
from whence.errors import WhenceError
from whence.techniques.schedules.strategies import NAMES
from whence.techniques.schedules.technique import Schedules

HANGING = 3.0  # seconds after which a run that neither ends nor waits counts as endless
Searched = tuple[int | None, str, int, float]  # the run that failed, the kind of error, points, seconds


def search(program: Program, names: tuple[str, ...], runs: int, seconds: float, flags: Sequence[str] = ()) -> Searched:
    """What a search finds."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(shutil.copy(program.path, folder))
        shown = ["-pthread", "-w", *flags]
        with whence.open_sources([source], fails=[("", None)], flags=shown, timeout=HANGING) as project:
            began = time.monotonic()
            found = project.find(
                Schedules(names=names, most=runs, output=Path(folder) / "schedule.json"), budget=seconds
            )
            took = time.monotonic() - began
    failing = found.parts["schedules"][0]["found"]
    if failing is None:
        return None, "", 0, took
    return failing["run"], failing.get("kind", ""), len(failing["schedule"]), took


def main() -> None:
    """Print a line a program, then the medians."""
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--twins", type=int, default=1_000)
    parser.add_argument("--each", action="store_true", help="each strategy alone, too")
    options = parser.parse_args()
    chosen = [p for p in PROGRAMS if p.kind != "harmless" and (not options.programs or p.name in options.programs)]
    ways = {"all": NAMES} | ({name: (name,) for name in NAMES} if options.each else {})
    numbers: dict[str, list[int]] = {way: [] for way in ways}
    print(f"| program | error | {' | '.join(ways)} | told as | points | s | twin fails |")
    print("| --- | --- |" + " ---: |" * len(ways) + " --- | ---: | ---: | --- |")
    false = 0
    for program in chosen:
        try:
            found = {way: search(program, names, options.runs, options.seconds) for way, names in ways.items()}
            twin = search(program, NAMES, options.twins, options.seconds, ("-DRIGHT",))[0] if options.twins else None
        except WhenceError as error:
            print(f"| {program.name} | {program.kind} | {error} |", flush=True)
            continue
        for way, (number, *_) in found.items():
            numbers[way] += [number] if number is not None else []
        false += twin is not None
        counts = " | ".join(f"{number:,}" if number is not None else "-" for number, *_ in found.values())
        _, kind, points, took = found["all"]
        print(
            f"| {program.name} | {program.kind} | {counts} | {kind} | {points} | {took:.1f} | {twin or 'no'} |",
            flush=True,
        )
    for way, own in numbers.items():
        median = statistics.median(own) if own else 0
        print(f"{way}: {len(own)} of {len(chosen)} found, {median:,.0f} schedules in the median")
    print(f"{false} of {len(chosen)} twins fail under some schedule")


if __name__ == "__main__":
    main()
