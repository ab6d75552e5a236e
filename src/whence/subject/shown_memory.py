"""What the memory of a run holds at a point, as C shows it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from whence.program.parts import count_of, scalars
from whence.program.paths import AccessPath
from whence.program.values import format_float, format_string
from whence.subject.named_memory import NamedMemory, Place, is_same

if TYPE_CHECKING:
    from whence.program.debug import CType

LONGEST_TEXT = 64  # bytes of a text that are looked at
NOT_KNOWN = "?"
MOST_SHOWN = 8  # parts of a structure or an array that a value shows


class Values:
    """Shows what lies in the named ``memory``."""

    def __init__(self, memory: NamedMemory) -> None:
        self._memory = memory

    def at(self, address: int, length: int = 0) -> str | None:
        """What is held by the smallest place with these bytes; None: it is not known."""
        place = self._memory.path(address, length)
        return self.of(place) if place is not None else None

    def of(self, place: Place) -> str | None:
        """What a place holds: a number, a text, ``{.x = 1, .next = NULL}``, what a pointer points to.

        None where that is not known.
        """
        if place.path is None or place.type is None or place.is_padding:
            return None
        plain = place.type.plain
        if plain.kind in ("array", "struct", "union"):
            return self._aggregate(place, plain)
        data = self._memory.read(place.address, place.size)
        if data is None:
            return None
        if plain.kind == "pointer":
            return self.pointed(int.from_bytes(data, "little"), plain.target)
        if plain.kind == "complex":
            half = len(data) // 2
            real, imaginary = (format_float(int.from_bytes(d, "little"), half) for d in (data[:half], data[half:]))
            return f"{real} + {imaginary}i"
        return place.path.show(int.from_bytes(data, "little"))

    def _aggregate(self, place: Place, plain: CType) -> str | None:
        """A text, or the first parts of something larger."""
        element = plain.element
        if plain.kind == "array" and element is not None and element.plain.kind == "char" and element.size == 1:
            data = self._memory.read(place.address, place.size)
            return format_string(data.partition(b"\0")[0]) if data is not None else None
        shown: list[str] = []
        more = ""
        for part in scalars(AccessPath("", place.type), place.size, texts=True):
            if len(shown) == MOST_SHOWN:
                more = ", ..."
                break
            inner = Place(part.path.text, place.address + part.offset, part.size, part.path.type, place.object)
            value = self.of(replace(inner, path=part.path)) or NOT_KNOWN
            shown.append(f"{inner.text} = {value}" if inner.text.startswith(".") else value)
        return f"{{{', '.join(shown)}{more}}}" if shown else None

    def pointed(self, value: int, target: CType | None = None) -> str:
        """What a pointer to a ``target`` (None: void) with this value points to: ``&table[3]``, ``NULL``, a text, a
        function, words for a block.
        """
        if value == 0:
            return "NULL"
        plain = target.plain if target is not None else None
        if plain is not None and plain.kind == "function":
            return self._memory.run.functions.get(value, hex(value))
        if plain is not None and plain.kind == "char" and (text := self._text(value)):
            return text
        place = self._memory.path(value, max(0, plain.size) if plain is not None else 0)
        is_other = place is None or (place.type is not None and plain is not None and not is_same(place.type, plain))
        if is_other and (end := self._end_of(value, plain)) is not None:
            return end
        if place is None:
            return self._memory.run.gone(value, self._memory.event) or hex(value)
        made = place.object
        offset = value - made.base
        if place.path is not None and not place.is_padding and (made.name or offset):
            return f"&{place.text}"
        return f"{f'byte {offset} of ' if offset else ''}{self._memory.described(made)}"

    def _text(self, address: int) -> str:
        """The text at an address, as a string constant; empty: there is none."""
        made = self._memory.object_at(address)
        length = min(LONGEST_TEXT, made.end - address) if made is not None else 0
        data = self._memory.read(address, length) if length else None
        if data is None or (b"\0" not in data and length < LONGEST_TEXT):
            return ""
        text = data.partition(b"\0")[0]
        return format_string(text) if all(byte >= 32 or byte in b"\t\n\r" for byte in text) else ""

    def _end_of(self, address: int, target: CType | None) -> str | None:
        """Words for the first address behind an object whose parts have the type that is pointed to; None."""
        place = self._memory.path(address - 1)
        if place is None or place.object.end != address:
            return None
        if target is not None and target.size > 1 and (place.type is None or not is_same(place.type, target)):
            inner = self._memory.path(address - target.size, target.size)
            if inner is None or inner.type is None or not is_same(inner.type, target):
                return None
        made = place.object
        whole = self._memory.path(made.base, made.size) if made.name else None
        if whole is None or whole.type is None:
            return f"the end of {self._memory.described(made)}"
        plain = whole.type.plain
        return f"&{whole.text}[{count_of(plain, made.size)}]" if plain.kind == "array" else f"&{whole.text} + 1"
