"""What a debugger shows of an instant: the variables of a call and the static ones, their values and their parts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from whence.debug.expressions import (
    Found,
    Lvalue,
    NotKnown,
    Number,
    element_lvalue,
    elements,
    evaluate,
    member_lvalue,
    number_of,
    pointed,
)
from whence.program.parts import is_open
from whence.program.paths import POSTFIX, AccessPath, Value
from whence.program.values import format_value
from whence.subject.live_objects import RETURN_VALUE, Frame, Kind, LiveObject
from whence.subject.named_memory import Place
from whence.subject.shown_memory import NOT_KNOWN, Values

if TYPE_CHECKING:
    from whence.subject.recorded_objects import Instant

MOST_SHOWN = 6  # parts of a structure or an array that its value shows
PAGE = 200  # parts that are listed where a client does not say how many it wants
_ENUMERATOR = r'!DIEnumerator\(name: "{}", value: (-?\d+)'
_UNKNOWN = "not known: "


@dataclass(slots=True, frozen=True)
class Row:
    """A row of a debugger's list: a name, a value in words, a type, the expression that gives it in C, and the place
    whose parts can be listed (None: it has none), of which ``indexed`` have a number instead of a name.
    """

    name: str
    value: str
    type: str
    expression: str
    whole: Lvalue | None = None
    indexed: int = 0


class Scope:
    """The names that mean something in one open call at an instant. ``at`` is the event that the call is at."""

    def __init__(self, instant: Instant, frame: Frame, at: int) -> None:
        self.instant, self.frame, self._at = instant, frame, at
        self._run, self._subject = instant.run, instant.run.subject

    # ---- Variables ---------------------------------------------------------------------------------------------------

    @cached_property
    def _locals(self) -> list[LiveObject]:
        found = self._run.locals_of(self.frame, self._at)
        return [made for made in found if made.name and made.name != RETURN_VALUE and made.in_scope]

    def arguments(self) -> list[Lvalue]:
        """The parameters of the call."""
        return [_lvalue(made) for made in self._locals if made.variable and made.variable.parameter]

    def locals(self) -> list[Lvalue]:
        """Its other locals that are in scope, with the static ones of its function; the innermost of a name last."""
        own = [made for made in self._locals if not (made.variable and made.variable.parameter)]
        return [_lvalue(made) for made in [*own, *self._statics_of_function]]

    def statics(self) -> list[Lvalue]:
        """The static variables outside of functions, those of the call's module first."""
        return [_lvalue(made) for made in self._statics_outside]

    @cached_property
    def _statics_outside(self) -> list[LiveObject]:
        rest = [made for made in self._named_statics if not self._owner(made)]
        return sorted(rest, key=lambda made: made.module != self.frame.ref.module)

    @cached_property
    def _statics_of_function(self) -> list[LiveObject]:
        module = self.frame.ref.module
        return [m for m in self._named_statics if m.module == module and self._owner(m) == self.frame.function]

    @property
    def _named_statics(self) -> list[LiveObject]:
        return [made for made in self._run.statics if made.name]

    def _owner(self, made: LiveObject) -> str:
        return self._run.owner(made)

    # ---- Names -------------------------------------------------------------------------------------------------------

    def lookup(self, name: str) -> Found | None:
        """What a name means there; None: nothing."""
        variables = [*reversed(self._locals), *self._statics_of_function, *self._statics_outside]
        made = next((made for made in variables if made.name == name), None)
        if made is not None:
            return _lvalue(made)
        if any(v.name == name for e in self._subject.expressions for v in e.debug.globals.values()):
            raise NotKnown(f"where `{name}` lies is not in the recording")
        return self._enumerator(name) or self._function(name)

    def _enumerator(self, name: str) -> Number | None:
        if not name.isidentifier():
            return None
        wanted = re.compile(_ENUMERATOR.format(name))
        for module in self._subject.program.modules:
            for text in module.metadata.values():
                if match := wanted.match(text):
                    return Number(int(match[1]))
        return None

    def _function(self, name: str) -> Number | None:
        address = next((address for address, known in self._run.functions.items() if known == name), None)
        return Number(address, 8, False, True) if address is not None else None

    def evaluate(self, text: str) -> Found:
        """What an expression means in the call. Raises NotKnown where it means nothing, or is not known."""
        return evaluate(text, self.instant, self.lookup)


def frame_of(instant: Instant, number: int, at: int) -> Frame:
    """The open call of this number, which is at an event."""
    trace = instant.run.trace
    ref = trace.program.functions[int(trace.columns.frames[number]["function"])]
    return Frame(number, ref, 0, 1, at)


def _lvalue(made: LiveObject) -> Lvalue:
    return Lvalue(AccessPath(made.name, made.type, made.variable), made.base, made.size)


class Presenter:
    """Shows places and numbers at an instant."""

    def __init__(self, instant: Instant) -> None:
        self._instant = instant
        self._values = Values(instant.named)

    def shown(self, found: Found, name: str, expression: str) -> Row:
        """A row for what an expression means."""
        if isinstance(found, Number):
            return self._number(found, name, expression)
        kind = found.path.type.spelling if found.path.type is not None else ""
        whole, indexed = self._whole(found)
        return Row(name, self.value(found), kind, expression, whole, indexed)

    def _number(self, found: Number, name: str, expression: str) -> Row:
        if not found.is_pointer:
            kind = found.type.spelling if found.type is not None else ""
            return Row(name, repr(found.value) if not found.bytes else str(found.value), kind, expression)
        kind = found.target.declare("*") if found.target is not None else "void *"
        try:
            whole = pointed(found, f"({expression})", self._instant)
        except NotKnown:
            return Row(name, self._pointer(found), kind, expression)
        return Row(name, self._pointer(found), kind, expression, whole)

    # ---- Values ------------------------------------------------------------------------------------------------------

    def value(self, lvalue: Lvalue) -> str:
        """What lies at a place, or why that is not known."""
        plain = lvalue.plain
        if plain is None:
            return f"{_UNKNOWN}its type"
        if plain.kind in ("struct", "union") or (plain.kind == "array" and not _is_text(lvalue)):
            return self._aggregate(lvalue)
        if plain.kind == "pointer":
            try:
                return self._pointer(number_of(lvalue, self._instant))
            except NotKnown:
                return self._unknown(lvalue)
        shown = self._values.of(self._place(lvalue))
        return shown if shown is not None else self._unknown(lvalue)

    def _unknown(self, lvalue: Lvalue) -> str:
        return _UNKNOWN + self._instant.bytes(lvalue.address, lvalue.size).why

    def _pointer(self, number: Number) -> str:
        """An address, with what lies there where that is known."""
        value = int(number.value)
        if not value:
            return "NULL"
        shown = self._values.pointed(value, number.target)
        return shown if shown == hex(value) else f"{value:#x} {shown}"

    def _place(self, lvalue: Lvalue) -> Place:
        made = self._instant.object_at(lvalue.address) or LiveObject(Kind.BLOCK, lvalue.address, lvalue.size)
        return Place(lvalue.path.text, lvalue.address, lvalue.size, lvalue.path.type, made, path=lvalue.path)

    def _aggregate(self, lvalue: Lvalue) -> str:
        """The first parts of a structure or an array, in braces."""
        parts = list[str]()
        for number, (name, part) in enumerate(self._parts(lvalue, 0, MOST_SHOWN + 1)):
            if number == MOST_SHOWN:
                parts.append("...")
                break
            inner = self._brief(part)
            parts.append(inner if name.startswith("[") else f"{name} = {inner}")
        return f"{{{', '.join(parts)}}}"

    def _brief(self, lvalue: Lvalue) -> str:
        plain = lvalue.plain
        if plain is None:
            return NOT_KNOWN
        if plain.kind in ("struct", "union") or (plain.kind == "array" and not _is_text(lvalue)):
            return "{...}"
        if plain.kind == "pointer":
            data = self._instant.read(lvalue.address, lvalue.size)
            return NOT_KNOWN if data is None else format_value(int.from_bytes(data, "little"), lvalue.path.type)
        return self._values.of(self._place(lvalue)) or NOT_KNOWN

    # ---- Parts -------------------------------------------------------------------------------------------------------

    def _whole(self, lvalue: Lvalue) -> tuple[Lvalue | None, int]:
        """The place whose parts a debugger lists for a place, and how many of them have a number."""
        plain = lvalue.plain
        if plain is None:
            return None, 0
        if plain.kind == "pointer":
            return (lvalue, 0) if self._target(lvalue) is not None else (None, 0)
        if plain.kind == "array":
            return (lvalue, elements(lvalue)) if elements(lvalue) else (None, 0)
        return (lvalue, 0) if plain.kind in ("struct", "union") and plain.members else (None, 0)

    def _target(self, lvalue: Lvalue) -> Lvalue | None:
        """What a pointer at a place points to, where that is known and lives."""
        try:
            target = pointed(number_of(lvalue, self._instant), lvalue.path.text, self._instant)
        except NotKnown:
            return None
        return target if self._instant.object_at(target.address) is not None else None

    def parts(self, whole: Lvalue, start: int = 0, count: int = 0) -> list[Row]:
        """Rows for the parts of a place from number ``start`` on, ``count`` of them (0: a page)."""
        found = self._parts(whole, start, count or PAGE)
        return [self.shown(part, name, part.path.text) for name, part in found]

    def _parts(self, whole: Lvalue, start: int, count: int) -> Iterator[tuple[str, Lvalue]]:
        plain = whole.plain
        kind = plain.kind if plain is not None else ""
        if kind == "pointer":
            target = self._target(whole)
            if target is not None:
                yield from self._pointed(target, whole, start, count)
        elif kind == "array":
            for index in range(start, min(start + count, elements(whole))):
                yield f"[{index}]", element_lvalue(whole, index)
        elif plain is not None:
            for member in plain.members[start : start + count]:
                part = member_lvalue(whole, member)
                if member.name:
                    yield member.name, part
                else:
                    yield from self._parts(part, 0, count)

    def _pointed(self, target: Lvalue, pointer: Lvalue, start: int, count: int) -> Iterator[tuple[str, Lvalue]]:
        """What a pointer points to: a structure's members, the elements of a block, or one value."""
        plain = target.plain
        size = plain.size if plain is not None else 0
        made = self._instant.object_at(target.address)
        is_block = made is not None and made.kind is Kind.BLOCK and not is_open(plain)
        is_array = is_block and size > 0 and not (plain is not None and plain.kind == "struct" and target.room % size)
        several = target.room // size if is_array else 1
        if plain is not None and plain.kind in ("struct", "union") and several < 2:
            yield from self._parts(target, start, count)
        elif several < 2 or _is_text(target):
            yield f"*{pointer.path.text}", target
        else:
            text = Value(pointer.path.text).at(POSTFIX)
            for index in range(start, min(start + count, several)):
                path = AccessPath(f"{text}[{index}]", target.path.type)
                yield f"[{index}]", Lvalue(path, target.address + index * size, size)


def _is_text(lvalue: Lvalue) -> bool:
    """Whether a place holds characters."""
    plain = lvalue.plain
    element = plain.element if plain is not None and plain.kind == "array" else plain
    return element is not None and element.plain.kind == "char" and element.plain.size == 1
