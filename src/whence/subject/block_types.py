"""The types that blocks were made as: what the pointers point to that their allocations were assigned to."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from whence.probe.layout import Kind as Site

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from whence.program.debug import CType
    from whence.subject.subject import Subject
    from whence.trace.trace import Trace

CALLERS = 4  # functions that only pass on a block that they took, at most


class BlockTypes:
    """The types of blocks in one recorded run; each is looked for once."""

    def __init__(self, subject: Subject, trace: Trace) -> None:
        self._subject, self._trace = subject, trace
        self._types_made: dict[int, CType | None] = {}
        self._types_assigned: dict[tuple[int, str], CType | None] = {}

    def made_as(self, event: int, size: int) -> CType | None:
        """What the pointer points to that the call which made a block was assigned to; None: that is not known, or the
        block has not so many bytes.

        What a function only passes on to its caller was made for the caller's pointer.
        """
        if event not in self._types_made:
            self._types_made[event] = self._made_as(event)
        found = self._types_made[event]
        return found if found is not None and found.size <= size else None

    def _made_as(self, call: int) -> CType | None:
        columns, block = self._trace.columns, 0
        segment = int(columns.events[call]["segment"])
        result = call if self._trace.kind(call) is Site.RESULT else self._result(segment)
        for _ in range(CALLERS):
            value = self._trace.value(result) if result >= 0 else None
            if not value or (block and value != block):
                return None
            block = value
            frame = columns.frames[int(columns.segments[segment]["frame"])]
            key = int(frame["function"]), self._trace.instruction(result).result or ""
            if key not in self._types_assigned:
                self._types_assigned[key] = self._assigned(*key)
            pointee = self._types_assigned[key]
            if pointee is not None:
                return pointee
            if frame["call"] < 0:
                return None
            segment = int(frame["call"])
            result = self._result(segment)
        return None

    @cached_property
    def _following(self) -> NDArray[np.int32]:
        """For each segment instance the one of the same block that went on behind its call; -1: none."""
        previous = self._trace.columns.segments["previous"][: self._trace.segments]
        found = np.full(self._trace.segments, -1, np.int32)
        behind = np.flatnonzero(previous >= 0)
        found[previous[behind]] = behind
        return found

    def _result(self, segment: int) -> int:
        """The event of the result of the call that ends a segment; -1: it did not come back, or gives nothing."""
        following = int(self._following[segment])
        if following < 0:
            return -1
        event = int(self._trace.columns.segments[following]["event"])
        return event if event < self._trace.events and self._trace.kind(event) is Site.RESULT else -1

    def _assigned(self, function: int, register: str) -> CType | None:
        """What the pointers point to that a function's register is stored to; None: nothing that has a size."""
        ref = self._subject.program.functions[function]
        expressions = self._subject.expressions[ref.module]
        for instruction in ref.function.instructions():
            if instruction.opcode == "store" and instruction.operands[0].text == register:
                path = expressions.accessed(ref.function, instruction)
                plain = path.type.plain if path is not None and path.type is not None else None
                pointee = self.completed(plain.target) if plain is not None and plain.kind == "pointer" else None
                if pointee is not None and not is_vague(pointee):
                    return pointee
        return None

    def completed(self, ctype: CType | None) -> CType | None:
        """A type with its members, where another module than the one that mentions it tells them."""
        plain = ctype.plain if ctype is not None else None
        if plain is None or plain.kind not in ("struct", "union") or plain.size or not plain.name:
            return ctype
        known = (e.debug.tagged(f"%{plain.kind}.{plain.name}") for e in self._subject.expressions)
        return next((found for found in known if found is not None and found.plain.size), ctype)


def is_vague(ctype: CType | None) -> bool:
    """Whether a pointer to this type tells little of what it points to: void, characters, unknown types."""
    return ctype is None or ctype.plain.kind in ("char", "void") or ctype.size <= 0
