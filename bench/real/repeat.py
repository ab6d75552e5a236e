"""Is a run the same each time? Ten runs of each case of the real programs in a session, event by event.

    python -m bench.real.repeat --work FOLDER [--runs N] [PROGRAM ...]

Prints a line for each case: whether the alter variant gives what the plain program gives; the length in clock ticks and
the events observed; whether all runs in a session gave the same events; whether a run outside of a session, as the
program runs by itself, gives them too; and whether the record variant's trace has the same blocks at the same
clock. Under it stands the first difference, where there is one: the clock, the statement, and the two values.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.common import ended, options, work_folder
from bench.real.cases import PROGRAMS, subject_of
from whence.alter.changes import Way
from whence.alter.session import Session
from whence.probe.instrument import Variant
from whence.probe.plan import FIRST
from whence.run.cases import Case
from whence.subject.recorder import Recorder
from whence.subject.subject import Subject

RUNS = 10
Events = NDArray[np.void]


def events_of(subject: Subject, case: Case, way: Way, runs: int) -> tuple[list[Events], int]:
    """What the unaltered run shows, so many times over, and its length in clock ticks."""
    with Session(subject, case, way) as session:
        observed = [session.observe() for _ in range(runs)]
    return [one.events for one in observed], observed[0].length


def first_difference(one: Events, other: Events) -> int | None:
    """The number of the first event that differs, or None."""
    length = min(len(one), len(other))
    differing = np.flatnonzero(one[:length] != other[:length])
    if len(differing):
        return int(differing[0])
    return None if len(one) == len(other) else length


def told(subject: Subject, one: Events, other: Events, index: int) -> str:
    """A difference in words: clock, statement and values."""
    if index >= min(len(one), len(other)):
        return f"one run ends after {min(len(one), len(other)):,} events, the other after {max(len(one), len(other)):,}"
    event, twin = one[index], other[index]
    if (event["clock"], event["site"]) != (twin["clock"], twin["site"]):
        places = (f"clock {e['clock']} at {statement(subject, e)}" for e in (event, twin))
        return ", or ".join(places)
    return f"clock {event['clock']} at {statement(subject, event)}: {event['value']:#x} or {twin['value']:#x}"


def statement(subject: Subject, event: np.void) -> str:
    """The statement of an event."""
    number = int(subject.places.numbers[subject.alter_plan.sites["instruction"][event["site"]]])
    if number < 0:
        return "no statement"
    found = subject.places.statements[number]
    return f"{found.file}:{found.line}"


def recorded_blocks(subject: Subject, case: Case) -> NDArray[np.int64]:
    """The blocks of the recorded run: at place i the number of the block that starts at clock i."""
    with Recorder(subject) as recorder:
        trace = recorder.record(case).trace
    segments = trace.plan.segments[trace.columns.segments["id"][: trace.segments]]
    return np.asarray(segments["block"][segments["flags"] & FIRST != 0])


def same_clock(subject: Subject, events: Events, length: int, blocks: NDArray[np.int64]) -> str:
    """Whether events lie in the blocks that the recorded run starts at their clock: "yes", or which do not."""
    there = events["clock"] < len(blocks)
    own = subject.alter_plan.sites["block"][events["site"]]
    wrong = ~there
    wrong[there] = blocks[events["clock"][there].astype(np.int64)] != own[there]
    if wrong.any():
        event = events[int(np.flatnonzero(wrong)[0])]
        return f"no: clock {event['clock']}, {statement(subject, event)}"
    return "yes" if length == len(blocks) else f"no: {length} ticks, {len(blocks)} recorded"


def same_output(subject: Subject, case: Case) -> bool:
    """Whether the alter variant, in no session, does what the plain program does."""
    with subject.runner() as plain, subject.runner(Variant.ALTER) as altered:
        runs = [runner.run_case(case) for runner in (plain, altered)]
    first, second = ((run.stdout, run.stderr, run.status, run.signal) for run in runs)
    return first == second


def rows(subject: Subject, runs: int) -> Iterator[tuple[list[str], list[str]]]:
    """For each case its line's fields, and the differences found."""
    for case in subject.cases:
        many, length = events_of(subject, case, Way.AUTO, runs)
        by_itself, _ = events_of(subject, case, Way.RESTART, 1)
        found = [index for other in many[1:] if (index := first_difference(many[0], other)) is not None]
        outside = first_difference(many[0], by_itself[0])
        notes = []
        if found:
            other = next(o for o in many[1:] if first_difference(many[0], o) == min(found))
            notes.append("from run to run: " + told(subject, many[0], other, min(found)))
        if outside is not None:
            notes.append("outside of a session: " + told(subject, many[0], by_itself[0], outside))
        clock = same_clock(subject, many[0], length, recorded_blocks(subject, case))
        equal = "yes" if not found else f"{runs - len(found)} of {runs}"
        yield (
            [
                case.name,
                _yes(same_output(subject, case)),
                f"{length:,}",
                f"{len(many[0]):,}",
                equal,
                _yes(outside is None),
                clock,
            ],
            notes,
        )


def _yes(is_so: bool) -> str:
    return "yes" if is_so else "no"


def main() -> int:
    """Print the table."""
    parser = options("repeat the real programs' runs")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("programs", nargs="*")
    arguments = parser.parse_args()
    work: Path = work_folder(arguments.work)
    differing = 0
    for program in arguments.programs or PROGRAMS:
        subject = subject_of(program, work)
        clock = time.perf_counter()
        subject.variant(Variant.ALTER)
        seconds = time.perf_counter() - clock
        print(f"\n{program}: {len(subject.alter_plan.sites):,} sites; alter variant in {seconds:.1f} s\n")
        print("| case | output as plain | ticks | events | same every time | and by itself | clock as recorded |")
        print("| --- | --- | ---: | ---: | --- | --- | --- |")
        for fields, notes in rows(subject, arguments.runs):
            differing += bool(notes)
            print(f"| {' | '.join(fields)} |", flush=True)
            for note in notes:
                print(f"  {note}", file=sys.stderr, flush=True)
    return 1 if differing else 0


if __name__ == "__main__":
    ended(main)
