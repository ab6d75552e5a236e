"""C expressions evaluated at an instant of a recorded run: places, numbers, pointers, and what is computed from them.

There are no calls, casts and assignments: a recording is only looked at.
"""

from __future__ import annotations

import ast
import operator
import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from whence.program.parts import count_of
from whence.program.paths import POSTFIX, UNARY, AccessPath, Value, select, target_of
from whence.program.values import to_integer
from whence.subject.recorded_objects import Instant

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

    from whence.program.debug import CType, Member

LONGEST = 1000  # characters of an expression
INT = 4  # bytes
QUAD, EXTENDED = 16, 10  # bytes of the largest floating-point numbers, and those that count of x87's


class NotKnown(Exception):
    """An expression that has no value at an instant, or means nothing there."""


@dataclass(slots=True, frozen=True)
class Lvalue:
    """A place in memory: its path in C with type and bits, its address, and the bytes that there are for it."""

    path: AccessPath
    address: int
    room: int

    @property
    def plain(self) -> CType | None:
        """Its type without typedefs and qualifiers."""
        return self.path.type.plain if self.path.type is not None else None

    @property
    def size(self) -> int:
        """Its bytes, as far as there is room."""
        plain = self.plain
        declared = plain.size if plain is not None else 0
        if self.path.bits is not None:
            return (sum(self.path.bits) + 7) // 8
        if plain is not None and plain.kind == "array" and declared <= 0:
            return self.room
        if plain is not None and plain.kind == "float" and declared == QUAD and not plain.is_quad:
            declared = EXTENDED
        return min(declared, self.room)


@dataclass(slots=True, frozen=True)
class Number:
    """A value that lies nowhere: an integer of so many ``bytes``, a floating-point number, or a pointer to a type.

    ``type`` is its C type, where one is known; ``bytes`` 0: a floating-point number.
    """

    value: int | float
    bytes: int = INT
    signed: bool = True
    is_pointer: bool = False
    target: CType | None = None
    type: CType | None = None


Found = Lvalue | Number
Lookup = Callable[[str], Found | None]


def evaluate(text: str, instant: Instant, lookup: Lookup) -> Found:
    """What a C expression means, names by ``lookup``. Raises NotKnown where it means nothing, or is not known."""
    if len(text) > LONGEST:
        raise NotKnown(f"an expression of more than {LONGEST} characters")
    return _Evaluation(instant, lookup, text.encode()).of(_parsed(text))


def number_of(lvalue: Lvalue, instant: Instant) -> Number:
    """The value of a scalar at a place. Raises NotKnown where it is not known, or is no scalar."""
    plain = lvalue.plain
    if plain is None or plain.kind in ("struct", "union", "void", "complex"):
        raise NotKnown(f"`{lvalue.path.text}` is no number")
    if plain.kind in ("array", "function"):
        return Number(lvalue.address, 8, False, True, plain.element if plain.kind == "array" else plain)
    found = instant.bytes(lvalue.address, lvalue.size)
    if found.data is None:
        raise NotKnown(f"`{lvalue.path.text}` is not known: {found.why}")
    raw = int.from_bytes(found.data, "little")
    if plain.kind == "pointer":
        return Number(raw, 8, False, True, instant.run.types.completed(plain.target), lvalue.path.type)
    if plain.kind == "float":
        if plain.size not in (4, 8):
            raise NotKnown(f"`{lvalue.path.text}` is a long double, with which nothing is computed here")
        return Number(struct.unpack("<f" if plain.size == 4 else "<d", found.data)[0], 0, type=lvalue.path.type)
    if lvalue.path.bits is not None:
        shift, width = lvalue.path.bits
        raw = raw >> shift & (1 << width) - 1
        raw -= (1 << width) if plain.signed and raw >> (width - 1) else 0
        return Number(raw, plain.size, plain.signed, type=lvalue.path.type)
    value = to_integer(raw, plain)
    return Number(value, plain.size, value < 0 or plain.signed or plain.kind == "enum", type=lvalue.path.type)


def member_lvalue(whole: Lvalue, member: Member) -> Lvalue:
    """A member of a structure or union at a place."""
    path = select(whole.path, member)
    start = member.offset // 8
    if member.bits:
        path = AccessPath(path.text, path.type, bits=(member.offset % 8, member.bits))
    last = whole.plain is not None and whole.plain.kind == "struct" and member is whole.plain.members[-1]
    size = member.type.size
    room = whole.room - start if last or size <= 0 else min(size, whole.room - start)
    return Lvalue(path, whole.address + start, max(0, room))


def element_lvalue(whole: Lvalue, index: int) -> Lvalue:
    """An element of an array at a place; C lets it lie beyond the end."""
    element = whole.plain.element if whole.plain is not None else None
    size = element.size if element is not None else 0
    room = whole.room - index * size
    path = AccessPath(f"{whole.path.postfix}[{index}]", element)
    return Lvalue(path, whole.address + index * size, min(size, room) if room >= 0 else size)


def elements(whole: Lvalue) -> int:
    """How many elements an array at a place has."""
    return count_of(whole.plain, whole.room) if whole.plain is not None and whole.plain.kind == "array" else 0


def pointed(pointer: Number, text: str, instant: Instant) -> Lvalue:
    """What a pointer points to, ``text`` being its expression. Raises NotKnown for one that points nowhere."""
    address = int(pointer.value)
    if not pointer.is_pointer:
        raise NotKnown(f"`{text}` is no pointer")
    if not address:
        raise NotKnown(f"`{text}` is NULL here")
    if pointer.target is None or (pointer.target.plain.size <= 0 and pointer.target.plain.kind != "array"):
        raise NotKnown(f"`{text}` points to what has no type that is known")
    made = instant.object_at(address)
    room = made.end - address if made is not None else pointer.target.plain.size
    level = UNARY if text.startswith(("*", "&")) else POSTFIX
    return Lvalue(target_of(Value(text, level, pointee=pointer.target)), address, room)


@lru_cache(maxsize=1)
def _parser() -> Parser:
    import tree_sitter
    import tree_sitter_c

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_c.language()))


_BEFORE = "int f(void) { return "


@lru_cache(maxsize=64)
def _parsed(text: str) -> Node:
    """The tree of an expression."""
    root = _parser().parse(f"{_BEFORE}{text}; }}".encode()).root_node
    body = root.children[0].child_by_field_name("body") if root.children else None
    statements = body.named_children if body is not None else []
    is_one = len(root.named_children) == 1 and len(statements) == 1 and statements[0].type == "return_statement"
    if root.has_error or not is_one or not statements[0].named_children:
        raise NotKnown(f"`{text}` is no C expression")
    return statements[0].named_children[0]


class _Evaluation:
    """Evaluates the nodes of one expression."""

    def __init__(self, instant: Instant, lookup: Lookup, text: bytes) -> None:
        self._instant, self._lookup, self._text = instant, lookup, text

    def of(self, node: Node) -> Found:
        """What a node means."""
        found = getattr(self, f"_{node.type}", None)
        if found is None:
            raise NotKnown(f"`{self._words(node)}`: only what can be read off a recording is evaluated")
        result: Found = found(node)
        return result

    def _words(self, node: Node) -> str:
        start = len(_BEFORE)
        return self._text[node.start_byte - start : node.end_byte - start].decode(errors="replace")

    def _field(self, node: Node, name: str) -> Node:
        found = node.child_by_field_name(name)
        if found is None:
            raise NotKnown(f"`{self._words(node)}` is no C expression")
        return found

    def _number(self, node: Node) -> Number:
        found = self.of(node)
        return found if isinstance(found, Number) else number_of(found, self._instant)

    # ---- Leaves ------------------------------------------------------------------------------------------------------

    def _identifier(self, node: Node) -> Found:
        name = self._words(node)
        found = self._lookup(name)
        if found is None:
            raise NotKnown(f"there is no `{name}` here")
        return found

    def _null(self, node: Node) -> Number:
        return Number(0, 8, False, True)

    def _true(self, node: Node) -> Number:
        return Number(1)

    def _false(self, node: Node) -> Number:
        return Number(0)

    def _number_literal(self, node: Node) -> Number:
        text = self._words(node).lower().replace("'", "")
        digits = text if text.startswith("0x") else text.rstrip("f")
        digits = digits.rstrip("ul")
        try:
            value = int(digits, 8 if digits.strip("01234567") == "" and digits.startswith("0") else 0)
        except ValueError:
            try:
                return Number(float.fromhex(digits) if digits.startswith("0x") else float(digits), 0)
            except ValueError:
                raise NotKnown(f"`{text}` is no number") from None
        is_unsigned = "u" in text[-3:]
        size = 8 if "l" in text[-3:] or value > 0xFFFFFFFF or (value > 0x7FFFFFFF and not is_unsigned) else INT
        return Number(value, size, not is_unsigned)

    def _char_literal(self, node: Node) -> Number:
        text = self._words(node)
        try:
            code = ord(ast.literal_eval(text))  # escapes are those of C
        except (SyntaxError, ValueError, TypeError):
            raise NotKnown(f"{text} is no character that is read here") from None
        return Number(code - 256 if 127 < code < 256 else code)

    def _parenthesized_expression(self, node: Node) -> Found:
        return self.of(node.named_children[0])

    # ---- Places ------------------------------------------------------------------------------------------------------

    def _field_expression(self, node: Node) -> Lvalue:
        owner, name = self._field(node, "argument"), self._words(self._field(node, "field"))
        is_arrow = self._words(self._field(node, "operator")) == "->"
        whole: Found = pointed(self._number(owner), self._words(owner), self._instant) if is_arrow else self.of(owner)
        if not isinstance(whole, Lvalue) or whole.plain is None or whole.plain.kind not in ("struct", "union"):
            raise NotKnown(f"`{self._words(owner)}` is no structure")
        found = _member(whole, name)
        if found is None:
            raise NotKnown(f"`{self._words(owner)}` has no member `{name}`")
        return found

    def _subscript_expression(self, node: Node) -> Lvalue:
        owner, index = self._field(node, "argument"), self._number(self._field(node, "index"))
        whole = self.of(owner)
        if isinstance(whole, Lvalue) and whole.plain is not None and whole.plain.kind == "array":
            return element_lvalue(whole, int(index.value))
        pointer = whole if isinstance(whole, Number) else number_of(whole, self._instant)
        return pointed(_moved(pointer, int(index.value)), f"({self._words(owner)} + {index.value})", self._instant)

    def _pointer_expression(self, node: Node) -> Found:
        inner = self._field(node, "argument")
        if self._words(self._field(node, "operator")) == "*":
            return pointed(self._number(inner), self._words(inner), self._instant)
        found = self.of(inner)
        if not isinstance(found, Lvalue) or found.path.bits is not None:
            raise NotKnown(f"`{self._words(inner)}` has no address")
        return Number(found.address, 8, False, True, found.path.type)

    # ---- Computation -------------------------------------------------------------------------------------------------

    def _unary_expression(self, node: Node) -> Number:
        sign, given = self._words(self._field(node, "operator")), self._number(self._field(node, "argument"))
        if sign == "!":
            return Number(int(not given.value))
        if sign == "~" and isinstance(given.value, int):
            return _wrapped(~given.value, max(given.bytes, INT), given.signed or given.bytes < INT)
        if sign in "+-":
            value = -given.value if sign == "-" else given.value
            if isinstance(value, float):
                return Number(value, 0)
            return _wrapped(value, max(given.bytes, INT), given.signed or given.bytes < INT)
        raise NotKnown(f"`{self._words(node)}` is not computed here")

    def _binary_expression(self, node: Node) -> Number:
        sign = self._words(self._field(node, "operator"))
        left = self._number(self._field(node, "left"))
        if sign in ("&&", "||"):
            decided = bool(left.value) == (sign == "||")
            return (
                Number(int(decided and sign == "||"))
                if decided
                else Number(int(bool(self._number(self._field(node, "right")).value)))
            )
        return _computed(sign, left, self._number(self._field(node, "right")))

    def _conditional_expression(self, node: Node) -> Found:
        chosen = "consequence" if self._number(self._field(node, "condition")).value else "alternative"
        return self.of(self._field(node, chosen))


def _member(whole: Lvalue, name: str) -> Lvalue | None:
    """The member of a name, be it in an anonymous one."""
    assert whole.plain is not None
    for member in whole.plain.members:
        lvalue = member_lvalue(whole, member)
        if member.name == name:
            return lvalue
        if not member.name and lvalue.plain is not None and lvalue.plain.kind in ("struct", "union"):
            inner = _member(lvalue, name)
            if inner is not None:
                return inner
    return None


_COMPARED: dict[str, Callable[[float, float], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_WHOLE: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
}
_FLOATING: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


def _computed(sign: str, left: Number, right: Number) -> Number:
    """What an operator gives, by C's rules for the types of its operands."""
    if left.is_pointer or right.is_pointer:
        return _of_pointers(sign, left, right)
    if sign in ("/", "%") and not right.value:
        raise NotKnown("a division by zero")
    if not left.bytes or not right.bytes:
        if sign in _COMPARED:
            return Number(int(_COMPARED[sign](left.value, right.value)))
        if sign not in _FLOATING:
            raise NotKnown(f"`{sign}` of floating-point numbers")
        return Number(_FLOATING[sign](float(left.value), float(right.value)), 0)
    one, other = int(left.value), int(right.value)
    if sign in ("<<", ">>"):
        size = max(left.bytes, INT)
        if not 0 <= other < 8 * size:
            raise NotKnown(f"a shift by {other} bits")
        return _wrapped(one << other if sign == "<<" else one >> other, size, left.signed or left.bytes < INT)
    size = max(left.bytes, right.bytes, INT)
    signed = all(number.signed or number.bytes < size for number in (left, right))
    one, other = (int(_wrapped(number, size, signed).value) for number in (one, other))
    if sign in _COMPARED:
        return Number(int(_COMPARED[sign](one, other)))
    if sign in ("/", "%"):
        quotient = abs(one) // abs(other) * (1 if (one < 0) == (other < 0) else -1)
        return _wrapped(quotient if sign == "/" else one - quotient * other, size, signed)
    if sign not in _WHOLE:
        raise NotKnown(f"`{sign}` is not computed here")
    return _wrapped(_WHOLE[sign](one, other), size, signed)


def _of_pointers(sign: str, left: Number, right: Number) -> Number:
    if sign in _COMPARED:
        return Number(int(_COMPARED[sign](left.value, right.value)))
    if sign == "-" and left.is_pointer and right.is_pointer:
        return Number((int(left.value) - int(right.value)) // _stride(left), 8)
    if sign == "+" and right.is_pointer and not left.is_pointer:
        left, right = right, left
    if sign not in ("+", "-") or right.is_pointer:
        raise NotKnown(f"`{sign}` of pointers")
    return _moved(left, int(right.value) if sign == "+" else -int(right.value))


def _moved(pointer: Number, by: int) -> Number:
    """A pointer so many elements on."""
    if not pointer.is_pointer:
        raise NotKnown("an element of what is neither an array nor a pointer")
    return Number(int(pointer.value) + by * _stride(pointer), 8, False, True, pointer.target, pointer.type)


def _stride(pointer: Number) -> int:
    size = pointer.target.plain.size if pointer.target is not None else 0
    if size <= 0:
        raise NotKnown("what the pointer points to has no size that is known")
    return size


def _wrapped(value: int, size: int, signed: bool) -> Number:
    value &= (1 << 8 * size) - 1
    return Number(value - (1 << 8 * size) if signed and value >> (8 * size - 1) else value, size, signed)
