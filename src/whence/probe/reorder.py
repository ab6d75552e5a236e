"""Variables that can be laid out anew (definition 8): locals by a table that a run fills, static ones by the linker.

In the reorder variant a function takes the places of its locals from a table, and each static variable lies in a
section of its own: linkers put such sections one behind the other in the order in which they meet them, so a file of
empty sections that comes first decides it. Only what is adjacent changes; the program means the same in each order.

What matters are buffers, which may be left, and address variables, by which a crash comes of it (section 5.3.1).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from whence.build.memory import Memory
from whence.probe.behind import BEHIND
from whence.probe.frame import Area, Framing, static_locals
from whence.probe.layout import Leaves
from whence.program.model import Function, Instruction, Module
from whence.program.program import Program
from whence.program.types import alloc_size_of, holds_array

_ALIGNED = re.compile(r", align (\d+)")
_STATIC = re.compile(r'@("[^"]*"|[-\w$.]+) = ((?:[a-z_]+ )*?)global ')
_ZERO = re.compile(r" (?:zeroinitializer|null|undef|0|0\.0+e\+00)(?:,|$)")
_NAMED = re.compile(r'@("[^"]*"|[-\w$.]+)')
_FIXED = ("thread_local", ", section ", "external ", "extern_weak", "appending", "@llvm.")
_LIST_ROOM = 32


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable that can be moved: ``number`` is its place in the table, or that of its section.

    ``place`` is its distance from the start of the area (locals).
    """

    name: str
    number: int
    size: int
    alignment: int
    is_buffer: bool
    is_address: bool
    place: int = 0
    is_zero: bool = False  # a static variable that is all zero at first: it lies behind those that are not


@dataclass(frozen=True, slots=True)
class MovableFrame:
    """The locals of one function: they fill its area from ``bottom`` to ``size``, where the return address follows."""

    locals: tuple[Variable, ...]
    bottom: int
    size: int


class Movable:
    """The variables of a program that can be moved: ``frames`` by number of function, ``statics`` by their own.

    ``named`` holds for each function the numbers of the statics that it names.
    """

    def __init__(self, program: Program, memory: Sequence[Memory]) -> None:
        self.frames: dict[int, MovableFrame] = {}
        self.statics: list[Variable] = []
        self.named: list[frozenset[int]] = []
        self._program, self._sections = program, [dict[str, int]() for _ in program.modules]
        self._numbers = count()
        addresses = [_address_variables(ref.function) for ref in program.functions]
        for index, module in enumerate(program.modules):
            used = set[str]().union(*(addresses[ref.id] for ref in program.functions if ref.module == index))
            self._add_statics(index, module, used)
        framings = [Framing(m, memory[n].frames if memory else {}) for n, m in enumerate(program.modules)]
        for ref in program.functions:
            area = framings[ref.module].area(ref.function)
            if area is not None:
                self.frames[ref.id] = self._frame(ref.function, program.modules[ref.module], area, addresses[ref.id])
            names = _names(ref.function)
            self.named.append(frozenset(n for name, n in self._sections[ref.module].items() if name in names))

    @property
    def places(self) -> list[int]:
        """The table of places, as in the plain program."""
        return [local.place for frame in self.frames.values() for local in frame.locals]

    @property
    def order(self) -> list[int]:
        """The static variables in the order of the plain program, in which zeros have a section of their own."""
        return [v.number for v in sorted(self.statics, key=lambda v: v.is_zero)]

    def area(self, number: int, area: Area) -> Area:
        """The area of a function with places in the table."""
        frame = self.frames[number]
        table = {local.name: local.number for local in frame.locals}
        places = {local.name: local.place for local in frame.locals}
        return replace(area, size=frame.size, places=places, table=table, has_pointer=False)

    def line(self, module: int, text: str) -> str:
        """A line outside of functions: a variable that can be moved gets its section."""
        found = _STATIC.match(text)
        number = self._sections[module].get(found[1]) if found else None
        if number is None or BEHIND in text:
            return text
        before, align, after = text.rpartition(", align ")
        return f'{before.replace(" = common ", " = ", 1)}, section "{section(number)}"{align}{after}'

    def definitions(self, is_last: bool) -> str:
        """The table, in the module that is the last one; its declaration in others."""
        values = ", ".join(f"i64 {place}" for place in self.places)
        if is_last:
            return f"@__whence_places = hidden global [{len(self.places)} x i64] [{values}] {BEHIND}"
        return "@__whence_places = external hidden global [0 x i64]"

    def _add_statics(self, index: int, module: Module, used: set[str]) -> None:
        for chunk in (chunk for chunk in module.chunks if isinstance(chunk, str)):
            found = _STATIC.match(chunk)
            if found is None or any(word in chunk for word in _FIXED) or ", align " not in chunk:
                continue
            kind = _type_at(chunk, found.end())
            size = alloc_size_of(kind, module)
            alignment = int(_ALIGNED.findall(chunk)[-1])
            is_buffer = holds_array(kind, module)
            is_address = not is_buffer and (found[1] in used or kind == "ptr")
            self._sections[index][found[1]] = len(self.statics)
            is_zero = _ZERO.match(chunk, found.end() + len(kind)) is not None
            variable = Variable(found[1], len(self.statics), size, alignment, is_buffer, is_address, is_zero=is_zero)
            self.statics.append(variable)

    def _frame(self, function: Function, module: Module, area: Area, used: set[str]) -> MovableFrame:
        """The function's locals, with as much room as any order may take."""
        found = [(i, _alignment(i)) for i in static_locals(function) if i.result in area.places]
        sizes = [alloc_size_of(i.element_type, module) for i, _ in found]
        bottom = _LIST_ROOM * function.variadic
        wanted = bottom + sum(size + alignment for size, (_, alignment) in zip(sizes, found, strict=True))
        more = -(-max(0, wanted - area.size) // area.alignment) * area.alignment
        variables = []
        for (local, alignment), size in zip(found, sizes, strict=True):
            is_buffer = holds_array(local.element_type, module)
            is_address = not is_buffer and (local.result in used or local.element_type == "ptr")
            place = area.places[str(local.result)] + more
            number = next(self._numbers)
            variables.append(Variable(str(local.result), number, size, alignment, is_buffer, is_address, place))
        # Without a frame pointer the return address follows at once where the area ends 8 bytes below a multiple of 16.
        return MovableFrame(tuple(variables), bottom, area.size + more + 8 * area.has_pointer)


def section(number: int) -> str:
    """The section of a static variable."""
    return f".whence.v{number}"


def order_text(numbers: Iterable[int], triple: str) -> str:
    """A module of empty sections in the order in which the variables are to lie."""
    lines = (
        f'@__whence_o{n} = hidden global [0 x i8] zeroinitializer, section "{section(n)}", align 1' for n in numbers
    )
    return "\n".join([f'target triple = "{triple}"', *lines, ""])


def _alignment(local: Instruction) -> int:
    found = _ALIGNED.search(local.text)
    return int(found[1]) if found else 16


def _type_at(text: str, start: int) -> str:
    """The type that begins at a place of a line."""
    depth = 0
    for end in range(start, len(text)):
        depth += (text[end] in "[{(<") - (text[end] in "]})>")
        if depth == 0 and text[end] == " " and text[start] not in "[{<":
            return text[start:end]
        if depth == 0 and text[start] in "[{<" and text[end] in "]}>":
            return text[start : end + 1]
    return text[start:]


def _names(function: Function) -> set[str]:
    """The names of all that a function's instructions mention."""
    return {name for i in function.instructions() for name in _NAMED.findall(i.text)}


def _address_variables(function: Function) -> set[str]:
    """Variables (registers of allocas, names of statics) whose value an address or an index is computed from."""
    leaves, found = Leaves(function), set[str]()
    made = {i.result: i for i in function.instructions() if i.result}
    for pointer in _pointers(function):
        for leaf in leaves.of(pointer):
            if leaf.instruction is not None and leaf.instruction.opcode == "load":
                found |= _root(leaf.instruction.operands[0].text, made)
    return found


def _pointers(function: Function) -> Iterator[str]:
    """The registers by which a function accesses memory."""
    for i in function.instructions():
        if i.opcode in {"load", "store"} and i.operands[-1].is_register:
            yield i.operands[-1].text


def _root(text: str, made: dict[str, Instruction]) -> set[str]:
    """The variable that a pointer leads into by its own expression."""
    while text in made and made[text].opcode == "getelementptr":
        text = made[text].operands[0].text
    if text in made:
        return {text} if made[text].opcode == "alloca" else set()
    return set(_NAMED.findall(text)[:1])
