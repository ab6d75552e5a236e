"""What benchmarks over the corpus' faults share: their options, and one fault after the other on several processes."""

from __future__ import annotations

import argparse
import pickle
import time
from collections.abc import Callable, Iterator, Sized
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, Protocol, TypeVar

from corpus import corpus


class Measured(Protocol):
    """A fault's result: the fault, and why it could not be measured (empty: it could)."""

    program: str
    fault: str
    error: str


T = TypeVar("T")
R = TypeVar("R", bound=Measured)


def positive(text: str) -> int:
    """The whole number that an option gives; raises ArgumentTypeError where it is none from 1 on."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number from 1 on")
    return int(text)


def fault_options(description: str | None, workers: int = 2) -> argparse.ArgumentParser:
    """A parser of which programs and faults are taken, on how many processes, and whether each is told."""
    parser = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    parser.add_argument("programs", nargs="*", help="programs of the corpus (all)")
    parser.add_argument("--every", type=positive, default=1, help="take each N-th fault only")
    parser.add_argument("--offset", type=int, default=0, help="... from this one on")
    parser.add_argument("--workers", type=positive, default=workers, help=f"faults at a time (default {workers})")
    parser.add_argument("--details", action="store_true", help="print a line a fault as well")
    parser.add_argument("--kept", type=Path, help="file of what was measured: another run goes on where one ended")
    parser.add_argument("--minutes", type=float, help="begin with no fault after so long; go round the programs")
    return parser


def each_fault(
    options: argparse.Namespace,
    measure: Callable[..., T],
    *arguments: object,
    faults_of: Callable[[str], Sized] = corpus.faults,
) -> Iterator[T]:
    """``measure(program, number, *arguments)`` of the faults that the options take, in their order; first what is kept.

    Faults that there was no time for are left out. ``faults_of``: those of a program that are numbered.
    """
    until = time.monotonic() + 60 * options.minutes if options.minutes else float("inf")
    chosen = [
        (number, program)
        for program in options.programs or corpus.programs()
        for number in range(options.offset, len(faults_of(program)), options.every)
    ]
    chosen = sorted(chosen) if options.minutes else chosen
    jobs = [(program, number, *arguments) for number, program in chosen]
    kept: dict[str, Any] = dict(_read(options.kept)) if options.kept else {}
    yield from (kept[repr(job)] for job in jobs if repr(job) in kept)
    for job, result in _measured([job for job in jobs if repr(job) not in kept], measure, options.workers, until):
        if options.kept:
            with options.kept.open("ab") as file:
                pickle.dump((repr(job), result), file)
        yield result


Job = tuple[object, ...]


def _measured(jobs: list[Job], measure: Callable[..., T], workers: int, until: float) -> Iterator[tuple[Job, T]]:
    """What is measured, in order; no job is begun when the time is up."""
    if workers == 1:
        for job in jobs:
            if time.monotonic() > until:
                return
            yield job, measure(*job)
        return
    with ProcessPoolExecutor(workers) as pool:
        futures = [pool.submit(measure, *job) for job in jobs]
        for job, future in zip(jobs, futures, strict=True):
            if time.monotonic() > until:
                pool.shutdown(wait=False, cancel_futures=True)
            if not future.cancelled():
                yield job, future.result()


def _read(path: Path) -> Iterator[tuple[str, Any]]:
    """What a file keeps; one that an interrupted run has written only in part ends before that."""
    if not path.exists():
        return
    with path.open("rb") as file:
        try:
            while True:
                yield pickle.load(file)
        except (EOFError, pickle.UnpicklingError):
            return


def was_measured(row: R, detail: Callable[[R], str] | None = None) -> bool:
    """Print why a fault could not be measured, or what ``detail`` says of it; give whether it was measured."""
    if row.error:
        print(f"{row.program} {row.fault}: {row.error}", flush=True)
    elif detail:
        print(detail(row), flush=True)
    return not row.error
