"""What benchmarks over the corpus' faults share: their options, and one fault after the other on several processes."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import starmap
from typing import Protocol, TypeVar

from corpus import corpus


class Measured(Protocol):
    """A fault's result: the fault, and why it could not be measured (empty: it could)."""

    program: str
    fault: str
    error: str


T = TypeVar("T")
R = TypeVar("R", bound=Measured)


def fault_options(description: str | None, workers: int = 2) -> argparse.ArgumentParser:
    """A parser of which programs and faults are taken, on how many processes, and whether each is told."""
    parser = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    parser.add_argument("programs", nargs="*", help="programs of the corpus (all)")
    parser.add_argument("--every", type=int, default=1, help="take each N-th fault only")
    parser.add_argument("--offset", type=int, default=0, help="... from this one on")
    parser.add_argument("--workers", type=int, default=workers, help=f"faults at a time (default {workers})")
    parser.add_argument("--details", action="store_true", help="print a line a fault as well")
    return parser


def each_fault(options: argparse.Namespace, measure: Callable[..., T], *arguments: object) -> Iterator[T]:
    """``measure(program, number, *arguments)`` of the faults that the options take, in their order."""
    jobs = [
        (program, number, *arguments)
        for program in options.programs or corpus.programs()
        for number in range(options.offset, len(corpus.faults(program)), options.every)
    ]
    if options.workers == 1:
        yield from starmap(measure, jobs)
        return
    with ProcessPoolExecutor(options.workers) as pool:
        yield from pool.map(measure, *zip(*jobs, strict=True))


def was_measured(row: R, detail: Callable[[R], str] | None = None) -> bool:
    """Print why a fault could not be measured, or what ``detail`` says of it; give whether it was measured."""
    if row.error:
        print(f"{row.program} {row.fault}: {row.error}", flush=True)
    elif detail:
        print(detail(row), flush=True)
    return not row.error
