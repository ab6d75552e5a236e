"""From a recorded run to terms: the run is followed segment by segment, and each event gets the term of its result.

The path is the recorded one, so there are no merges: a load takes the terms of the stores that wrote its bytes, found
at the recorded address, and the pointer's own term is kept beside it (the pairs of an ``assume(p = &m)`` and an
assignment of Yi et al., *Explaining Software Failures by Cascade Fault Localization*, table I). What is not modelled
becomes a symbol with the recorded value and a note. Every term's value is compared with the recorded one at once; where
they differ, the recorded one is taken, so an encoding never contradicts its run, and the instance is listed as
unexplained.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whence.formula.encoding import Encoding, SymbolKind
from whence.formula.library import Library
from whence.formula.objects import Objects
from whence.formula.registers import Frame, Getter
from whence.formula.site_encoding import Compiler, Step
from whence.formula.state import State
from whence.formula.terms import Term, Terms
from whence.formula.vectors import width_of
from whence.probe.layout import Kind
from whence.probe.plan import FIRST, Plan
from whence.program.collector import collector_off
from whence.program.program import Program
from whence.trace.columns import FrameKind
from whence.trace.trace import Trace


@dataclass(frozen=True, slots=True)
class Inputs:
    """What the run was given: the arguments after the program's name, and standard input."""

    arguments: tuple[str, ...] = ()
    stdin: bytes = b""


NOTHING = Inputs()


def encode(
    trace: Trace,
    inputs: Inputs = NOTHING,
    events: Iterable[int] | NDArray[np.int64] | None = None,
    cut: Collection[Kind] = (),
    cells: int = 0,
) -> Encoding:
    """The encoding of a run, or of some of its events.

    ``events`` should be closed under data dependence (a backward slice): what they take from others is a free symbol of
    the recorded value. The results of events of the kinds in ``cut`` become symbols, defined by ``Instance.meaning``.
    With ``cells``, an access at a computed place of an object may go to any of its cells, if they are not more. That
    is for whole runs (ValueError), since a slice does not hold what was stored in the other cells.
    """
    return Encoder(trace.program, trace.plan).encode(trace, inputs, events, cut, cells)


@dataclass(slots=True)
class _Segment:
    """A static segment compiled: its steps by offset of their sites, and its phis with a getter a predecessor."""

    block: int
    is_first: bool
    steps: list[tuple[int, Step]]
    phis: list[tuple[int, str, dict[str, Getter]]]


class Encoder:
    """Encodes runs of one program into one graph of terms: they share constants and the addresses of globals.

    What it has compiled of the program serves all runs, so that for short ones it is faster than ``encode``. ``terms``
    is the graph, by default a new one.
    """

    def __init__(self, program: Program, plan: Plan, terms: Terms | None = None) -> None:
        self.state = State(program, plan, terms)
        self._compiler = Compiler(self.state)
        self._segments: dict[int, _Segment] = {}

    def encode(
        self,
        trace: Trace,
        inputs: Inputs = NOTHING,
        events: Iterable[int] | NDArray[np.int64] | None = None,
        cut: Collection[Kind] = (),
        cells: int = 0,
    ) -> Encoding:
        """The encoding of a run, as by the function ``encode``."""
        if cells and events is not None:
            raise ValueError("other cells of objects are for whole runs")
        with collector_off():
            encoding = self.begin(trace, inputs, cut, cells)
            rows, wanted = self._chosen(events)
            for row in rows:
                self.visit(row, wanted)
        return encoding

    def begin(self, trace: Trace, inputs: Inputs, cut: Collection[Kind], cells: int) -> Encoding:
        """Start with another run; the answer is its encoding, which is filled as rows are visited."""
        encoding = self.state.begin(trace, cut)
        self.library = Library(self.state, inputs.arguments, inputs.stdin)
        self._compiler.library = self.library
        self._compiler.objects = Objects(self.state, cells)
        return encoding

    def visit(self, row: int, wanted: bytes | None = None, merged: dict[str, Term] | None = None) -> None:
        """Encode a segment instance; ``wanted`` says of each event whether it is, ``merged`` what phis give."""
        state = self.state
        first_event = state.first_event[row]
        segment, frame = self._segment(row), self._frame(row)
        if segment.is_first or frame.rows.get(segment.block) != state.previous[row]:
            self._begin_block(frame, segment, row, self.incoming(row, wanted) if merged is None else merged)
        frame.rows[segment.block] = row
        for offset, step in segment.steps:
            if wanted is None or wanted[first_event + offset]:
                step(frame, row, first_event + offset)

    def _segment(self, row: int) -> _Segment:
        identity = self.state.ids[row]
        return self._segments.get(identity) or self._compile(identity)

    def _frame(self, row: int) -> Frame:
        number = self.state.frame_of[row]
        return self.state.frames.get(number) or self._enter(number)

    def _chosen(self, events: Iterable[int] | NDArray[np.int64] | None) -> tuple[Iterable[int], bytes | None]:
        """The segment instances to visit in order, and for each event whether it is wanted (None: all are)."""
        trace = self.state.trace
        if events is None:
            return range(trace.segments), None
        chosen = np.array(sorted(set(events)), np.int64)
        wanted = np.zeros(trace.events, np.uint8)
        wanted[chosen] = 1
        return np.unique(trace.columns.events["segment"][chosen]).tolist(), wanted.tobytes()

    def _compile(self, identity: int) -> _Segment:
        """The steps of a static segment."""
        plan, program = self.state.plan, self.state.program
        row = plan.segments[identity]
        ref = program.functions[int(row["function"])]
        first, end = int(row["site_start"]), int(plan.segments[identity + 1]["site_start"])
        segment = _Segment(int(row["block"]) - ref.first_block, bool(row["flags"] & FIRST), [], [])
        for site in range(first, end):
            step = self._compiler.step(ref, site)
            if step is not None:
                segment.steps.append((site - first, step))
                continue
            phi = program.instruction(int(plan.sites[site]["instruction"]))
            getters = [self.state.registers.operand(ref, o) for o in phi.operands]
            segment.phis.append((site - first, phi.result or "", dict(zip(phi.labels, getters, strict=True))))
        self._segments[identity] = segment
        return segment

    def incoming(self, row: int, wanted: bytes | None = None) -> dict[str, Term]:
        """What the phis of a block's first segment instance take from where the run came from."""
        state, segment = self.state, self._segment(row)
        before = state.before[row]
        if not segment.phis or before < 0:
            return {}
        frame, first_event = self._frame(row), state.first_event[row]
        label = state.program.block(int(state.plan.segments[state.ids[before]]["block"])).label
        return {
            name: incoming[label](frame)
            for offset, name, incoming in segment.phis
            if wanted is None or wanted[first_event + offset]
        }

    def _begin_block(self, frame: Frame, segment: _Segment, row: int, phis: dict[str, Term]) -> None:
        """A new run of a block: its registers are gone; its phis take their values all at once."""
        state, merged = self.state, {}
        for offset, name, _ in segment.phis:
            if name in phis:
                merged[name] = state.note(Kind.PHI, state.first_event[row] + offset, phis[name], None)
        frame.blocks[segment.block] = merged

    def _enter(self, number: int) -> Frame:
        """The first visit of a frame: its parameters are the call's arguments, or symbols."""
        state = self.state
        row = state.trace.columns.frames[number]
        ref = state.program.functions[int(row["function"])]
        passed: dict[int, Term] = {}
        if row["kind"] == FrameKind.DIRECT and row["call"] >= 0:
            caller = state.frames.get(state.frame_of[row["call"]])
            passed = caller.passed if caller else {}
        module, arguments = state.program.modules[ref.module], []
        for index, formal in enumerate(ref.function.parameters):
            width, term = width_of(formal.type, module), passed.get(index)
            by_value = any(a.startswith("byval(") for a in formal.attributes)
            if term is None or state.terms.widths[term] != width or by_value:
                kind = SymbolKind.INPUT if ref.name == "main" and not passed else SymbolKind.FREE
                term = state.encoding.symbol(kind, formal.text.removeprefix("%"), width)
                if kind is SymbolKind.INPUT and index == 1:
                    self.library.argument_vector(term)
            arguments.append(term)
        frame = state.frames[number] = Frame(len(ref.function.blocks), arguments)
        return frame
