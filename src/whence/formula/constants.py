"""LLVM constants as terms, and what the program's globals hold before anything is stored."""

from __future__ import annotations

import re
from bisect import bisect_right, insort
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from whence.formula.floats import FLOATS, bits_of
from whence.formula.instructions import meaning_of
from whence.formula.terms import Term, Terms
from whence.formula.vectors import replaced, width_of
from whence.program.instructions import InstructionReader
from whence.program.locations import unescape
from whence.program.model import Module, Operand
from whence.program.program import Program
from whence.program.syntax import parse_operand, split, struct_members, type_end
from whence.program.types import alloc_size_of, member_offset, size_of

_NUMBER = re.compile(r"-?\d+")
_DEFINITION = re.compile(r"(.*?)\b(?:global|constant) ")
_EXPRESSION = re.compile(r"([a-z]+)((?: [a-z]+(?:\([^)]*\))?)*) ?\(")
_INTERNAL = re.compile(r"(?:internal|private) ")
_ZERO = frozenset({"null", "undef", "poison", "zeroinitializer", "none", "false"})
_BINARY = frozenset({"add", "sub", "mul", "xor", "and", "or", "shl"})
_CONVERSIONS = frozenset({"ptrtoint", "inttoptr", "trunc", "zext", "sext", "bitcast", "addrspacecast"})


class UnknownConstant(Exception):
    """A constant that is not understood: a block's address, an unusual expression."""


@dataclass(slots=True)
class Global:
    """A global of the program: its type and initialiser (None: another program defines it), in a module."""

    name: str
    module: Module
    type: str
    initialiser: str | None

    @property
    def size(self) -> int:
        """Bytes that it takes."""
        return size_of(self.type, self.module) if self.initialiser is not None else 0


class Constants:
    """Terms of constants; ``address_symbol(name)`` makes the symbol of the address of a global or function."""

    def __init__(self, program: Program, terms: Terms, address_symbol: Callable[[str], Term]) -> None:
        self._program, self._terms = program, terms
        self._address_symbol = address_symbol
        self._addresses: dict[tuple[int, str], Term] = {}
        self._globals: dict[Term, Global] = {}
        self._placed: list[tuple[int, Term]] = []
        self._leaves: dict[Term, tuple[list[int], list[Operand]]] = {}
        self._known: dict[tuple[int, str, str], Term] = {}

    def of(self, module: int, operand: Operand) -> Term:
        """The term of a constant operand; UnknownConstant where it is not understood."""
        key = (module, operand.type, operand.text)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._make(module, operand)
        return found

    def _make(self, index: int, operand: Operand) -> Term:
        module, text = self._program.modules[index], operand.text
        width = width_of(operand.type, module)
        if _NUMBER.fullmatch(text) and operand.type[0] == "i":
            return self._terms.constant(int(text), width)
        if text in _ZERO or text == "true":
            return self._terms.constant(int(text == "true"), width)
        if text[0] == "@":
            return self._address(index, text[1:])
        if text[0] in "-0123456789":
            return self._terms.constant(float_bits(operand, width), width)
        if text[0] in "{[<c":
            whole = self._terms.constant(0, width)
            for offset, leaf in flatten(operand.type, text, module):
                whole = replaced(self._terms, whole, 8 * offset, self.of(index, leaf))
            return whole
        return self._expression(index, operand)

    def _expression(self, index: int, operand: Operand) -> Term:
        """A constant expression is read as the instruction of that name."""
        module, match = self._program.modules[index], _EXPRESSION.match(operand.text)
        if match is None or operand.text[-1] != ")":
            raise UnknownConstant(operand.text)
        inner = operand.text[match.end() : -1]
        if match[1] in _BINARY:
            left, right = split(inner)
            inner = f"{left}, {parse_operand(right).text}"
        elif match[1] != "getelementptr" and match[1] not in _CONVERSIONS:
            raise UnknownConstant(operand.text)
        instruction = InstructionReader(module.types).read(f"%x = {match[1]} {inner}")
        meaning = meaning_of(instruction, module)
        if meaning is None:
            raise UnknownConstant(operand.text)
        return meaning(self._terms, *(self.of(index, o) for o in instruction.operands))

    def _address(self, index: int, name: str) -> Term:
        """The address of a global or function: one symbol for all modules, unless it is a module's own."""
        text = self._program.modules[index].globals.get(name)
        function = self._program.resolve(index, name)
        own = bool(text and _INTERNAL.match(text))
        if function is not None:
            own = self._program.functions[function].function.internal
        key = (index if own else -1, name)
        if key not in self._addresses:
            symbol = self._addresses[key] = self._address_symbol(unescape(name))
            if function is None:
                self._define(symbol, name, index, own)
        return self._addresses[key]

    def _define(self, symbol: Term, name: str, index: int, own: bool) -> None:
        modules = [self._program.modules[index]] if own else self._program.modules
        for module in modules:
            found = definition(name, module)
            if found and found.initialiser is not None:
                self._globals[symbol] = found
                return

    def begin(self) -> None:
        """Another run begins: where globals lie is told anew."""
        self._placed.clear()

    def size(self, symbol: Term) -> int:
        """Bytes of the global whose address a symbol is; 0 where it is none, or of unknown size."""
        return self._globals[symbol].size if symbol in self._globals else 0

    # ---- What globals hold at first ----------------------------------------------------------------------------------

    def place(self, symbol: Term, address: int) -> None:
        """Say where a global lies."""
        if symbol in self._globals:
            insort(self._placed, (address, symbol))

    def initial(self, address: int) -> Term | None:
        """The byte at an address before anything was stored there; None outside of the globals placed so far."""
        number = bisect_right(self._placed, (address, len(self._terms))) - 1
        if number < 0:
            return None
        start, symbol = self._placed[number]
        if address - start >= self._globals[symbol].size:
            return None
        return self._initial_byte(symbol, address - start)

    def _initial_byte(self, symbol: Term, offset: int) -> Term | None:
        found = self._globals[symbol]
        if symbol not in self._leaves:
            pairs = list(flatten(found.type, found.initialiser or "", found.module))
            self._leaves[symbol] = ([o for o, _ in pairs], [leaf for _, leaf in pairs])
        offsets, leaves = self._leaves[symbol]
        number = bisect_right(offsets, offset) - 1
        if number >= 0:
            leaf, within = leaves[number], offset - offsets[number]
            if within < size_of(leaf.type, found.module):
                return self._byte_of(found, leaf, within)
        return self._terms.constant(0, 8)

    def _byte_of(self, owner: Global, leaf: Operand, within: int) -> Term | None:
        try:
            term = self.of(self._program.modules.index(owner.module), leaf)
        except UnknownConstant:
            return None
        size = size_of(leaf.type, owner.module)
        return self._terms.extract(self._terms.resize(term, 8 * size), 8 * within, 8)


def definition(name: str, module: Module) -> Global | None:
    """The global of a name as a module defines or declares it."""
    match = _DEFINITION.match(module.globals.get(name, ""))
    if match is None:
        return None
    rest = split(module.globals[name][match.end() :])[0]
    end = type_end(rest)
    declared = "external" in match[1].split() or "extern_weak" in match[1].split()
    return Global(name, module, rest[:end], None if declared else rest[end + 1 :])


def flatten(type_text: str, text: str, module: Module, offset: int = 0) -> Iterator[tuple[int, Operand]]:
    """The scalar parts of a constant with their offsets in bytes, ascending; zeros may be left out."""
    body = module.types.get(type_text, type_text)
    fields = struct_members(body)
    if fields is None and body[0] not in "[<":
        yield offset, Operand(type_text, text)
    elif text in _ZERO:
        return
    elif text.startswith('c"'):
        for place, byte in enumerate(_string(text)):
            yield offset + place, Operand("i8", str(byte))
    else:
        stride = 0 if fields is not None else alloc_size_of(body[1:-1].split(" x ", 1)[1], module)
        inner = text.removeprefix("<").removesuffix(">") if text.startswith("<{") else text
        for number, part in enumerate(split(inner[1:-1].strip())):
            member = parse_operand(part)
            place = number * stride if stride else member_offset(type_text, number, module)
            yield from flatten(member.type, member.text, module, offset + place)


@lru_cache(maxsize=256)
def _string(text: str) -> bytes:
    """The bytes of ``c"..."``: a backslash is doubled, other special bytes are one and two hexadecimal digits."""
    data = bytearray()
    for number, piece in enumerate(re.split(r"\\(\\|[0-9A-Fa-f]{2})", text[2:-1])):
        if number % 2:
            data.append(ord(piece) if piece == "\\" else int(piece, 16))
        else:
            data += piece.encode("utf-8", "surrogateescape")
    return bytes(data)


def float_bits(operand: Operand, width: int) -> int:
    """The bits of a floating-point constant: decimal, or ``0x``, a format's letter, and bits; floats as doubles."""
    text = operand.text
    if not text.startswith("0x"):
        return bits_of(float(text), width)
    if text[2] == "L":
        raw = int(text[3:], 16)
        return (raw & (1 << 64) - 1) << 64 | raw >> 64  # the low word is printed first
    if text[2] in "KHR":
        return int(text[3:], 16)
    double = int(text[2:], 16)
    return double if width == 64 else FLOATS["fconvert"](32, 64, double)
