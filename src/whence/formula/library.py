"""What calls of the C library do to memory, and what they return: exactly where a summary says so, else as recorded."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from whence.formula import summaries
from whence.formula.effects import Effect, Opcode
from whence.formula.encoding import SymbolKind
from whence.formula.registers import Frame
from whence.formula.sorting import SortedArray
from whence.formula.state import State
from whence.formula.terms import Term
from whence.probe.library import FUNCTIONS, names

_NAMES = names()
_READERS = frozenset({"fgets", "fread", "read", "gets", "fgets_unlocked", "fread_unlocked"})
_ENDING = frozenset({"strtok", "strtok_r", "strsep"})  # a single byte that they write is the zero behind a token
_WITHIN = frozenset({"strrchr", "strstr", "strpbrk", "memchr", "memrchr", "strcasestr", "strtok", "strtok_r"})
_SORTING = frozenset({"qsort", "qsort_r"})
_NUMBERS = frozenset({"strtol", "strtoul", "strtoll", "strtoull", "strtod", "strtof", "strtold"})
_ZEROING = frozenset({"calloc", "strcpy", "stpcpy", "strncpy", "stpncpy", "strcat", "strncat", "bzero"})
_BLOCKS = frozenset({"malloc", "calloc", "realloc", "reallocarray", "aligned_alloc", "strdup", "strndup", "fopen"})
MOST_COPIED = 1 << 16  # bytes; longer copies are taken as recorded
MOST_LINKED = 256  # unknown bytes in a row of a copy that become symbols, so that they stay the same on both sides


@dataclass(slots=True)
class LibraryCall:
    """A call in progress: terms of which one is the result, if its value is the recorded one.

    ``text`` (-1: none) is a pointer into whose text the result points; ``size`` the bytes of the block that it made.
    """

    name: str
    candidates: list[Term] = field(default_factory=list)
    text: Term = -1
    size: int = 0


Known = tuple[dict[Frame, LibraryCall], dict[int, SortedArray], Term]


class Library:
    """Applies the effects of library calls to the state."""

    def __init__(self, state: State, arguments: tuple[str, ...], stdin: bytes) -> None:
        self._state = state
        self._stdin, self._stdin_bytes = stdin, dict[int, Term]()
        self._arguments = arguments
        self._strings: dict[Term, int] = {}  # pointers to arguments
        self._vector: Term | None = None
        self._tables: dict[Term, str] = {}  # pointers to pointers to the tables of ctype.h, and pointers to them
        self._calls: dict[Frame, LibraryCall] = {}
        self._sorted: dict[int, SortedArray] = {}  # by the segment of the call
        self._token: Term = -1  # the latest result of strtok
        state.on_known, state.origin = self._known, self._origin

    def content(self) -> Known:
        """What is known of calls in progress and of what they left, to go back to with ``restore``."""
        return dict(self._calls), dict(self._sorted), self._token

    def restore(self, known: Known) -> None:
        """Know again what was known then."""
        calls, arrays, self._token = known
        self._calls, self._sorted = dict(calls), dict(arrays)

    # ---- The run's inputs --------------------------------------------------------------------------------------------

    def argument_vector(self, symbol: Term) -> None:
        """Say which symbol is main's second parameter."""
        self._vector = symbol

    def _known(self, symbol: Term, value: int) -> None:
        """A symbol's value has become known: where argv points, there are pointers, and there are the strings."""
        memory, encoding = self._state.memory, self._state.encoding
        if symbol == self._vector:
            for number in range(len(self._arguments) + 1):
                pointer = encoding.symbol(SymbolKind.INPUT, f"argv[{number}]", 64)
                self._strings[pointer] = number
                memory.write(value + 8 * number, pointer)
            memory.write(value + 8 * len(self._arguments) + 8, self._state.terms.constant(0, 64))
        elif self._strings.get(symbol, 0) > 0:
            number = self._strings[symbol]
            text = os.fsencode(self._arguments[number - 1])
            for place, byte in enumerate(text):
                name = f"argv[{number}][{place}]"
                memory.write(value + place, encoding.symbol(SymbolKind.INPUT, name, 8, value=byte))
            memory.write(value + len(text), self._state.terms.constant(0, 8))

    def _input_byte(self, offset: int) -> Term | None:
        """A byte of standard input, one symbol for all who read it."""
        if offset >= len(self._stdin):
            return None
        if offset not in self._stdin_bytes:
            value = self._stdin[offset]
            self._stdin_bytes[offset] = self._state.encoding.symbol(
                SymbolKind.INPUT, f"stdin[{offset}]", 8, value=value
            )
        return self._stdin_bytes[offset]

    # ---- Calls -------------------------------------------------------------------------------------------------------

    def call(self, name: str, frame: Frame, row: int, event: int) -> None:
        """A call that ends a segment, of a function that the program does not define (or through a pointer)."""
        state = self._state
        position = state.words[row] + int(state.plan.segments[state.ids[row]]["units"])
        effects = state.effects.after(position)
        function = FUNCTIONS.get(name)
        if function is None and not effects and not state.enters(row):
            state.unknown_call = event
        plain = _NAMES[function.number] if function else name
        arguments = [frame.passed.get(k, -1) for k in range(len(frame.passed))]
        call = LibraryCall(name, size=sum(e.operands[1] for e in effects if e.opcode is Opcode.ALLOC))
        came_back = effects or state.zero(row) is not None
        if -1 not in arguments and came_back:
            call.candidates = self._candidates(plain, arguments, effects)
            call.text = self._text(plain, arguments)
        self._calls[frame] = call
        self._apply(plain, arguments, effects, event)
        if plain in _SORTING and effects and -1 not in arguments:
            start, length = effects[0].operands
            self._sort(row, start, length, arguments[2])

    def _text(self, name: str, arguments: list[Term]) -> Term:
        """The pointer into whose text a call's result points; -1: no such call."""
        if name not in _WITHIN:
            return -1
        goes_on = name.startswith("strtok") and self._state.terms.value(arguments[0]) == 0
        return self._token if goes_on else arguments[0]

    def called_back(self, row: int, last: int, event: int) -> None:
        """A callback of the call that ends segment ``row`` returned at the end of segment ``last``."""
        state = self._state
        position = state.words[last] + int(state.plan.segments[state.ids[last]]["units"])
        array = self._sorted.get(row)
        if array is None:
            self._apply("", [], self._state.effects.after(position), event)
        else:
            state.memory.forget(array.start, array.length)

    def _sort(self, row: int, start: int, length: int, size_term: Term) -> None:
        """A call begins to sort an array: from now on it holds its elements in some order."""
        state, size = self._state, self._state.evaluation.value(size_term)
        if size and length:
            self._sorted[row] = SortedArray(state.memory, state.evaluation, start, length, size)
        state.memory.forget(start, length)
        state.encoding.notes["order taken as recorded: qsort"] += 1

    def _origin(self, address: int, size: int, value: int) -> Term | None:
        """What a load of unknown bytes gives: an element, if they were sorted."""
        for array in reversed(self._sorted.values()):
            if array.overlaps(address, size):
                return array.element(address, size, value)
        return None

    def _forget(self, start: int, length: int) -> None:
        """The library wrote bytes of which nothing is known; what was sorted there is gone."""
        self._state.memory.forget(start, length)
        for row in [row for row, array in self._sorted.items() if array.overlaps(start, length)]:
            del self._sorted[row]

    def result(self, frame: Frame, callee: str, width: int, event: int, value: int | None) -> Term:
        """The result of the call that the frame is in: a summary's, where its value is the recorded one."""
        state = self._state
        call = self._calls.pop(frame, LibraryCall(callee))
        for candidate in call.candidates:
            if state.terms.widths[candidate] != width or state.evaluation.value(candidate) not in (value, None):
                continue
            if value is None or state.evaluation.value(state.explain(event, candidate, value)) == value:
                return candidate
        base = state.evaluation.value(call.text) if call.text >= 0 else None
        if value and base is not None:
            state.encoding.notes[f"place in a text taken as recorded: {callee}"] += 1
            found = state.terms.apply("add", 64, call.text, state.terms.constant(value - base, 64))
            self._token = found if callee.startswith("strtok") else self._token
            return found
        kind = SymbolKind.ADDRESS if callee in _BLOCKS else SymbolKind.LIBRARY
        symbol = state.known_symbol(kind, callee, width, event, value)
        state.extents[symbol] = call.size
        if callee.startswith("__ctype_"):
            self._tables[symbol] = callee
        elif kind is SymbolKind.LIBRARY:
            state.encoding.notes[f"result taken as recorded: {callee}"] += 1
        return symbol

    def _candidates(self, name: str, arguments: list[Term], effects: list[Effect]) -> list[Term]:
        """Terms for the result: of a summary, of a character read, of a pointer that comes back."""
        state = self._state
        function = FUNCTIONS.get(name)
        if function is not None and function.returns >= 0:
            return [arguments[function.returns]]
        if name in {"fgetc", "getchar"}:
            return self._character(effects)
        if name in {"fgets", "gets"}:
            return [arguments[0], state.terms.constant(0, 64)]
        summary = summaries.SUMMARIES.get(name)
        if summary is None:
            return []
        texts = []
        for effect in effects:
            if effect.opcode is Opcode.READ:
                start, length = effect.operands
                text = [state.memory.byte(start + k) for k in range(length)]
                if None in text:
                    return []
                texts.append([byte for byte in text if byte is not None])
        return summary(state.terms, arguments, texts)

    def _character(self, effects: list[Effect]) -> list[Term]:
        terms = self._state.terms
        for effect in effects:
            if effect.opcode is Opcode.IN and effect.a == 0:
                byte = self._input_byte(effect.operands[0])
                if byte is not None and effect.operands[1] == 1:
                    return [terms.resize(byte, 32)]
        return [terms.constant(-1, 32)]

    # ---- Effects on memory -------------------------------------------------------------------------------------------

    def _apply(self, name: str, arguments: list[Term], effects: list[Effect], event: int) -> None:
        """What a call did to memory."""
        for effect in effects:
            if effect.opcode is Opcode.COPY:
                target, source, length = effect.operands
                self.copy(target, source, length, event)
            elif effect.opcode is Opcode.ALLOC:
                self._forget(*effect.operands)
            elif effect.opcode is Opcode.WRITE:
                self._write(name, arguments, effects, *effect.operands)

    def _write(self, name: str, arguments: list[Term], effects: list[Effect], start: int, length: int) -> None:
        """Bytes that a call made: zeros, a repeated character, input, or of unknown origin."""
        state = self._state
        if name == "memset" and arguments[1] >= 0:
            state.memory.fill(start, state.terms.resize(arguments[1], 8), length)
        elif name in _ZEROING or (name in _ENDING and length == 1):
            state.memory.fill(start, state.terms.constant(0, 8), length)
        else:
            self._forget(start, length)
            if name in _READERS:
                self._fill_from_input(effects, start, length)
            elif name in _NUMBERS and length == 8:
                self._write_end(arguments, effects, start)
            elif name:
                state.encoding.notes[f"memory taken as recorded: {name}"] += 1

    def _write_end(self, arguments: list[Term], effects: list[Effect], start: int) -> None:
        """Where a number ended: at the last byte that was looked at."""
        terms = self._state.terms
        read = sum(e.operands[1] for e in effects if e.opcode is Opcode.READ)
        if arguments and read:
            end = terms.apply("add", 64, arguments[0], terms.constant(read - 1, 64))
            self._state.memory.write(start, end)

    def _fill_from_input(self, effects: list[Effect], start: int, length: int) -> None:
        """Standard input read into memory; fgets puts a zero behind it."""
        reads = [e for e in effects if e.opcode is Opcode.IN]
        if len(reads) != 1 or reads[0].a != 0 or sum(e.opcode is Opcode.WRITE for e in effects) != 1:
            return
        offset, count = reads[0].operands
        for k in range(min(count, length)):
            byte = self._input_byte(offset + k)
            if byte is not None:
                self._state.memory.write(start + k, byte)
        if length == count + 1:
            self._state.memory.write(start + count, self._state.terms.constant(0, 8))

    def copy(self, target: int, source: int, length: int, event: int) -> None:
        """As memmove; unknown bytes become symbols first, so that they stay the same on both sides."""
        state = self._state
        if length > MOST_COPIED:
            state.memory.forget(target, length)
            state.encoding.notes["long copy taken as recorded"] += 1
            return
        for offset, run in state.memory.unknown_runs(source, length):
            for k in range(offset, offset + run if run <= MOST_LINKED else offset):
                state.memory.write(source + k, state.encoding.symbol(SymbolKind.INITIAL, "byte", 8, event))
        state.memory.copy(target, source, length)

    # ---- The tables of ctype.h ---------------------------------------------------------------------------------------

    def loaded(self, pointer: Term, symbol: Term) -> None:
        """A symbol was loaded: through what ``__ctype_b_loc`` returned it is a table."""
        if pointer in self._tables:
            self._tables.setdefault(symbol, self._tables[pointer])

    def table(self, pointer: Term, size: int, value: int | None) -> Term | None:
        """What a load from a table of ctype.h gives, as a term of the character; None for other loads."""
        terms = self._state.terms
        if not self._tables or terms.operations[pointer] != "add":
            return None
        for base, offset in (terms.arguments[pointer], terms.arguments[pointer][::-1]):
            entry = summaries.TABLES.get(self._tables.get(base, ""))
            if entry is not None:
                term = entry(terms, terms.extract(offset, 0, 32), size)
                return term if self._state.evaluation.value(term) == value else None
        return None
