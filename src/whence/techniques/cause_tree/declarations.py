"""Values that no executed statement made: what a variable held from the start, and what its type cut off.

A table with a wrong entry and a variable of a type that is too small are root causes without an event of their own. A
read of what nothing wrote leads to the declaration of the global or static variable, and there to the line of the
entry; a store that lost bits of its value leads to where the variable or member was declared.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cached_property
from operator import add, mul, sub
from pathlib import Path as FilePath

from whence.dependence.places import AccessedPlaces
from whence.findings import Statement
from whence.formula.encoding import SymbolKind
from whence.formula.path import Path
from whence.formula.terms import Term
from whence.probe.layout import Kind
from whence.program.debug import CType, Member, Variable
from whence.subject.trace_reader import TraceReader

ARITHMETIC: dict[str, Callable[[int, int], int]] = {"add": add, "sub": sub, "mul": mul}
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|.', re.DOTALL)


class Declarations:
    """Finds declarations behind the events of one path."""

    def __init__(self, reader: TraceReader, path: Path) -> None:
        self._reader, self._path = reader, path
        self._members = reader.subject.derived(AccessedPlaces)
        self._elements: dict[tuple[str, int], list[int]] = {}

    def behind(self, event: int, unwritten: bool) -> tuple[Statement, str] | None:
        """The declaration that an event's value comes from, and what it did; None where it is no declaration's doing.

        ``unwritten``: the event read what nothing had written.
        """
        if unwritten:
            return self._initial(event)
        return self._narrowed(event) if self._reader.trace.kind(event) is Kind.STORE else None

    # ---- Initial values ----------------------------------------------------------------------------------------------

    def _initial(self, event: int) -> tuple[Statement, str] | None:
        address, seen = self._reader.trace.address(event), self._reader.observation(event)
        place = bisect_right(self._globals, (address, "~")) - 1 if address else -1
        if place < 0 or seen is None:
            return None
        start, name = self._globals[place]
        variable = self._reader.static(event).explainer.debug.global_variable(name)
        if variable is None or variable.type is None or address is None or address >= start + variable.type.size:
            return None
        index, count = _part(variable.type, address - start)
        lines = self._lines_of(variable.file, variable.line)
        line = lines[index] if index < len(lines) <= count else variable.line
        return self._at(variable.file, line), f"`{seen.name}` was {seen.value} from the start"

    @cached_property
    def _globals(self) -> list[tuple[int, str]]:
        """The addresses of global variables that the path has, ascending, with their names."""
        encoding = self._path.encoding
        named = [(encoding.evaluation.value(symbol), encoding.symbols[symbol].name) for symbol in self._addresses()]
        return sorted((address, name) for address, name in named if address is not None)

    def _addresses(self) -> Iterator[int]:
        encoding = self._path.encoding
        return (s for s in encoding.of_kind(SymbolKind.ADDRESS) if encoding.symbols[s].event < 0)

    def _lines_of(self, file: str, line: int) -> list[int]:
        """The lines of the elements of the initialiser that belongs to a declaration."""
        if (file, line) not in self._elements:
            try:
                text = FilePath(file).read_text("latin-1")
            except OSError:  # a source that is gone: the declaration's line has to do
                text = ""
            self._elements[file, line] = element_lines(text, line)
        return self._elements[file, line]

    def _at(self, file: str, line: int) -> Statement:
        return Statement(self._reader.subject.places.name(file), line)

    # ---- Types that are too small ------------------------------------------------------------------------------------

    def _narrowed(self, event: int) -> tuple[Statement, str] | None:
        lost = self._lost(event)
        declared = self._declared(event) if lost is not None else None
        seen = self._reader.observation(event)
        if declared is None or seen is None or not declared.line:
            return None
        return self._at(declared.file, declared.line), f"`{seen.name}` cannot hold {lost:,}: it became {seen.value}"

    def _lost(self, event: int) -> int | None:
        """The value of which a store kept the lowest bits only, where that changed it."""
        symbol = self._path.results.get(event, -1)
        meaning = self._path.meanings.get(symbol, -1)
        value = self._whole(meaning) if meaning >= 0 else None
        width = self._path.terms.widths[symbol]
        return None if value is None or -(1 << width - 1) <= value < 1 << width else value

    def _whole(self, term: Term) -> int | None:
        """The number that a term was before it was cut, signed; None where it was not cut, or by other operations."""
        terms = self._path.terms
        operation, arguments = terms.operations[term], terms.arguments[term]
        if operation == "extract" and arguments[1] == 0:
            term = arguments[0]
        elif operation in ARITHMETIC:
            left, right = (self._whole(operand) for operand in terms.operands(term))
            return None if left is None or right is None else ARITHMETIC[operation](left, right)
        elif operation != "const":
            return None
        value, width = self._path.encoding.evaluation.value(term), terms.widths[term]
        return None if value is None else value - (value >> width - 1 << width)

    def _declared(self, event: int) -> Variable | Member | None:
        """The variable, or member of a structure, that a store went to."""
        static = self._reader.static(event)
        if static.path is not None and static.path.variable is not None:
            return static.path.variable
        places = self._members.written(self._reader.trace.site(event))
        member = next((p for p in places if isinstance(p, tuple) and p[0] == "member"), None)
        owner = static.explainer.debug.tagged(member[1]) if member else None
        name = static.path.text.rpartition(".")[2].rpartition("->")[2] if static.path is not None else ""
        return next((m for m in owner.plain.members if m.name == name), None) if owner else None


def _part(ctype: CType, offset: int) -> tuple[int, int]:
    """Which part of an array or structure lies at an offset in bytes, and how many there are; of others 0 of 1."""
    plain = ctype.plain
    if plain.kind == "array" and plain.element is not None and plain.element.size:
        return offset // plain.element.size, ctype.size // plain.element.size
    if plain.kind == "struct":
        starts = [member.offset // 8 for member in plain.members]
        return bisect_right(starts, offset) - 1, len(starts)
    return 0, 1


def element_lines(text: str, line: int) -> list[int]:
    """The line of each element of the initialiser of a variable that is declared on a line.

    Empty where they cannot be counted: where there are no braces, or designators.
    """
    starts, depth, current, begun, expects = list[int](), 0, line, False, False
    begin = sum(len(row) + 1 for row in text.split("\n")[: line - 1])
    for match in TOKEN.finditer(text, begin):
        token = match[0]
        if depth == 0 and token == ";":
            break
        begun = begun or (depth == 0 and token == "=")
        if depth == 1 and expects and not token.isspace() and not token.startswith(("//", "/*")) and token != "}":
            if token in "[.":
                return []
            starts.append(current)
            expects = False
        if token in "({":
            depth += 1
        elif token in ")}":
            depth -= 1
        expects = expects or (begun and depth == 1 and token in "{,")
        current += token.count("\n")
    return starts
