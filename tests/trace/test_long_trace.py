"""Long recordings that are read in windows, each window against the recording that is decoded as a whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from long_runs import MIXED, ROUNDS, in_windows
from snippets import Snippet, Trace, Variant, backward, snippet

from whence.errors import TooLong
from whence.trace.columns import N_CELL, N_EVENT, N_FRAME, N_SEGMENT
from whence.trace.long_trace import LongTrace
from whence.trace.trace import open_units


@pytest.fixture(params=["compact", "full"])
def variant(request: pytest.FixtureRequest) -> Variant:
    return Variant.COMPACT if request.param == "compact" else Variant.RECORD


def both(made: Snippet, variant: Variant, *arguments: str, **told: Any) -> tuple[Trace, LongTrace]:
    """A run's recording, decoded as a whole and read in windows."""
    _, path = made.record(*arguments, variant=variant)
    return made.open(path), in_windows(made, path, **told)


def assert_shown(trace: LongTrace, whole: Trace) -> None:
    """The window that is shown is as in the whole trace."""
    start = trace._windows[trace._shown].start
    for table, count in (("segments", N_SEGMENT), ("events", N_EVENT), ("frames", N_FRAME), ("cells", N_CELL)):
        rows = slice(int(start[count]), int(trace.columns.counts[count]))
        ours, theirs = getattr(trace.columns, table), getattr(whole.columns, table)
        for name in ours.dtype.names:
            if name == "word" and trace.recorded is not trace.units:  # a window is made whole into chunks of its own
                continue
            assert (ours[name][rows] == theirs[name][rows]).all(), (table, name)
    events = np.arange(trace.first_event, trace.events)
    assert (trace.sites(events) == whole.sites(events)).all()
    assert (trace.addresses(events) == whole.addresses(events)).all()
    (ours, known), (theirs, also) = trace.values(events), whole.values(events)
    assert (known == also).all() and (ours == theirs).all()
    assert (trace.segment_clock == whole.segment_clock[trace.first_segment : trace.segments]).all()


def sliced(trace: LongTrace, criterion: list[int], control: bool) -> dict[int, int]:
    """Depth of each event of a slice that is found in windows."""
    found = {}
    for part in trace.slices([event + 1 for event in criterion], control):
        assert (part.first, part.stop) == (trace.first_event, trace.events)
        found |= dict(zip(part.events.tolist(), part.depth_of(part.events).tolist(), strict=True))
    return found


def whole_slice(trace: Trace, criterion: list[int], control: bool) -> dict[int, int]:
    found = backward(trace, criterion, control)
    return dict(zip(found.events.tolist(), found.depth_of(found.events).tolist(), strict=True))


def criteria(trace: Trace) -> list[list[int]]:
    """Events to slice from: what was written last, and some throughout."""
    last = int(trace.columns.outs["event"][0])
    return [
        [trace.events - 1],
        [last, last - 1],
        *([event] for event in range(trace.events // 9, trace.events, trace.events // 6)),
    ]


SIZE = 256 << 20  # bytes of a trace file, which are compared
ENDS = ("exit", "crash")
KEPT: dict[str, Callable[[LongTrace], int]] = {
    "all": lambda trace: trace._most_kept,
    "few": lambda trace: 3 * max(kept.size for kept in trace._checkpoints.values()),
    "one": lambda trace: 0,
}


@pytest.mark.parametrize("end", ENDS)
def test_windows_are_those_of_the_whole_trace(variant: Variant, end: str) -> None:
    whole, trace = both(snippet(MIXED), variant, ROUNDS, end)
    assert trace.windows > 5 and trace.events_of_run == whole.events
    assert (trace.header.end, trace.damaged_at) == (whole.header.end, whole.damaged_at)
    assert trace.shows_end and trace.blocks == whole.blocks
    shown = 0
    for _ in trace.windows_shown(backward=True):
        assert_shown(trace, whole)
        shown += trace.events - trace.first_event
    assert shown == whole.events and trace.first_event == 0
    for _ in trace.windows_shown():
        assert_shown(trace, whole)


@pytest.mark.parametrize("kept", KEPT)
def test_windows_are_come_to_from_whatever_checkpoints_are_kept(variant: Variant, kept: str) -> None:
    made = snippet(MIXED)
    _, path = made.record(ROUNDS, "exit", variant=variant)
    whole, every = made.open(path), in_windows(made, path)
    trace = in_windows(made, path, kept=KEPT[kept](every))
    assert (len(trace._checkpoints) == trace.windows) == (kept == "all")
    order = np.random.default_rng(3).permutation(trace.windows)
    for number in order.tolist():
        trace.show(number)
        assert_shown(trace, whole)


@pytest.mark.parametrize("window", [1, 2, 5])
@pytest.mark.parametrize("control", [True, False])
def test_slices_are_those_of_the_whole_trace(variant: Variant, control: bool, window: int) -> None:
    whole, trace = both(snippet(MIXED), variant, ROUNDS, "exit", window=window)
    for criterion in criteria(whole):
        assert sliced(trace, criterion, control) == whole_slice(whole, criterion, control)


def test_slice_of_a_crash(variant: Variant) -> None:
    whole, trace = both(snippet(MIXED), variant, ROUNDS, "crash")
    criterion = [whole.events - 1]
    found = sliced(trace, criterion, True)
    assert found == whole_slice(whole, criterion, True) and min(found) < trace.events // 4


def test_any_event_can_be_brought(variant: Variant) -> None:
    whole, trace = both(snippet(MIXED), variant, ROUNDS, "exit", kept=0)
    events = np.random.default_rng(5).integers(0, whole.events, 40)
    for event in events.tolist():
        assert (trace.clock(event), trace.site(event)) == (whole.clock(event), whole.site(event))
        assert trace.holds(event)


def test_clocks_of_blocks_that_are_open_for_long(variant: Variant) -> None:
    whole, trace = both(snippet(MIXED), variant, ROUNDS, "exit", kept=0)
    calls = np.flatnonzero(whole.columns.events["segment"][: whole.events] < 40)
    found = [whole.clock(event) for event in calls.tolist()]
    for _ in trace.windows_shown(backward=True):
        held = [event for event in calls.tolist() if trace.holds(event)]
        assert held and [trace.clock(event) for event in held] == [found[calls.tolist().index(e)] for e in held]


def test_who_wrote_what_lies_where_a_run_crashed() -> None:
    code = """
    #include <string.h>
    static int field[64];
    static int spoiled(const char *text) {
        char here[16];
        memset(here, *text, 200);
        return here[3];
    }
    int main(int argc, char **argv) {
        for (int k = 0; k < 60000; k++)
            field[k % 64] += k;
        return spoiled(argv[1]) + field[3];
    }
    """
    whole, trace = both(snippet(code, "-fno-stack-protector"), Variant.RECORD, "x")
    assert trace.windows > 1
    assert whole.return_writers and trace.return_writers == whole.return_writers
    assert trace.fault_address == whole.fault_address


def test_progress_is_told() -> None:
    told = []
    _, trace = both(
        snippet(MIXED), Variant.COMPACT, ROUNDS, "exit", watch=lambda number, all: told.append((number, all))
    )
    assert told == [(number, trace.windows) for number in range(trace.windows)]


THREADS = """
#include <pthread.h>
static void *work(void *given) { return given; }
int main(void) { pthread_t t; pthread_create(&t, 0, work, 0); pthread_join(t, 0); return 0; }
"""


def test_several_threads_are_refused() -> None:
    made = snippet(THREADS, "-pthread")
    _, path = made.record()
    with pytest.raises(TooLong, match="with threads"):
        in_windows(made, path)


POLLED = """
#include <signal.h>
#include <sys/time.h>
static volatile sig_atomic_t ticks;
static int field[64], seen;
static void note(int number) { ticks = ticks + (number == SIGALRM); }
int main(void) {
    struct itimerval each = {{0, 3000}, {0, 3000}};
    signal(SIGALRM, note);
    setitimer(ITIMER_REAL, &each, 0);
    for (int turn = 0; turn < 5; turn++) {
        int before = ticks;
        while (ticks == before) { }
        field[++seen % 64] += turn;
    }
    return field[3] == 7;
}
"""


def test_handlers_are_put_in_order_in_each_window() -> None:
    made = snippet(POLLED)
    _, path = made.record(limit=SIZE)
    whole, trace = made.open(path), in_windows(made, path)
    assert trace.windows > 3 and not np.array_equal(whole.units, open_units(path))  # segments were moved
    for _ in trace.windows_shown(backward=True):
        assert_shown(trace, whole)
    for criterion in criteria(whole)[2::2]:
        assert sliced(trace, criterion, True) == whole_slice(whole, criterion, True)
