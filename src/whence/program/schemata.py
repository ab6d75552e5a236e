"""Mutant schemata: one source text that holds many edits, one of which is chosen by a number when the program starts.

Source: Untch, Offutt, Harrold: Mutation analysis using mutant schemata, 1993. What an edit replaces is chosen where the
choice changes no type: whole statements, conditions of which only the truth counts, values that initialise a variable.
Edit 0 is none of them. All texts of a line stay on it, so lines are those of the source.

What initialises a static table cannot be chosen. Behind its declaration stand the other tables, and which of them the
bytes are replaced by before ``main`` begins.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from whence.program.c_source import CSource, Place
from whence.program.source_edits import Kind, Part, SourceEdit

NUMBER = b"__whence_edit"  # the variable that says which edit is chosen (probe/edits/choose.c)
FIRST_LINE = b"\n#line 1\n"  # behind what is declared
_DECLARED = b"extern int " + NUMBER + b";" + FIRST_LINE
_ON_ONE_LINE = re.compile(rb"//|#|\\\n")  # comments and directives end with their line
_LITERAL_OR_COMMENT = re.compile(rb'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TABLES = (Place.TABLE, Place.LOCAL_TABLE)
_OTHER = b"__whence_other"  # what a table has instead; the entries of the section are read by probe/edits/choose.c
_ENTRY = (
    b" static %s; static struct { int edit; void *to; const void *from; __SIZE_TYPE__ size; } __whence_entry_%d"
    b' __attribute__((used, retain, section("whence_tables"))) = { %d, (void *)&%s, &%s, sizeof %s };'
)


@dataclass(frozen=True, slots=True)
class Schemata:
    """A text with the edits ``numbers`` in it, and which of its bytes are whose: ascending ``starts``, ``owners``.

    The owner of what is no edit's is 0.
    """

    text: bytes
    starts: list[int]
    owners: list[int]

    def owner(self, line: int, column: int) -> int:
        """The number of the edit whose text stands at a place of the text, lines counted as the compiler does."""
        position = self.text.index(FIRST_LINE) + len(FIRST_LINE) - 1
        for _ in range(line - 1):
            position = self.text.find(b"\n", position + 1)
        found = bisect_right(self.starts, position + column) - 1
        return self.owners[found] if found >= 0 else 0


Piece = tuple[bytes, int]  # a text and the number of the edit that it is of


def can_be_chosen(source: CSource, edit: SourceEdit) -> bool:
    """Whether an edit can be one of many in a text: none of its own ends with its line."""
    if not edit.is_choice:
        return False
    return not any(_ON_ONE_LINE.search(part.text) for part in edit.parts if part.place not in _TABLES)


def schemata(source: CSource, edits: Sequence[tuple[int, SourceEdit]]) -> Schemata:
    """The source with all these edits, each of which ``can_be_chosen``, by their numbers (ascending, from 1)."""
    ranges: dict[tuple[int, int], list[tuple[int, Part]]] = defaultdict(list)
    for number, edit in edits:
        for part in edit.parts:
            ranges[_range(source, part)].append((number, part))
    pieces = [(_DECLARED, 0), *_written(source, ranges, 0, len(source.text))]
    starts = [0, *accumulate(len(text) for text, _ in pieces)]
    return Schemata(b"".join(text for text, _ in pieces), starts[:-1], [owner for _, owner in pieces])


def _range(source: CSource, part: Part) -> tuple[int, int]:
    """Where a part's choice is written: that of a table behind its declaration."""
    if part.place not in _TABLES:
        return part.start, part.end
    declaration = source.declaration_at(part.start)
    assert declaration is not None
    return declaration.end_byte, declaration.end_byte


def _written(
    source: CSource, ranges: dict[tuple[int, int], list[tuple[int, Part]]], start: int, end: int
) -> Iterable[Piece]:
    """The text from ``start`` to ``end`` with the choices in it; ranges lie within each other or apart."""
    position = start
    inside = sorted((r for r in ranges if start <= r[0] and r[1] <= end), key=lambda r: (r[0], -r[1]))
    for first, last in inside:
        if first < position:
            continue  # it lies within one that has been written
        yield source.text[position:first], 0
        rest = {r: parts for r, parts in ranges.items() if first <= r[0] and r[1] <= last and r != (first, last)}
        yield from _chosen(source, ranges[first, last], rest, first, last)
        position = last
    yield source.text[position:end], 0


def _chosen(
    source: CSource,
    parts: list[tuple[int, Part]],
    rest: dict[tuple[int, int], list[tuple[int, Part]]],
    start: int,
    end: int,
) -> Iterable[Piece]:
    """A range with all that can become of it; ``rest`` are the ranges within it."""
    replaced = [(n, part) for n, part in parts if part.kind is Kind.REPLACE]
    original = list(_written(source, rest, start, end))
    place = parts[0][1].place
    if place in _TABLES:
        for number, part in parts:
            yield _other_table(number, part), number
        return
    if replaced:
        original = list(_WAYS[replaced[0][1].place](replaced, original))
    if place is not Place.STATEMENT or len(replaced) == len(parts):
        yield from original
        return
    yield b"{ ", 0
    for number, part in parts:
        if part.kind is Kind.BEFORE:
            yield from ((_if(number), number), (b" { " + _flat(part.text) + b" } ", number))
    yield from _kept(parts)
    yield from [(b"{ ", 0), *original, (b" } ", 0)]
    for number, part in parts:
        if part.kind is Kind.BEHIND:
            yield from ((_if(number), number), (b" { " + _flat(part.text) + b" } ", number))
    yield b"}", 0


def _kept(parts: list[tuple[int, Part]]) -> Iterable[Piece]:
    """The test of whether a statement is done: no edit leaves it out."""
    limiting = [(n, part) for n, part in parts if part.kind in (Kind.GUARD, Kind.DELETE)]
    if not limiting:
        return
    first, last = limiting[0][0], limiting[-1][0]
    yield b"if (%s < %d || %s > %d || (1" % (NUMBER, first, NUMBER, last), 0
    for number, part in limiting:
        held = b"0" if part.kind is Kind.DELETE else _flat(part.text)
        yield b" && (%s != %d || (" % (NUMBER, number), 0
        yield held, number
        yield b"))", 0
    yield b")) ", 0


def _statements(parts: list[tuple[int, Part]], original: list[Piece]) -> Iterable[Piece]:
    yield b"{ " + _any(parts) + b"{ ", 0
    for number, part in parts:
        yield _if(number) + b" { ", number
        yield _flat(part.text), number
        yield b" } else ", number
    yield b"; } else { ", 0
    yield from original
    yield b" } }", 0


def _truths(parts: list[tuple[int, Part]], original: list[Piece]) -> Iterable[Piece]:
    yield b"(" + _number_in(parts) + b" ? (", 0
    for number, part in parts:
        yield b"%s == %d ? !!(" % (NUMBER, number), number
        yield _flat(part.text), number
        yield b") : ", number
    yield b"0) : !!(", 0
    yield from original
    yield b"))", 0


def _values(parts: list[tuple[int, Part]], original: list[Piece]) -> Iterable[Piece]:
    yield b"(", 0
    for number, part in parts:
        yield b"%s == %d ? (" % (NUMBER, number), number
        yield _flat(part.text), number
        yield b") : ", number
    yield b"(", 0
    yield from original
    yield b"))", 0


def _effects(parts: list[tuple[int, Part]], original: list[Piece]) -> Iterable[Piece]:
    yield b"(", 0
    for number, part in parts:
        yield b"%s == %d ? (void)(" % (NUMBER, number), number
        yield _flat(part.text), number
        yield b") : ", number
    yield b"(void)(", 0
    yield from original
    yield b"))", 0


def _initialisers(parts: list[tuple[int, Part]], original: list[Piece]) -> Iterable[Piece]:
    """A value of the variable's type, made by an assignment, which converts as the initialisation does."""
    name = parts[0][1].name.encode("latin-1")
    yield b"({ __typeof__(((void)0, " + name + b")) __whence_value; ", 0
    for number, part in parts:
        yield _if(number) + b" __whence_value = (", number
        yield _flat(part.text), number
        yield b"); else ", number
    yield b"__whence_value = (", 0
    yield from original
    yield b"); __whence_value; })", 0


def _other_table(number: int, part: Part) -> bytes:
    """A table with other entries, put in place of the bytes of a static one, or behind what sets up a local one."""
    name, other = part.name.encode("latin-1"), b"%s_%d" % (_OTHER, number)
    declared = b"__typeof__(%s) %s = %s" % (name, other, _flat(_LITERAL_OR_COMMENT.sub(_without_comment, part.text)))
    if part.place is Place.TABLE:
        return _ENTRY % (declared, number, number, name, other, name)
    return b" %s { %s; __builtin_memcpy((void *)&%s, &%s, sizeof %s); }" % (_if(number), declared, name, other, name)


def _without_comment(found: re.Match[bytes]) -> bytes:
    return b" " if found[0].startswith(b"/") else found[0]


_WAYS = {
    Place.STATEMENT: _statements,
    Place.CONDITION: _truths,
    Place.CHOICE: _values,
    Place.STEP: _effects,
    Place.INITIALISER: _initialisers,
}


def _if(number: int) -> bytes:
    return b"if (%s == %d)" % (NUMBER, number)


def _any(parts: list[tuple[int, Part]]) -> bytes:
    return b"if (" + _number_in(parts) + b") "


def _number_in(parts: list[tuple[int, Part]]) -> bytes:
    """Whether one of the parts' edits is chosen, quickly where none of a range is."""
    numbers = [number for number, _ in parts]
    low, high = numbers[0], numbers[-1]
    if len(numbers) == high - low + 1:
        return b"(%s >= %d && %s <= %d)" % (NUMBER, low, NUMBER, high)
    tests = b" || ".join(b"%s == %d" % (NUMBER, number) for number in numbers)
    return b"(%s >= %d && %s <= %d && (%s))" % (NUMBER, low, NUMBER, high, tests)


def _flat(text: bytes) -> bytes:
    """The text on one line."""
    return text.replace(b"\r", b" ").replace(b"\n", b" ")
