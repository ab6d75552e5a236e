"""The chain in the user's words: its steps in order of time, each with the value that it had and that of the
reference run, and what it led to.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from whence.dependence.slices import place_of
from whence.findings import Statement
from whence.probe.layout import Kind
from whence.program.values import format_string
from whence.subject.trace_reader import MEMORY, TraceReader, callee_of
from whence.techniques.chains.causality import Causality, Set
from whence.techniques.chains.named import Named
from whence.techniques.chains.pointers import WORD
from whence.techniques.chains.state import Faulty, Variable
from whence.trace.slicing import dependences
from whence.trace.writers import NOTHING

if TYPE_CHECKING:
    from whence.program.debug import CType


@dataclass(slots=True)
class Step:
    """One step: the event of the failing run that gave a variable its faulty value, and the steps it led to.

    ``event`` is NOTHING where the failing run never gave it one: then ``statement`` is where the reference run did.
    ``time``: the event, or the point at which it was first needed of what was not replaced or never given.
    """

    event: int
    statement: Statement | None
    text: str
    reference: str
    leads_to: list[int]
    time: int
    call: str = ""

    def json(self) -> dict[str, Any]:
        """The step as results hold it."""
        place = (self.statement.file, self.statement.line) if self.statement else (None, None)
        return {
            "file": place[0],
            "line": place[1],
            "text": self.text,
            "reference": self.reference,
            "event": self.event,
            "leads_to": self.leads_to,
            "call": self.call,
        }


class Explanation:
    """Tells the sets of a walk, the last of which comes first in ``sets``.

    ``names``: so many times all memory of the failing run may be read for the name of what a step is about.
    """

    def __init__(self, reader: TraceReader, other: TraceReader, causality: Causality, names: int) -> None:
        self._reader, self._other, self._causality = reader, other, causality
        self._pairing = causality.states.pairing
        self._names = names
        self._memories: dict[int, Named] = {}

    def steps(self, sets: list[tuple[int, Set]]) -> list[Step]:
        """The steps, in order of time; ``leads_to`` counts from 0."""
        run = self._causality.states.failing
        keys: dict[Variable, tuple[int, int]] = {}  # steps by their variables: what cannot be told apart is one step
        found: dict[tuple[int, int], Faulty] = {}
        needed: dict[tuple[int, int], int] = {}  # where each was first needed
        for point, variables in sets:
            faulty = self._causality.states.difference(point)
            for variable in sorted(variables):
                event = run.definition(variable.event)
                keys[variable] = key = (event, 0 if event != NOTHING else variable.address)
                needed[key] = point
                if variable in faulty:
                    found.setdefault(key, faulty[variable])
        times = {key: needed[key] if self._is_left_out(key[0], found[key]) else key[0] for key in found}
        order = {key: number for number, key in enumerate(sorted(found, key=lambda key: (times[key], key)))}
        for key in order:
            if self._is_told_by_memory(key[0], found[key]):
                self._named(self._seen_at(key[0], found[key], times[key]))  # all are read at once
        steps = [self._step(key[0], found[key], times[key]) for key in order]
        for (_, later), (_, earlier) in pairwise(sets):
            self._join(order, steps, keys, earlier, later)
        return steps

    def _join(
        self,
        order: dict[tuple[int, int], int],
        steps: list[Step],
        keys: dict[Variable, tuple[int, int]],
        earlier: Set,
        later: Set,
    ) -> None:
        """Note that what two successive sets do not share, the one has led to in the other."""
        effects = {order[keys[v]] for v in later - earlier if keys[v] in order}
        causes = {order[keys[v]] for v in (earlier - later or earlier) if keys[v] in order}
        for cause in causes:
            steps[cause].leads_to = sorted({*steps[cause].leads_to, *effects} - {cause})

    def _step(self, event: int, faulty: Faulty, time: int) -> Step:
        if event == NOTHING:
            return self._omitted(faulty, time)
        reader = self._reader
        text, reference = reader.action(event), self._in_reference(event, faulty)
        if self._is_told_by_memory(event, faulty):
            is_pointer = self._target(event) is not None and faulty.variable.length == WORD
            told, other = self._pointed(event, faulty) if is_pointer else self._written(event, faulty, time)
            if told or not is_pointer:
                text, reference = told, other
        text = text or f"executed `{reader.static(event).text}`"
        text += self._not_replaced(event, faulty) if self._is_kept(event, faulty) else ""
        text += self._never_given(event)
        if faulty.is_foreign:
            reference = "a pointer to memory that this run does not have"
        return Step(event, self._place(event), text, reference, [], time, self._call(event))

    def _never_given(self, event: int) -> str:
        """What a step's value was made from that had never been given one; empty: nothing such is known."""
        origin = self._causality.states.failing.checked.origin(event)
        if origin < 0:
            return ""
        place = self._reader.statement(origin)
        where = f" on {place.file}:{place.line}" if place is not None and place != self._reader.statement(event) else ""
        return f", made from {self._reader.called(origin)}{where}, which was never given a value"

    def _is_left_out(self, event: int, faulty: Faulty) -> bool:
        """Whether it is what the failing run did not do that made a value faulty: from then on, not from its event."""
        return event == NOTHING or self._is_kept(event, faulty)

    def _not_replaced(self, event: int, faulty: Faulty) -> str:
        """That a value was kept, and where the reference run replaced it, as far as that has a line."""
        at = place_of(self._other, faulty.definition)
        if at is None or not at.line:
            return ", which it kept"
        what = "it was replaced here, later" if at == self._place(event) else f"line {at.line} replaced it"
        return f", which it kept: in the reference run {what}"

    def _is_kept(self, event: int, faulty: Faulty) -> bool:
        """Whether the reference run did the same at this event, and gave the variable another value later.

        What is written by the C library, or as a whole, has no value of its own that could have been another one.
        """
        other = int(self._pairing.events[event])
        if other < 0 or faulty.definition <= other:
            return False
        if self._is_in_bulk(event, faulty):
            return True
        value = self._reader.trace.value(event)
        return value is not None and value == self._other.trace.value(other)

    def _is_in_bulk(self, event: int, faulty: Faulty) -> bool:
        """Whether an event wrote a variable as a part of more than one value."""
        reader = self._reader
        is_value = reader.observation(event) is not None and reader.trace.kind(event) is not Kind.CALL
        return bool(faulty.variable.length) and not is_value

    def _seen_at(self, event: int, faulty: Faulty, time: int) -> int:
        """The event at which memory is looked at for the name of a variable.

        Of a block that has just been made no variable tells, so what was written to it in bulk and kept has the name
        by which it was needed.
        """
        return time if event == NOTHING or self._is_in_bulk(event, faulty) else event

    def _is_told_by_memory(self, event: int, faulty: Faulty) -> bool:
        """Whether memory is looked at for the name or the value of what a step is about."""
        if event == NOTHING or not faulty.variable.length:
            return event == NOTHING
        return self._is_in_bulk(event, faulty) or self._target(event) is not None

    def _target(self, event: int) -> CType | None:
        """What the pointer that an event stores points to; None: it stores no pointer."""
        path = self._reader.static(event).path
        plain = path.type.plain if path is not None and path.type is not None else None
        return plain.target if plain is not None and plain.kind == "pointer" else None

    def _pointed(self, event: int, faulty: Faulty) -> tuple[str, str]:
        """What a stored pointer points to, and what the reference's does; empty where words do not tell them apart."""
        seen, memory, target = self._reader.observation(event), self._named(event), self._target(event)
        if seen is None or memory is None:
            return "", ""
        value, reference = memory.pointed(faulty.value, target), memory.pointed(faulty.reference, target)
        return (f"gave `{seen.name}` the value {value}", reference) if value != reference else ("", "")

    def _written(self, event: int, faulty: Faulty, time: int) -> tuple[str, str]:
        """What the C library or the copy of a structure wrote to, and what is there in the reference run.

        Empty: it has no name.
        """
        memory = self._named(self._seen_at(event, faulty, time))
        part = differing(faulty) if self._is_kept(event, faulty) else faulty.variable
        place = memory.place(part) if memory is not None else None
        if memory is None or place is None:
            return self._characters(event, faulty, memory) if memory is not None else ("", "")
        value = memory.value(place)
        if self._reader.trace.kind(event) is Kind.CALL:
            called = callee_of(self._reader.static(event))
            text = f"`{called}` wrote `{place.text}`" + (f", which became {value}" if value else "")
        else:
            text = f"gave `{place.text}` " + (f"the value {value}" if value else "another value")
        return text, memory.value_with(place, faulty.variable.address, faulty.reference)

    def _characters(self, event: int, faulty: Faulty, memory: Named) -> tuple[str, str]:
        """The text that was written to elements of a block, and the reference run's; empty: it is none."""
        elements, data = memory.elements(faulty.variable), (faulty.value, faulty.reference)
        if not elements or not all(byte in b"\t\n\0" or 32 <= byte < 127 for part in data for byte in part):
            return "", ""
        value, reference = (format_string(part.rstrip(b"\0")) for part in data)
        if self._reader.trace.kind(event) is Kind.CALL:
            return f"`{callee_of(self._reader.static(event))}` wrote {value} to `{elements}`", reference
        return f"gave `{elements}` the text {value}", reference

    def _omitted(self, faulty: Faulty, time: int) -> Step:
        """What the failing run never gave a value, as it should have."""
        definition = faulty.definition
        memory = self._named(time)
        place = memory.place(faulty.variable) if memory is not None else None
        seen = self._other.named(definition) if place is None and definition >= 0 else None
        name = f"`{place.text}`" if place is not None else f"`{seen.name}`" if seen else "memory"
        text = f"{name} was never given a value before"
        if definition < 0:
            return Step(NOTHING, None, text, "", [], time)
        at = place_of(self._other, definition)
        statement = at if at is not None and at.line else None
        return Step(NOTHING, statement, text, self._other.action(definition), [], time)

    def _named(self, event: int) -> Named | None:
        """The failing run's memory after an event, told in C; None where enough was looked at."""
        if event not in self._memories and len(self._memories) < self._names:
            self._memories[event] = Named(self._causality.states.failing, event)
        return self._memories.get(event)

    def _place(self, event: int) -> Statement | None:
        """The statement; of a parameter the call that gave it."""
        found = self._reader.statement(event)
        if found is not None and found.line:
            return found
        trace = self._reader.trace
        if found is not None:  # the compiler gives a condition of several lines none: then what it tests has one
            sources = (place_of(self._reader, to - 1) for to, _ in dependences(trace.plan, trace.columns, event + 1))
            return next((place for place in sources if place is not None and place.line), None)
        frame = trace.columns.frames[trace.columns.segments["frame"][trace.columns.events["segment"][event]]]
        call = int(frame["call"])
        if call < 0:
            return place_of(self._reader, event)
        starts = trace.plan.segments["site_start"]
        row = trace.columns.segments[call]
        found = self._reader.statement(int(row["event"] + starts[row["id"] + 1] - starts[row["id"]] - 1))
        return found if found is not None and found.line else None

    def _in_reference(self, event: int, faulty: Faulty) -> str:
        """The value of the reference run, in C; empty where it cannot be told."""
        other = int(self._pairing.events[event])
        if other >= 0 and other == faulty.definition:
            seen = self._other.observation(other)
            return seen.value if seen is not None and seen.value is not None else ""
        static, raw = self._reader.static(event), int.from_bytes(faulty.reference, "little")
        if static.kind is Kind.BRANCH:
            return {0: "false", 1: "true"}.get(raw, str(raw))
        if static.kind in MEMORY and static.path is not None and len(faulty.reference) <= 8:
            return static.path.show(raw)
        return ""

    def _call(self, event: int) -> str:
        """The function that only the failing run called, of those that the event lies in the outermost; else empty."""
        trace, found = self._reader.trace, ""
        for frame in self._causality.states.failing.open_frames(event):
            if self._pairing.frames[frame] < 0:
                function = int(trace.columns.frames["function"][frame])
                found = self._reader.subject.program.functions[function].name
        return found


def differing(faulty: Faulty) -> Variable:
    """The part of a variable from the first to the last byte that the reference run has another value of; else all."""
    event, address, _ = faulty.variable
    others = [
        place for place, pair in enumerate(zip(faulty.value, faulty.reference, strict=False)) if pair[0] != pair[1]
    ]
    return Variable(event, address + others[0], others[-1] - others[0] + 1) if others else faulty.variable
