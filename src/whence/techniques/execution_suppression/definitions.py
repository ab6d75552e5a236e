"""What defined the value, or the address, that a failure came of (figure 5.3, lines 4 to 8).

From the failing instance the value is followed back through copies, memory, arguments and results to the definition
that made it: a store of what was computed, a store through a pointer or an index, a call of the library that wrote it.
Where nothing wrote the location, the definition of its address is taken, and where there is none either, the access
that read what was never given.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from whence.alter.suppression import Point, Points
from whence.probe.layout import ACCESSES, is_frame_local
from whence.probe.layout import Kind as Site
from whence.run.aborted import HEAP, is_of_heap
from whence.run.evidence import Evidence
from whence.run.point import is_odd
from whence.trace.blocks import Blocks
from whence.trace.columns import N_CELL, CellKind
from whence.trace.dependence import Edge
from whence.trace.slicing import dependences

if TYPE_CHECKING:
    from whence.findings import Symptom
    from whence.program.model import Instruction, Operand
    from whence.trace.trace import Trace

CASTS = frozenset({"bitcast", "trunc", "zext", "sext", "ptrtoint", "inttoptr", "freeze", "addrspacecast"})
COPIED = frozenset({"load", "phi", "call"})
WROTE = (int(CellKind.COPY), int(CellKind.SET), int(CellKind.CALL), int(CellKind.UNKNOWN))
STATUS = "wrong-status"  # the kind of its symptom
RETURNED = "%retval"  # the register in which clang keeps what a function with several returns will return
WITHOUT_EFFECT = frozenset({Site.BRANCH, Site.RET})  # they use a value, but suppression cannot start there
DEEPEST = 200  # copies that a value is followed through


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition to suppress: at ``event`` the instance has its effect, ``shown`` is the event that a person reads.

    They differ where an argument or result is computed in the very call: its effect is the store behind it. ``read`` is
    the event that read the value first on the way back (-1: none did); ``address``: nothing had written what was read,
    and this defined where it was read.
    """

    event: int
    shown: int
    read: int = -1
    address: bool = False


class Definitions:
    """Original definitions in one recorded run."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.evidence = Evidence(trace)
        self._points = Points(trace)
        self._made: dict[int, dict[str, Instruction]] = {}
        self._seen: set[tuple[int, int]] = set()

    def of_failure(self, symptom: Symptom) -> list[Definition]:
        """The definitions that a failure came of and that can be suppressed, each once; none where the trace does not
        tell.
        """
        event = symptom.event
        if event < 0:
            return []
        found = list(self._all(self._at_fault(event, symptom), event))
        if symptom.kind == STATUS:
            found = [one for definition in found for one in self._of_status(definition)]
        first: dict[int, Definition] = {}
        for definition in found:
            if self._points.is_one(definition.event):
                first.setdefault(definition.event, definition)
        return list(first.values())

    def point(self, definition: Definition) -> Point:
        """Where the next run begins to suppress."""
        ranges = self.written(definition.event) if self.trace.kind(definition.event) is Site.CALL else []
        return self._points.at(definition.event, ranges)

    def locations(self, definition: Definition) -> list[tuple[int, int]]:
        """The bytes that a definition wrote, if some were read those: address and length. Those of a read where nothing
        had written them.
        """
        event = definition.event
        is_access = self.trace.kind(event) in ACCESSES
        written = self.trace.ranges(event)[:1] if is_access else self.written(event)
        read = self.trace.ranges(definition.read)[:1] if definition.read >= 0 else []
        both = ((max(a, b), min(a + n, b + m)) for a, n in written for b, m in read)
        return [(start, end - start) for start, end in both if end > start] or written

    def written(self, call: int) -> list[tuple[int, int]]:
        """The bytes that a call of the library wrote: address and length."""
        rows = self._cells[self._cells["parent"] == call]
        rows = rows[[int(kind) in WROTE for kind in rows["kind"]]] if len(rows) else rows
        return [(int(row["address"]), int(row["length"])) for row in rows if row["address"] and row["length"] > 0]

    @cached_property
    def _cells(self) -> Any:
        return self.trace.columns.cells[: self.trace.columns.counts[N_CELL]]

    # ---- The failing instance --------------------------------------------------------------------------------------

    def _at_fault(self, event: int, symptom: Symptom) -> list[int]:
        """References to what the failing instance used: its address, its condition, what it was given."""
        kind = self.trace.kind(event)
        criteria = [int(c) for c in symptom.details.get("criteria", [])]
        if symptom.kind == STATUS:
            return criteria
        if kind is Site.RET:
            return self._of_one_statement(self.trace.return_writers) or [c for c in criteria if c != event + 1]
        if kind is Site.CALL:
            return self._of_call(event, criteria, is_of_heap(symptom.text))
        if kind in ACCESSES and event + 1 in criteria:
            return self._edges(event + 1, Edge.ADDRESS) or [event + 1]
        if kind is Site.BRANCH:
            return [used for c in criteria for used in self._edges(c, Edge.VALUE)]
        return criteria

    def _of_status(self, definition: Definition) -> list[Definition]:
        """What the expression behind the exit status was made of; of a constant, the test that chose it."""
        made = definition.shown
        if self.trace.kind(made) is Site.STORE and self.trace.instruction(made).operands[1].text != RETURNED:
            return [definition]
        found = list(self._all(self._edges(made + 1, Edge.VALUE), made))
        for branch in self._chosen_by(made) if not found else []:
            found += self._all(self._edges(branch, Edge.VALUE), branch - 1)
        return found or [definition]

    def _chosen_by(self, event: int) -> list[int]:
        """References to the branch that chose a constant: between the sides of `?:`, else whether to come here."""
        values = self._edges(event + 1, Edge.VALUE)
        sides = [b for value in values if value > 0 and self._is_phi(value - 1) for b in self._controls(value)[:1]]
        return sides or self._controls(event + 1)

    def _is_phi(self, event: int) -> bool:
        return self.trace.kind(event) is Site.PHI

    def _controls(self, reference: int) -> list[int]:
        found = dependences(self.trace.plan, self.trace.columns, reference, True)
        return [target for target, kind in found if kind is Edge.CONTROL]

    def _of_call(self, call: int, criteria: list[int], of_heap: bool) -> list[int]:
        """What a call that did not come back was given: a pointer to no function, corrupted blocks (``of_heap``: the
        library said so), bad arguments.
        """
        target = self.trace.target(call)
        if target is not None and (not target or is_odd(target) or target == self.trace.fault_address):
            return self._edges(call + 1, Edge.ADDRESS)
        name = self.evidence.callee_name(call)
        if (name in HEAP or of_heap) and (beyond := self._beyond_block()):
            return beyond
        arguments = [a for a in self.evidence.arguments(call) if self._is_pointer(a)]
        bad = [a for a in arguments if not (value := self.trace.value(a)) or is_odd(value)]
        chosen = bad or [c - 1 for c in criteria if c - 1 in set(self.evidence.arguments(call))]
        return [made for argument in chosen for made in self._made_of(argument)]

    def _made_of(self, argument: int) -> list[int]:
        """An argument; of a place that was computed for it (a member, an element) the pointer and the index."""
        operand = self._operand(argument)
        is_computed = operand is not None and not self._is_copy(argument, operand)
        return (self._edges(argument + 1, Edge.VALUE) if is_computed else []) or [argument + 1]

    def _beyond_block(self) -> list[int]:
        """References to the first write beyond a block of the heap, and to those that go on from it."""
        blocks = Blocks(self.trace)
        overrun = blocks.first_overrun
        if overrun is None:
            return []
        found, end, site = [overrun.event + 1], overrun.write.end, self.trace.site(overrun.event)
        for event, start, stop in blocks.stores_from(overrun.event + 1):
            if start == end and self.trace.site(event) == site:
                found.append(event + 1)
                end = stop
        return found

    def _is_pointer(self, argument: int) -> bool:
        number = int(self.trace.plan.sites[self.trace.site(argument)]["aux"])
        operand = self.trace.instruction(argument).operands[number]
        return operand.type == "ptr" and operand.is_register

    # ---- Following values back -------------------------------------------------------------------------------------

    def _edges(self, reference: int, *kinds: Edge) -> list[int]:
        """What an event or cell depends on by edges of these kinds."""
        found = dependences(self.trace.plan, self.trace.columns, reference, False)
        return [target for target, kind in found if kind in kinds]

    def _all(
        self, references: Iterable[int], consumer: int, read: int = -1, address: bool = False, depth: int = 0
    ) -> Iterator[Definition]:
        for reference in references:
            if (reference, consumer) not in self._seen and depth < DEEPEST:
                self._seen.add((reference, consumer))
                follow = self._of_event if reference > 0 else self._of_cell
                yield from follow(reference, consumer, read, address, depth + 1)

    def _of_cell(self, reference: int, consumer: int, read: int, address: bool, depth: int) -> Iterator[Definition]:
        """What passing or assigning a structure copied; the call that wrote; fresh bytes have no definition."""
        row = self.trace.columns.cells[-reference - 1]
        kind, parent = CellKind(int(row["kind"])), int(row["parent"])
        if kind in {CellKind.BYVAL, CellKind.VARIADIC} or (kind is CellKind.COPY and self._is_named(parent)):
            before = list(self._all(self._edges(reference, Edge.MEMORY), consumer, read, address, depth))
            yield from before or [Definition(parent, parent, read, address)]
        elif kind is not CellKind.ALLOC:
            yield Definition(parent, parent, read, address)

    def _of_event(self, reference: int, consumer: int, read: int, address: bool, depth: int) -> Iterator[Definition]:
        event = reference - 1
        kind = self.trace.kind(event)
        if kind is Site.LOAD:
            yield from self._of_load(event, read, address, depth)
        elif kind in {Site.PHI, Site.BRANCH}:
            yield from self._all(self._edges(reference, Edge.VALUE), consumer, read, address, depth)
        elif kind in {Site.STORE, Site.ARG, Site.RET}:
            yield from self._of_passing(event, event if kind is Site.STORE else consumer, read, address, depth)
        elif kind is Site.RESULT:
            yield from self._of_result(event, consumer, read, address, depth)
        else:
            yield Definition(event, event, read, address)

    def _of_load(self, load: int, read: int, address: bool, depth: int) -> Iterator[Definition]:
        """What wrote the location last; where nothing did, what defined its address, else the load itself.

        Of a copy of what nothing wrote, the copy is the definition.
        """
        is_first, read = read < 0, load if read < 0 else read
        found = list(self._all(self._last_writers(load), load, read, address, depth))
        if found or not (is_first or address):
            yield from found
            return
        found = list(self._all(self._edges(load + 1, Edge.ADDRESS), load, load, True, depth))
        yield from found or [Definition(load, load, read, address)]

    def _last_writers(self, load: int) -> list[int]:
        """What wrote the location last, and what the same statement wrote there: bytes are often written one by one."""
        return self._of_one_statement(self._edges(load + 1, Edge.MEMORY))

    def _of_one_statement(self, writers: list[int]) -> list[int]:
        """Of references to what wrote some bytes, the last one, and the others of its instruction."""
        writers = sorted(writers, key=self.evidence.time)
        last = [self.trace.site(self.evidence.time(w)) for w in writers]
        return [w for w, site in zip(writers, last, strict=True) if site == last[-1]]

    def _of_passing(self, event: int, consumer: int, read: int, address: bool, depth: int) -> Iterator[Definition]:
        """A store, argument or returned value: what it copied, or itself where it was computed there.

        Of what was only passed on from where nothing had written it, the store behind is the definition. What was
        computed for a branch or a return alone is made of its operands.
        """
        found: list[Definition] = []
        operand = self._operand(event)
        is_copy = operand is not None and self._is_copy(event, operand)
        if self.trace.kind(event) is Site.STORE:
            is_copy = is_copy and self._is_named(event)
        if is_copy:
            found = list(self._all(self._edges(event + 1, Edge.VALUE), consumer, read, address, depth))
        if not found and (not is_copy or self.trace.kind(event) is Site.STORE):
            if self.trace.kind(consumer) in WITHOUT_EFFECT:
                found = list(self._all(self._edges(event + 1, Edge.VALUE), consumer, read, address, depth))
            else:
                found = [Definition(consumer, event, read, address)]
        yield from found

    def _is_named(self, event: int) -> bool:
        """Whether a store or copy names the variable that it goes to.

        What goes through a pointer or an index may be the corruption itself, and is no mere copy.
        """
        instruction = self.trace.instruction(event)
        if self.trace.kind(event) is Site.CALL or not instruction.operands:
            return False
        target = instruction.operands[1 if instruction.opcode == "store" else 0].text
        made = self._made_in(event).get(target)
        return target.startswith("@") or (made is not None and is_frame_local(made))

    def _made_in(self, event: int) -> dict[str, Instruction]:
        """The instructions of an event's function, by what they make."""
        ref = self.evidence.function_of(event)
        if ref.id not in self._made:
            self._made[ref.id] = {i.result: i for i in ref.function.instructions() if i.result}
        return self._made[ref.id]

    def _operand(self, event: int) -> Operand | None:
        """What a store stores, a call is given, a function returns."""
        operands = self.trace.instruction(event).operands
        number = int(self.trace.plan.sites[self.trace.site(event)]["aux"]) if self.trace.kind(event) is Site.ARG else 0
        return operands[number] if number < len(operands) else None

    def _is_copy(self, event: int, operand: Operand) -> bool:
        """Whether a value was only passed on: loaded, given, returned, in another type at most."""
        made = self._made_in(event)
        while operand.is_register and operand.text in made:
            instruction = made[operand.text]
            if instruction.opcode not in CASTS:
                return instruction.opcode in COPIED
            operand = instruction.operands[0]
        return operand.is_register

    def _of_result(self, event: int, consumer: int, read: int, address: bool, depth: int) -> Iterator[Definition]:
        """What a function returned; a result of the library is defined where it is stored."""
        source = [c for c in self._edges(event + 1, Edge.VALUE) if c > 0 and self.trace.kind(c - 1) is Site.RET]
        if source:
            yield from self._all(source, consumer, read, address, depth)
            return
        segment = int(self.trace.columns.events[event]["segment"])
        call = self.evidence.last_event(int(self.trace.columns.segments[segment]["previous"]))
        at = consumer if self.trace.kind(consumer) is Site.STORE else call
        yield Definition(at, call, read, address)
