"""Handlers of asynchronous signals in recorded programs: wherever they come, what they do is in the trace."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from snippets import Snippet

from whence.run.runner import RunResult
from whence.run.sandbox import Limits
from whence.trace.columns import N_CELL, N_FRAME, N_HEAP, N_OUT, CellKind, FrameKind
from whence.trace.trace import Trace

SOURCE = Path(__file__).parent / "runtime/signals.c"
MODES = re.findall(r"MODE\((\w+)\)", SOURCE.read_text())[1:]
ENDS = {"leave": ("killed", 0), "finish": ("exit", 4), "crash": ("signal", 11), "hang": ("killed", 0)}
STATUSES = {"leave": 3, "finish": 4, "crash": None, "hang": None}


@dataclass(slots=True)
class Recorded:
    """A recorded run of a mode."""

    program: Snippet
    result: RunResult
    trace: Trace

    @property
    def entries(self) -> int:
        """How many calls of handlers the program counted."""
        found = re.search(rb"entries (\d+)", self.result.stdout)
        assert found, self.result.stdout
        return int(found[1])

    def frames_of(self, name: str) -> np.ndarray:
        """The frames of a function in the trace."""
        frames = self.trace.columns.frames[: int(self.trace.columns.counts[N_FRAME])]
        names = [function.name for function in self.trace.program.functions]
        return np.asarray(frames[frames["function"] == names.index(name)])


@pytest.fixture(scope="module")
def signals() -> Snippet:
    return program(1 << 30)


def program(trace: int) -> Snippet:
    """The program, recorded into traces of so many bytes at most."""
    return Snippet({"signals.c": SOURCE.read_text()}, ("-pthread",), Limits(time=2, trace=trace))


def recorded(signals: Snippet, mode: str) -> Recorded:
    """A mode recorded once, its trace decoded; of the one that does not end the beginning is enough."""
    signals = program(1 << 26) if mode == "hang" else signals
    result, path = signals.record(mode)
    trace = signals.open(path)
    path.unlink()
    return Recorded(signals, result, trace)


def on_line(trace: Trace, events: np.ndarray, text: str) -> np.ndarray:
    """Those of some events whose instruction stands on the line of the source with this text."""
    line = next(n for n, found in enumerate(SOURCE.read_text().splitlines(), 1) if text in found)
    sites = trace.sites(events)
    numbers = {site: int(trace.plan.sites[site]["instruction"]) for site in set(sites.tolist())}
    places = {site: trace.program.instruction(number).location for site, number in numbers.items()}
    wanted = [site for site, place in places.items() if place is not None and place.line == line]
    return np.asarray(events[np.isin(sites, wanted)])


@pytest.mark.parametrize("mode", MODES)
def test_every_call_of_a_handler_is_recorded(signals: Snippet, mode: str) -> None:
    run = recorded(signals, mode)
    assert run.trace.damaged_at == -1
    assert (run.trace.header.end, run.trace.header.code) == ENDS.get(mode, ("exit", 0))
    assert run.result.status == STATUSES.get(mode, 0)
    assert len(run.frames_of("together" if mode == "threads" else "handler")) == run.entries > 0


@pytest.mark.parametrize("mode", ["steps", "steps_of_thread"])
def test_effects_of_calls_are_whole_though_handlers_come_amid_them(signals: Snippet, mode: str) -> None:
    run = recorded(signals, mode)
    assert run.entries > 10_000  # one at each instruction
    columns = run.trace.columns
    outs = columns.outs[: int(columns.counts[N_OUT])]
    assert int(outs["length"][outs["stream"] == 1].sum()) == len(run.result.stdout)
    heap = columns.heap[: int(columns.counts[N_HEAP])]
    rounds = 3 if mode == "steps" else 43
    assert len(on_line(run.trace, heap["event"], "char *block = malloc")) == rounds
    assert set(heap["length"][~heap["freed"].astype(bool)].tolist()) >= {len(f"{k} of many") + 20 for k in range(3)}
    cells = columns.cells[: int(columns.counts[N_CELL])]
    copied = np.unique(cells["parent"][cells["kind"] == CellKind.COPY])
    assert len(on_line(run.trace, copied, "strcpy(seen, text)")) == run.entries


def test_a_handler_is_a_frame_between_what_it_interrupts(signals: Snippet) -> None:
    run = recorded(signals, "flood")
    assert set(run.frames_of("handler")["kind"].tolist()) <= {FrameKind.SIGNAL, FrameKind.CALLBACK}
    assert not (run.frames_of("busy")["kind"] != FrameKind.DIRECT).any()


@pytest.mark.parametrize("mode", ["flood", "threads", "escape"])
def test_nothing_is_lost_in_many_recordings(signals: Snippet, mode: str) -> None:
    for _ in range(10):
        run = recorded(signals, mode)
        assert len(run.frames_of("together" if mode == "threads" else "handler")) == run.entries
        assert run.trace.damaged_at == -1
        run.trace.trim()


def test_calls_that_wait_are_interrupted_as_ever(signals: Snippet) -> None:
    assert recorded(signals, "waits").result.stdout == signals.run("waits").stdout == b"13\nentries 13\n"
    assert recorded(signals, "reset").result.stdout == signals.run("reset").stdout == b"1 1\nentries 1\n"


def test_a_handler_that_hangs_is_seen_at_work(signals: Snippet) -> None:
    run = recorded(signals, "hang")
    assert run.result.timed_out
    line = next(n for n, text in enumerate(SOURCE.read_text().splitlines(), 1) if "static void hang" in text)
    assert len(signals.events_at(run.trace, line)) > 10_000
