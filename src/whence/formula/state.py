"""The run as the encoder knows it so far: frames, memory, the values of terms, and what was recorded."""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np

from whence.formula.constants import Constants
from whence.formula.encoding import Encoding, Instance, Symbol, SymbolKind
from whence.formula.evaluation import Evaluation
from whence.formula.floats import is_nan
from whence.formula.memory import Memory
from whence.formula.registers import Frame, Registers
from whence.formula.tape import Tape
from whence.formula.terms import Term, Terms
from whence.probe.layout import Kind
from whence.probe.plan import Plan
from whence.program.program import Program
from whence.trace.columns import CellKind, FrameKind
from whence.trace.shadow import MAX_CELLS
from whence.trace.trace import Trace


class State:
    """What all parts of the encoder share: of the program, and (after ``begin``) of the run that is being encoded.

    ``on_cut`` is told each symbol of an instance that is cut, with its meaning. ``on_known`` is told each symbol whose
    value becomes known, with the value. ``origin`` is asked what a load of unknown bytes (address, size, value) gives.
    """

    tape: Tape
    trace: Trace
    encoding: Encoding
    evaluation: Evaluation
    memory: Memory

    def __init__(self, program: Program, plan: Plan, terms: Terms | None = None) -> None:
        self.program, self.plan = program, plan
        self.terms = Terms() if terms is None else terms
        self.constants = Constants(program, self.terms, self._new_address)
        self.registers = Registers(program, self.terms, self.constants, self._new_symbol, self._new_local)
        self._lasting: dict[Term, Symbol] = {}  # symbols that all runs share

    def begin(self, trace: Trace, cut: Collection[Kind]) -> Encoding:
        """Start with another run of the program; returns its encoding, which is empty."""
        self._cut = frozenset(cut)
        self.encoding = Encoding(self.terms, dict(self._lasting), Evaluation(self.terms))
        self.evaluation = self.encoding.evaluation
        self.memory = Memory(self.terms, self.constants.initial)
        self.constants.begin()
        self.frames: dict[int, Frame] = {}
        self.extents = {symbol: self.constants.size(symbol) for symbol in self._lasting}  # bytes behind addresses
        self.on_cut: Callable[[Term, Term], None] = lambda symbol, meaning: None
        self.origin: Callable[[int, int, int], Term | None] = lambda address, size, value: None
        self.on_known: Callable[[Term, int], None] = lambda symbol, value: None
        self.unknown_call = -1  # the last call through a pointer of a function of which nothing is known
        self.way_to: Callable[[int], Term] = lambda block: -1  # whether the latest switch goes to a block
        self.use(Tape(trace))
        return self.encoding

    def use(self, tape: Tape) -> None:
        """Read from this trace from now on."""
        self.tape, self.trace, self.units = tape, tape.trace, tape.units
        self.ids, self.words, self.frame_of, self.sources = tape.ids, tape.words, tape.frame_of, tape.sources
        self.before, self.previous, self.first_event = tape.before, tape.previous, tape.first_event
        self.next_block, self.effects = tape.next_block, tape.effects

    def _new_address(self, name: str) -> Term:
        """The address of a global or function: one symbol for all runs."""
        symbol = self.encoding.symbol(SymbolKind.ADDRESS, name, 64)
        self._lasting[symbol] = self.encoding.symbols[symbol]
        return symbol

    def _new_local(self, name: str, size: int, count: Term | None) -> Term:
        """The address of a local: so many elements of so many bytes."""
        symbol = self.encoding.symbol(SymbolKind.ADDRESS, name, 64)
        self.extents[symbol] = size * (1 if count is None else self.evaluation.value(count) or 0)
        return symbol

    def _new_symbol(self, kind: SymbolKind, name: str, width: int, note: str) -> Term:
        """A symbol for a register that nothing made, and a note of why."""
        if note:
            self.encoding.notes[note] += 1
        return self.encoding.symbol(kind, name, width)

    # ---- What was recorded -------------------------------------------------------------------------------------------

    def word(self, row: int, unit: int) -> int:
        """The 64 bits that a segment instance recorded at a unit."""
        place = self.words[row] + unit
        value: int = self.units[place] | self.units[place + 1] << 32
        return value

    def bits(self, row: int, unit: int, units: int) -> int:
        """The number of 1, 2 or 4 units that a segment instance recorded."""
        place = self.words[row] + unit
        value: int = self.units[place]
        for k in range(1, units):
            value |= self.units[place + k] << 32 * k
        return value

    def zero(self, row: int) -> int | None:
        """What a recorded 0 says: nothing, where the run may have ended before the segment's values were written."""
        return 0 if self.tape.ended or row < len(self.ids) - 1 else None

    def surprise(self, event: int, address: int, size: int) -> None:
        """A load gave other bytes than were last stored there: memory is unknown, and somebody else has written it.

        Where the trace knows of nobody, or a function that nobody knows was called since, that is noted; else the load
        is unexplained.
        """
        self.memory.forget(address, size)
        event -= self.tape.base
        writer = self._writer(int(self.trace.columns.events[event]["definition"]))
        calls = self.tape.unknown_calls
        before = int(np.searchsorted(calls, event))
        last = max(self.unknown_call - self.tape.base, int(calls[before - 1]) if before else -1)
        if writer < last or writer < 0:
            self.encoding.notes["memory written by something unrecorded"] += 1
        else:
            self.encoding.unexplained.append(event + self.tape.base)

    def _writer(self, definition: int) -> int:
        """The event that wrote a definition's bytes, the last one of several; -1: something unrecorded did."""
        columns = self.trace.columns
        if definition < -MAX_CELLS:
            start, end = columns.multi_start[-definition - MAX_CELLS - 1 :][:2]
            return max(self._writer(int(reference)) for reference in columns.multi_reference[start:end])
        if definition >= 0:
            return definition - 1
        cell = columns.cells[-definition - 1]
        return -1 if cell["kind"] == CellKind.UNKNOWN else int(cell["parent"])

    def explain(self, event: int, term: Term, value: int) -> Term:
        """The term, known to have this value in the run; a symbol of that value where it cannot have it.

        Two floating-point values that are no numbers count as the same.
        """
        known = self.evaluation.value(term)
        if known == value:
            return term
        if known is None:
            for symbol in self.evaluation.learn(term, value):
                self.constants.place(symbol, self.evaluation.values[symbol] or 0)
                self.extents.setdefault(symbol, self.constants.size(symbol))
                self.on_known(symbol, self.evaluation.values[symbol] or 0)
            return term
        width = self.terms.widths[term]
        if width in (32, 64) and is_nan(known, width) and is_nan(value, width):
            return term
        self.encoding.unexplained.append(event)
        return self.encoding.symbol(SymbolKind.OPAQUE, "unexplained", width, event, value)

    def enters(self, row: int) -> bool:
        """Whether the call that ends a segment instance entered a function of the program."""
        if row + 1 >= len(self.ids):
            return False
        frame = self.trace.columns.frames[self.frame_of[row + 1]]
        return bool(frame["call"] == row and frame["kind"] == FrameKind.DIRECT)

    # ---- What becomes of it ------------------------------------------------------------------------------------------

    def note(
        self, kind: Kind, event: int, meaning: Term, value: int | None, pointers: tuple[tuple[Term, int], ...] = ()
    ) -> Term:
        """Add an instance; the answer is what later events use as its result."""
        term = meaning
        if self._cut and kind in self._cut and meaning >= 0:
            known = self.evaluation.value(meaning) if value is None else value
            term = self.encoding.symbol(SymbolKind.CUT, "", self.terms.widths[meaning], event, known)
            self.on_cut(term, meaning)
        self.encoding.instances.append(Instance(event, term, meaning, value, pointers, kind))
        return term

    def load(self, event: int, address: int, size: int, value: int | None, name: str) -> Term:
        """The bytes at an address; unknown ones become symbols, with their part of the recorded value."""
        found = self.memory.read(address, size)
        if found is None:
            for offset, length in self.memory.unknown_runs(address, size):
                part = None if value is None else value >> 8 * offset & (1 << 8 * length) - 1
                known = None if part is None else self.origin(address + offset, length, part)
                if known is not None:
                    self.memory.write(address + offset, known)
                    continue
                symbol = self.encoding.symbol(SymbolKind.INITIAL, name, 8 * length, event, part)
                self.memory.write(address + offset, symbol)
                if part is not None:
                    self.on_known(symbol, part)
            found = self.memory.read(address, size)
            assert found is not None
        return found

    def unwritten(self, event: int, local: str, width: int) -> Term:
        """What a load takes from a private local that no encoded event has stored in: what it had, where one did."""
        value = self.trace.value(event - self.tape.base)
        return self.known_symbol(SymbolKind.INITIAL, local, width, event, value)

    def known_symbol(self, kind: SymbolKind, name: str, width: int, event: int, value: int | None) -> Term:
        """A symbol of a recorded value, of which the library's part is told."""
        symbol = self.encoding.symbol(kind, name, width, event, value)
        if value is not None:
            self.on_known(symbol, value)
        return symbol
