"""What should have been at the symptom: the conditions from which the walk backwards starts.

A failed test (an assertion, a loop without end, missing output) had to go the other way. For a wrong byte that a
printed number made, the expected output tells which number was right, for a wrong status the expectation does.
Elsewhere, with floating point, strings and crashes, all that is known is that the value had to be another one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from whence.dependence.critical_conditions import Influence
from whence.findings import Symptom
from whence.formula.floats import bits_of, number_of
from whence.formula.path import Path
from whence.formula.terms import Term
from whence.probe.layout import Kind
from whence.run.evidence import Evidence
from whence.subject.recorder import Recording
from whence.subject.trace_reader import TraceReader
from whence.trace.blocks import Overrun

DECIMAL = re.compile(rb"\s*([-+]?\d+)")
HEXADECIMAL = re.compile(rb"\s*(?:0[xX])?([0-9a-fA-F]+)")
FIXED = re.compile(rb"\s*([-+]?\d+(?:\.(\d+))?)(?![\deE.])")
READINGS = ((DECIMAL, 10), (HEXADECIMAL, 16))
STATUS_BITS = 8
ALLOCATING = ("@malloc", "@calloc", "@realloc", "@free", "@reallocarray", "@aligned_alloc", "@strdup", "@strndup")


@dataclass(slots=True, frozen=True)
class Goal:
    """What should have been: a term of one bit that was false in the run, at an event; ``text`` says it in words.

    ``is_place``: it is about where the event's value went, not about the value.
    """

    event: int
    term: Term
    text: str
    is_place: bool = False


class Goals:
    """Makes the goals of one recorded failing run."""

    def __init__(self, reader: TraceReader, path: Path, influence: Influence) -> None:
        self._reader, self._path, self._influence = reader, path, influence
        self._terms = path.terms

    def of_symptom(self, symptom: Symptom, recording: Recording) -> list[Goal]:
        """What had to be at the symptom; several where it has several sources; none where nothing there has a value."""
        event = symptom.event
        if event in self._path.branches:
            events = [reference - 1 for reference in symptom.details.get("criteria", []) if reference > 0]
            return [self.otherwise(e) for e in dict.fromkeys([event, *events]) if e in self._path.branches]
        right = self.right(symptom, recording)
        if right is None and self.is_of_heap(symptom) and self._influence.neighbours.overrun:
            return []  # what was overwritten before brought it down
        return self._others(symptom) if right is None else [right]

    def right(self, symptom: Symptom, recording: Recording) -> Goal | None:
        """That the symptom's event had the right value; None where nothing tells it."""
        found = self._right_value(symptom, recording)
        if found is None and "argument" in symptom.details:
            return self._right_double(symptom, recording)
        return None if found is None else self._equal(symptom.event, *found)

    def elsewhere(self, overrun: Overrun) -> list[Goal]:
        """That a write had gone to another address; none where its pointer is not known, as with library calls."""
        event, terms = overrun.event, self._terms
        pointers = next((i.pointers for i in self._path.encoding.instances if i.event == event), ())
        return [
            Goal(event, terms.negate(terms.equal(p, terms.constant(at, 64))), self.beyond(overrun), is_place=True)
            for p, at in pointers[:1]
        ]

    def beyond(self, overrun: Overrun) -> str:
        """What a write beyond a block of the heap should have been."""
        made = self._reader.statement(overrun.block.taken)
        where = f" that line {made.line} made" if made else ""
        return f"this had to be stored elsewhere, it lies behind the block of {overrun.block.length:,} bytes{where}"

    def is_of_heap(self, symptom: Symptom) -> bool:
        """Whether a crash is the C library's own, as it looked after the heap: no argument of that call is at fault."""
        if symptom.kind != "crash" or symptom.event < 0:
            return False
        instruction = self._reader.static(symptom.event).instruction
        return instruction.opcode == "call" and instruction.callee in ALLOCATING and "SIGABRT" in symptom.text

    def otherwise(self, event: int) -> Goal:
        """That a branch had gone another way."""
        way = self._path.way(event)
        taken = self._reader.side_taken(event) or "taken"
        wanted = {"true": "false", "false": "true"}.get(taken)
        text = self._reader.static(event).text
        words = f"`{text}` had to be {wanted}" if wanted else f"`{text}` had to lead elsewhere than to `{taken}`"
        return Goal(event, self._terms.negate(way), words if text else "the test had to go the other way")

    # ---- Right values ------------------------------------------------------------------------------------------------

    def _right_value(self, symptom: Symptom, recording: Recording) -> tuple[int, int, str] | None:
        """The value that the symptom's event should have had, in its lowest bits, how many, and as text."""
        term = self._path.results.get(symptom.event)
        if term is None:
            return None
        if symptom.kind == "wrong-status":
            expected = recording.case.expected
            status = None if expected is None else expected.status
            return None if status is None else (status, STATUS_BITS, f"the status had to be {status}")
        if "argument" in symptom.details and not self._is_double(symptom.event):
            return self._printed(symptom, recording, term)
        return None

    def _printed(self, symptom: Symptom, recording: Recording, term: Term) -> tuple[int, int, str] | None:
        """The right value of a printed integer or character, read from the expected output as the printed one is."""
        value, width = self._path.encoding.evaluation.value(term), self._terms.widths[term]
        texts = self._texts(symptom, recording)
        found = None if texts is None or value is None else _read(*texts, value, width)
        if found is None:
            return None
        return found[0], found[1], f"{self._name(symptom.event)} had to be {found[2]}"

    def _right_double(self, symptom: Symptom, recording: Recording) -> Goal | None:
        """That a printed double was one that prints as expected; None where the output does not tell."""
        term, terms = self._path.results.get(symptom.event), self._terms
        if term is None or not self._is_double(symptom.event):
            return None
        texts, value = self._texts(symptom, recording), self._path.encoding.evaluation.value(term)
        found = None if texts is None or value is None else _interval(*texts, number_of(value, 64))
        if found is None:
            return None
        low, high = (terms.constant(bits_of(bound, 64), 64) for bound in found[:2])
        goal = terms.both([terms.apply("fle", 1, low, term), terms.apply("fle", 1, term, high)])
        return Goal(symptom.event, goal, f"{self._name(symptom.event)} had to be {found[2]}")

    def _is_double(self, event: int) -> bool:
        """Whether an event hands on a double."""
        static = self._reader.static(event)
        operands = static.instruction.operands
        return (
            static.kind is Kind.ARG and static.argument < len(operands) and operands[static.argument].type == "double"
        )

    def _texts(self, symptom: Symptom, recording: Recording) -> tuple[bytes, bytes] | None:
        """What the symptom's argument printed, and what was expected from there on."""
        stream, difference = int(symptom.details["stream"]), recording.outcome.difference
        expected = recording.case.expected
        source = Evidence(self._reader.trace).source_of(stream, int(symptom.details["offset"]))
        if source is None or difference is None or expected is None:
            return None
        right, actual = expected.text(stream) or b"", recording.result.text(stream)
        begin = difference.expected - (difference.actual - source.start)
        return actual[source.start : source.start + source.length], right[max(0, begin) :]

    def _equal(self, event: int, value: int, bits: int, text: str) -> Goal:
        terms = self._terms
        part = terms.extract(self._path.results[event], 0, bits)
        return Goal(event, terms.equal(part, terms.constant(value, bits)), text)

    # ---- Other values ------------------------------------------------------------------------------------------------

    def _others(self, symptom: Symptom) -> list[Goal]:
        """That the values at the symptom had been others."""
        references = symptom.details.get("criteria", [])
        events = [reference - 1 for reference in references if reference > 0]
        for cell in [reference for reference in references if reference < 0]:
            events += self._influence.sources_of(cell)
        with_values = [e for e in events if self._has_value(e)]
        if not with_values or self._reader.broke_off(symptom.event):
            with_values = self._behind(symptom.event, events)
        doubtful = [event for event in with_values if not self._is_valid_pointer(event)]
        return [self._another(event) for event in dict.fromkeys(doubtful or with_values)]

    def _is_valid_pointer(self, event: int) -> bool:
        """Whether an event's value is the address of a block of the heap that is there."""
        value = self._path.encoding.evaluation.value(self._path.results[event])
        pointer = self._reader.static(event).instruction.type == "ptr"
        return pointer and value is not None and self._influence.neighbours.is_valid(value)

    def _behind(self, event: int, events: list[int]) -> list[int]:
        """What the symptom's event itself, and other events, come from: of an access the pointer."""
        accesses = [event, *events] if event >= 0 else events
        found = [e for access in accesses for e in self._influence.sources(access) if self._has_value(e)]
        return found or [e for e in events if self._has_value(e)]

    def _has_value(self, event: int) -> bool:
        term = self._path.results.get(event)
        return term is not None and self._path.encoding.evaluation.value(term) is not None

    def _another(self, event: int) -> Goal:
        term = self._path.results[event]
        if event in self._path.branches:
            return self.otherwise(event)
        value = self._path.encoding.evaluation.value(term)
        assert value is not None
        same = self._terms.equal(term, self._terms.constant(value, self._terms.widths[term]))
        return Goal(event, self._terms.negate(same), f"{self._name(event)} had to be another value")

    def _name(self, event: int) -> str:
        seen = self._reader.named(event)
        if seen is not None and seen.name:
            return f"`{seen.name}`"
        return "the argument" if self._reader.trace.kind(event) is Kind.ARG else "the value"


def _read(printed: bytes, expected: bytes, value: int, width: int) -> tuple[int, int, str] | None:
    """The expected number, how many bits of the value it stands for, and its text, read as the printed one reads."""
    if len(printed) == 1 and printed[0] == value & 0xFF and expected:
        return expected[0], 8, repr(chr(expected[0]))
    for pattern, base in READINGS:
        shown, right = pattern.fullmatch(printed.rstrip()), pattern.match(expected)
        if shown and right and (bits := _fits(int(shown[1], base), value, width)):
            number = int(right[1], base)
            return number & (1 << bits) - 1, bits, right[1].decode()
    return None


def _interval(printed: bytes, expected: bytes, value: float) -> tuple[float, float, str] | None:
    """Between which numbers lies one that prints as expected, in as many digits; and the expected text.

    None where the printed text is not the number in plain digits.
    """
    shown, right = FIXED.fullmatch(printed.rstrip()), FIXED.match(expected)
    if shown is None or right is None:
        return None
    number, digits = right[1].decode(), len(right[2] or b"")
    half = Decimal(1).scaleb(-digits) / 2
    if abs(float(shown[1]) - value) > float(Decimal(1).scaleb(-len(shown[2] or b""))):
        return None
    return float(Decimal(number) - half), float(Decimal(number) + half), number


def _fits(number: int, value: int, width: int) -> int:
    """How many of a value's lowest bits were printed as a number: all, or 32 of 64; 0: it was not printed like that."""
    return next((bits for bits in _widths(width) if (number ^ value) & (1 << bits) - 1 == 0), 0)


def _widths(width: int) -> Iterable[int]:
    return [bits for bits in (width, 32, 16, 8) if bits <= width]
