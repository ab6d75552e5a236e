"""What checking invariants on a run costs, against recording it.

    python -m bench.checking [--work FOLDER] [--rounds N]

Recording is the run of the record variant and the decoding of its trace. Checking is all that comes after: reading the
values of all events, and comparing them with what was learned from the same run, by all kinds of invariants. To observe
is to let the alter variant tell the values of all its sites. Times are by the clock, medians of turns.
"""

from __future__ import annotations

import sys
from pathlib import Path

from bench.common import ONE_ROUND, build_program, print_costs, take_turns, timed
from whence.alter.session import Session
from whence.subject.recorder import Recorder
from whence.techniques.likely_invariants.kinds import ALL, Settings, allowed_kinds, check, learn
from whence.techniques.likely_invariants.profile import pairs_of, profile_of
from whence.techniques.likely_invariants.readings import read, static_sites

LIMIT = 1 << 23
HEADER = (
    "program",
    "events",
    "record s",
    "read s",
    "profile s",
    "check s",
    "read and check, to record",
    "observe, to record",
)


def main() -> int:
    """Print the table."""
    return print_costs(__doc__, HEADER, _row)


def _row(name: str, work: Path, rounds: int) -> list[str]:
    """Measure one program."""
    subject = build_program(name, work)
    static = static_sites(subject)
    pairs = pairs_of(subject, static)
    with Recorder(subject) as recorder, Session(subject, ONE_ROUND) as session:
        trace = recorder.record(ONE_ROUND).trace
        readings = read(trace, static, trace.events)
        invariants = learn([profile_of(readings, static, pairs)], len(static), len(pairs))
        allowed = allowed_kinds(static, Settings(ALL))
        times = take_turns(
            {
                "record": lambda: timed(lambda: recorder.record(ONE_ROUND))[0].wall,
                "read": lambda: timed(lambda: read(trace, static, trace.events))[0].wall,
                "profile": lambda: timed(lambda: profile_of(readings, static, pairs))[0].wall,
                "check": lambda: timed(lambda: check(readings, static, pairs, invariants, allowed))[0].wall,
                "observe": lambda: timed(lambda: session.observe(LIMIT))[0].wall,
            },
            rounds,
        )
    checked = (times["read"] + times["check"]) / times["record"]
    shown = [f"{times[kind]:.3f}" for kind in ("record", "read", "profile", "check")]
    return [name, f"{trace.events:,}", *shown, f"{checked:.2f}", f"{times['observe'] / times['record']:.1f}"]


if __name__ == "__main__":
    sys.exit(main())
