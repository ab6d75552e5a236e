"""Stack frames laid out as in the plain program, so that what runs over an array's end hits the same things.

Key idea: a variant's code needs registers and places of its own, which the compiler puts between the locals and the
return address. So a function with arrays, or with locals whose addresses go elsewhere, is made of two: its name
becomes a shell that holds nothing but an area with all locals at the places of the plain program, right below frame
pointer and return address, and calls the *inner* function, which does the work and is told the area's address in a
register of its own (``nest``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from whence.build.memory import Frame
from whence.probe.defined import without_promises
from whence.probe.layout import private_locals
from whence.program.model import Function, Instruction, Module
from whence.program.syntax import closing, split

AREA = "%whence.area"
_LIST_BYTES, _LIST_ROOM = 24, 32  # the shell's va_list, at the start of the area of a variadic function
_ALLOCA = re.compile(r"\s*(%(?:\"[^\"]*\"|\S+)) = alloca ")
_DECLARED = re.compile(r"\s*#dbg_declare\(ptr (%(?:\"[^\"]*\"|[^\s,]+)), !(\d+), ")
_VARIABLE = re.compile(r"DILocalVariable\(name: \"([^\"]*)\",.* line: (\d+)")
_VA_START = re.compile(r"\s*call void @llvm\.va_start(?:\.p0)?\(ptr (?:[\w ]+ )?(%(?:\"[^\"]*\"|[^\s)]+))\)")
_LINKAGE_WORDS = (
    "private internal available_externally linkonce linkonce_odr weak weak_odr common external dso_local "
    "dso_preemptable default hidden protected local_unnamed_addr unnamed_addr"
)
_LINKAGE = frozenset(_LINKAGE_WORDS.split())
_POINTED = re.compile(r"\b(?:byval|sret)\((?:\"[^\"]*\"|[^\"()]|\([^()]*\))*\) ?|\breturned ")
_GROUP = re.compile(r"#\d+")
_APART = 1_000_000  # added to the number of a group of attributes: that of another one
_NO_POINTER = ('"frame-pointer"="all"', '"frame-pointer"="none"')
# What looks at the frame itself, or jumps into the function, is the shell's and the inner function's in part.
_OWN_FRAME = (
    *("@llvm.frameaddress", "@llvm.returnaddress", "@llvm.addressofreturnaddress", "@llvm.sponentry"),
    *("@llvm.eh.sjlj", "@llvm.localescape"),
)


@dataclass(slots=True)
class Area:
    """The shell's area for one function: ``size`` bytes, and the locals ("%x") at their distances from its start."""

    size: int
    alignment: int
    guard: bool
    has_pointer: bool  # the frame pointer's
    places: dict[str, int]
    attributes: str  # the function's group of attributes, as it stands in the module
    table: dict[str, int] = field(default_factory=dict)  # locals whose distances stand in the table of places: where

    def pointer(self, local: str) -> Iterator[str]:
        """Lines that make a local's address."""
        place = str(self.places[local])
        if local in self.table:
            place = f"%whence.place{self.table[local]}"
            yield f"  {place}.at = getelementptr i64, ptr @__whence_places, i64 {self.table[local]}"
            yield f"  {place} = load i64, ptr {place}.at, align 8"
        yield f"  {local} = getelementptr i8, ptr {AREA}, i64 {place}"


def static_locals(function: Function) -> list[Instruction]:
    """The allocas that are part of the frame, in order."""
    return [i for i in function.blocks[0].instructions if i.opcode == "alloca" and not i.operands]


class Framing:
    """Gives the functions of one module the frames that they have in the plain program."""

    def __init__(
        self, module: Module, frames: Mapping[str, Frame], movable: Callable[[Function, Area], Area] | None = None
    ) -> None:
        lines = (c for c in module.chunks if isinstance(c, str) and c.startswith("attributes #"))
        self._groups = {line.split(" ", 2)[1]: line for line in lines}
        self._frames = frames
        self._movable = movable
        self._metadata = module.metadata

    def lines(self, function: Function, lines: Iterable[str], registers: Container[str]) -> Iterable[str]:
        """The text of a function in a variant, given the ``lines`` that it has without a frame.

        Locals in ``registers`` stay the function's own.
        """
        area = self.area(function)
        if area and self._movable:
            area = self._movable(function, area)
        return framed(function, lines, area, registers) if area else lines

    def area(self, function: Function) -> Area | None:
        """The area of a function that has locals in memory; None where it has none, or cannot be made of two."""
        slots, private = static_locals(function), private_locals(function)
        frame = self._frames.get(function.name)
        attributes = next((self._groups[group] for group in _GROUP.findall(function.header)), "")
        if frame is None or all(slot.result in private for slot in slots) or not _can_be_split(function, attributes):
            return None
        found = {str(s.result): frame.objects[n] for n, s in enumerate(slots) if n in frame.objects}
        found |= self._variables(function, frame)
        return _area(function, frame, found, attributes) if found else None

    def _variables(self, function: Function, frame: Frame) -> dict[str, int]:
        """The places of locals that the frame knows as variables of the source."""
        if not frame.variables:
            return {}
        declared = (_DECLARED.match(line) for block in function.blocks for line in block.lines if "#dbg_d" in line)
        names = {found[1]: self._variable(int(found[2])) for found in declared if found}
        return {name: frame.variables[variable] for name, variable in names.items() if variable in frame.variables}

    def _variable(self, node: int) -> str:
        found = _VARIABLE.search(self._metadata.get(node, ""))
        return f"{found[1]}:{found[2]}" if found else ""


def _area(function: Function, frame: Frame, found: dict[str, int], attributes: str) -> Area:
    """The area for locals at these distances below the canonical frame address."""
    lowest = -(-max(found.values()) // frame.alignment) * frame.alignment
    # Beside a variadic function's registers an area is the first object only where there is no frame pointer.
    has_pointer = frame.has_pointer and not function.variadic
    top, below = frame.top - 8 * (frame.has_pointer and not has_pointer), _LIST_ROOM * function.variadic
    places = {name: below + lowest - place for name, place in found.items()}
    return Area(below + lowest - top, frame.alignment, frame.guard, has_pointer, places, attributes)


def _can_be_split(function: Function, attributes: str) -> bool:
    """Whether each part can have what the whole has."""
    if " noinline " not in attributes or " naked " in attributes or "available_externally" in function.header:
        return False
    return not any(_needs_own_frame(i) for b in function.blocks for i in b.instructions)


def _needs_own_frame(instruction: Instruction) -> bool:
    if instruction.opcode == "call":
        return (instruction.callee or "").startswith(_OWN_FRAME) or "musttail call " in instruction.text
    return instruction.opcode in {"indirectbr", "callbr"}


def framed(function: Function, lines: Iterable[str], area: Area, registers: Container[str]) -> Iterator[str]:
    """The text of a function made of two; ``lines`` is that of its variant.

    Locals in ``registers`` stay the inner function's own.
    """
    shell = _Shell(function, area)
    numbers = iter(range(1 << 30))
    for number, line in enumerate(lines):
        if number == 0:
            yield shell.inner_header()
        elif (found := _ALLOCA.match(line)) and found[1] in area.places and found[1] not in registers:
            yield from area.pointer(found[1])
        elif function.variadic and (found := _VA_START.match(line)):
            yield from _list_copied(found[1], next(numbers))
        else:
            yield line
    yield from shell.lines()


def _list_copied(target: str, number: int) -> Iterator[str]:
    """Lines in place of va_start: the shell has called it."""
    for word in range(0, _LIST_BYTES, 8):
        name = f"%whence.v{number}.{word}"
        yield f"{name}.from = getelementptr i8, ptr {AREA}, i64 {word}"
        yield f"{name} = load volatile i64, ptr {name}.from, align 8"
        yield f"{name}.to = getelementptr i8, ptr {target}, i64 {word}"
        yield f"store volatile i64 {name}, ptr {name}.to, align 8"


class _Shell:
    """The text of a function's shell, and the header of the inner function."""

    def __init__(self, function: Function, area: Area) -> None:
        header = function.header
        self._function, self._area = function, area
        self._name = f"@{function.name}"
        start = header.index(f"{self._name}(")
        opening = start + len(self._name)
        end = closing(header, opening)
        self._before, self._rest = header[:start], header[end:]
        self._arguments = header[opening:end]
        inside = self._arguments[1:-1]
        self._group = _GROUP.findall(self._rest)[0]
        self._own_group = f"#{int(self._group[1:]) + _APART}"
        self._formals = [p for p in split(inside) if p != "..."] if inside else []
        self._inner = f'@"{function.name.strip(chr(34))}.whence"'

    def _type(self) -> str:
        """Calling convention, attributes and type of the result: what stands before the name, without linkage."""
        words = self._before.split(" ")[1:]
        while words and words[0] in _LINKAGE:
            words.pop(0)
        return " ".join(words).strip()

    def _passed(self) -> str:
        """The inner function's parameters, which are also what the shell passes."""
        return ", ".join([*(_POINTED.sub("", formal) for formal in self._formals), f"ptr nest {AREA}"])

    def inner_header(self) -> str:
        """The line that begins the inner function."""
        return f"define internal {self._type()} {self._inner}({self._passed()}) {self._group} {{"

    def lines(self) -> Iterator[str]:
        """The shell."""
        area, result = self._area, self._function.return_type
        yield self._header()
        # An array of bytes has the guard of a stack protector, one of words has none.
        kind = f"[{area.size} x i8]" if area.guard else f"[{area.size // 8} x i64]"
        yield f"  {AREA} = alloca {kind}, align {area.alignment}"
        if self._function.variadic:
            yield f"  call void @llvm.va_start.p0(ptr {AREA})"
        call = f"notail call {self._type()} {self._inner}({self._passed()})"
        if result == "void":
            yield f"  {call}"
            yield "  ret void"
        else:
            yield f"  %whence.result = {call}"
            yield f"  ret {result} %whence.result"
        yield "}"
        if not area.has_pointer:
            yield without_promises(area.attributes.replace(self._group, self._own_group, 1)).replace(*_NO_POINTER)

    def _header(self) -> str:
        rest = self._rest if self._area.has_pointer else self._rest.replace(self._group, self._own_group, 1)
        return f"{self._before}{self._name}{self._arguments}{rest}"
