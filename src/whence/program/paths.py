"""What a pointer points to, as C writes it: ``n``, ``p->next``, ``table[3].name``, ``*s``.

IR has lost the C types of pointers, so a path is built from its root outwards: a variable's debug type, or
the type of the pointer that was loaded, tells what each ``getelementptr`` step means in C; byte offsets from
the LLVM types find the member. Where the two views differ (unions, casts, folded constants) the path is
*narrowed* to the part whose type has the shape that the instruction accesses.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from whence.program import types
from whence.program.debug import CType, DebugInfo, Member, Variable
from whence.program.instructions import InstructionReader
from whence.program.model import Function, Instruction, Operand
from whence.program.program import plain_name
from whence.program.syntax import member_type
from whence.program.values import format_string, format_value

# Levels of precedence, a higher one binds tighter.
COMMA, ASSIGN, CONDITION, EITHER, BOTH, OR, XOR, AND = range(8)
EQUAL, LESS, SHIFT, SUM, PRODUCT, UNARY, POSTFIX = range(8, 15)

_STRING = re.compile(r'.*\bconstant \[\d+ x i8\] c"([^"]*)"')
_ESCAPE = re.compile(r"\\([0-9A-Fa-f]{2}|\\)")
_INTEGER = re.compile(r"-?\d+")
_FLOATS = frozenset({"half", "bfloat", "float", "double", "x86_fp80", "fp128", "ppc_fp128"})


@dataclass(slots=True, frozen=True)
class Value:
    """The C text of a value with its level of precedence and its type.

    ``pointee`` is the type of what it points to, where ``type`` does not tell; ``place`` what it is the
    address of.
    """

    text: str
    level: int = POSTFIX
    type: CType | None = None
    pointee: CType | None = None
    place: AccessPath | None = None

    def at(self, level: int) -> str:
        """The text for a context of this level, in parentheses where needed."""
        return self.text if self.level >= level else f"({self.text})"

    @property
    def target(self) -> CType | None:
        """The type of what it points to."""
        return self.pointee or (self.type.plain.target if self.type else None)


@dataclass(slots=True, frozen=True)
class AccessPath:
    """A place in memory as C writes it, and the type of what is there (None: unknown).

    ``variable`` is set where the place is a whole variable. ``bits`` is (shift, width) of a bit-field in the
    unit that the program loads or stores. ``address`` is the C text of its address, where that is not
    ``&text``.
    """

    text: str
    type: CType | None = None
    variable: Variable | None = None
    bits: tuple[int, int] | None = None
    address: Value | None = None

    @property
    def postfix(self) -> str:
        """The text to which ``[i]`` or ``.member`` can be appended."""
        return f"({self.text})" if self.text.startswith("*") else self.text

    def show(self, raw: int) -> str:
        """The value there, as C shows it, from the bits that a load read or a store wrote (zero-extended)."""
        if self.bits is not None:
            shift, width = self.bits
            raw = raw >> shift & (1 << width) - 1
            if self.type is not None and self.type.plain.signed and raw >> (width - 1):
                raw -= 1 << width
        return format_value(raw, self.type)

    @property
    def prefix(self) -> str:
        """The text to which a member's name is appended."""
        if self.address is not None and self.text.startswith("*"):
            return f"{self.address.at(POSTFIX)}->"
        return f"{self.postfix}."


def address_of(path: AccessPath) -> Value:
    """The value that is the path's address: arrays and functions decay, ``&*p`` is ``p``."""
    if path.address is not None:
        return path.address
    plain = path.type.plain if path.type else None
    if plain is not None and plain.kind == "array":
        return Value(path.text, POSTFIX, pointee=plain.element)
    if plain is not None and plain.kind == "function":
        return Value(path.text, POSTFIX, pointee=plain)
    return Value(f"&{path.text}", UNARY, pointee=path.type, place=path)


def target_of(pointer: Value) -> AccessPath:
    """The place that a pointer points to."""
    return pointer.place or AccessPath(f"*{pointer.at(UNARY)}", pointer.target, address=pointer)


def bare_name(register: str) -> str:
    """The C name that clang gave a register: ``%val72`` is ``val``, ``%n.addr`` is ``n``."""
    name = register[1:].strip('"').removesuffix(".addr")
    return name.rstrip("0123456789") or name


class Paths:
    """Finds access paths in one module; ``value_of`` gives the C text of pointers and indices."""

    def __init__(
        self,
        debug: DebugInfo,
        definition: Callable[[Function, str], Instruction | None],
        value_of: Callable[[Function, Operand], Value],
    ) -> None:
        self._debug = debug
        self._module = debug.module
        self._definition = definition
        self._value_of = value_of
        self._constants = InstructionReader(debug.module.types)

    def place(self, function: Function, pointer: Operand) -> AccessPath | None:
        """What the pointer points to; None when C has no words for it."""
        text = pointer.text
        if text.startswith("@"):
            return self._global(text[1:])
        if not text.startswith("%"):
            constant = self.constant(text)
            if constant is not None and constant.opcode == "getelementptr":
                return self._element(function, constant)
            return target_of(self._value_of(function, pointer))
        variable = self._debug.variable_at(function, text)
        if variable is not None and not variable.indirect:
            return AccessPath(variable.name, variable.type, variable)
        definition = self._definition(function, text)
        if definition is not None and definition.opcode in ("alloca", "getelementptr"):
            return self.result(function, definition)
        return target_of(self._value_of(function, pointer))

    def result(self, function: Function, instruction: Instruction) -> AccessPath | None:
        """What the result of an ``alloca`` or ``getelementptr`` points to."""
        if instruction.opcode == "getelementptr":
            return self._element(function, instruction)
        if instruction.result == "%retval":
            ctype = self._debug.function_type(function.name)
            return AccessPath("return value", ctype.signature[0] if ctype and ctype.signature else None)
        variable = self._debug.variable_at(function, instruction.result or "")
        if variable is not None:
            return AccessPath(variable.name, variable.type, variable)
        name = bare_name(instruction.result or "%")
        if instruction.operands:  # of a size that the program computed
            size = Value(f"alloca({self._value_of(function, instruction.operands[0]).text})")
            return AccessPath(f"*{size.text}", address=size)
        return AccessPath(name)

    def constant(self, text: str) -> Instruction | None:
        """A constant expression as the instruction that it stands for; None for other constants."""
        return self._constants.constant(text)

    def _global(self, name: str) -> AccessPath:
        variable = self._debug.global_variable(name)
        if variable is not None:
            return AccessPath(variable.name, variable.type, variable)
        text = self._module.globals.get(name, "")
        if literal := _STRING.match(text):
            raw = _ESCAPE.sub(lambda m: "\\" if m[1] == "\\" else chr(int(m[1], 16)), literal[1])
            shown = format_string(raw.encode("utf-8" if not raw.isascii() else "ascii").removesuffix(b"\0"))
            return AccessPath(shown, address=Value(shown))
        if name.startswith("__const."):
            return AccessPath("{...}")
        plain = plain_name(name)
        ctype = self._debug.function_type(name)
        known = name in self._module.functions or name in self._module.declarations
        decays = known or " global [" in f" {text}"
        return AccessPath(plain, ctype, address=Value(plain, pointee=ctype) if decays else None)

    def refine(self, path: AccessPath, llvm_type: str) -> AccessPath:
        """The part of an aggregate that an access of a scalar LLVM type means; the path itself otherwise."""
        if path.type is None or not path.type.is_aggregate or llvm_type[0] in "{[<%":
            return path
        size = types.size_of(llvm_type, self._module)
        kind = "float" if llvm_type in _FLOATS else "pointer" if llvm_type.startswith("ptr") else "int"
        return self._narrow(path, lambda found: found.size == size and _kind(found) == kind) or path

    def _element(self, function: Function, step: Instruction) -> AccessPath | None:
        """The place that a ``getelementptr`` computes."""
        base, first, *rest = step.operands
        path = self.place(function, base)
        path = self._neighbour(function, path, first, step) if path else None
        type_ = step.element_type
        for index in rest:
            if path is None:
                return None
            if self._module.types.get(type_, type_).startswith(("{", "<{")):
                path = self._member(path, type_, int(index.text), step.result or "%")
                type_ = member_type(type_, int(index.text), self._module.types)
            else:
                path = self._item(function, path, type_, index, step)
                type_ = member_type(type_, 0, self._module.types)
        return path

    def _neighbour(self, function: Function, path: AccessPath, index: Operand, step: Instruction) -> AccessPath | None:
        """The first index: the object itself (0), or another one beside it (pointer arithmetic)."""
        size = types.alloc_size_of(step.element_type, self._module)
        type_ = path.type.plain if path.type else None
        unbounded = step.element_type.startswith("[0 x ")  # extern int a[];
        if type_ is not None and type_.kind == "array" and type_.size != size and not unbounded:
            return self._item(function, path, "", index, step)
        base = address_of(path)
        if len(step.operands) == 2 and type_ is not None and type_.size not in (0, size) and size == 1:
            if (inside := self._at_byte(path, index, step.result or "%")) is not None:
                return inside
            base = Value(f"(char *){base.at(UNARY)}", UNARY)
            path = AccessPath(path.text)
        indexed = len(step.operands) == 2 and (step.result or "").startswith("%arrayidx")
        if index.text == "0" and not indexed:
            return path
        offset = self._value_of(function, index)
        text = f"{base.at(POSTFIX)}[{offset.text}]"
        if indexed:
            return AccessPath(text, path.type)
        sign, shown = ("-", offset.text[1:]) if offset.text.startswith("-") else ("+", offset.at(PRODUCT))
        address = Value(f"{base.at(SUM)} {sign} {shown}", SUM, pointee=path.type)
        return AccessPath(text, path.type, address=address)

    def _item(
        self, function: Function, path: AccessPath, llvm_type: str, index: Operand, step: Instruction
    ) -> AccessPath | None:
        """An element of an array."""
        if llvm_type and path.type is not None:
            size = types.alloc_size_of(llvm_type, self._module)
            exact = path.type.plain.kind == "array" and (size == 0 or path.type.size in (0, size))
            if not exact:
                path = self._narrow(path, lambda t: t.kind == "array" and t.size == size) or path
        plain = path.type.plain if path.type else None
        element = plain.element if plain and plain.kind == "array" else None
        decayed = index.text == "0" and (step.result or "").startswith("%arraydecay")
        address = Value(path.text, UNARY if path.text.startswith("*") else POSTFIX, pointee=element)
        text = f"{path.postfix}[{self._value_of(function, index).text}]"
        return AccessPath(text, element, address=address if decayed else None)

    def _member(self, path: AccessPath, llvm_type: str, index: int, hint: str) -> AccessPath | None:
        """A member of a struct."""
        size = types.alloc_size_of(llvm_type, self._module)
        offset = types.member_offset(llvm_type, index, self._module)
        narrowed = self._narrow(path, lambda t: t.kind == "struct" and t.size == size)
        if narrowed is None and (tagged := self._debug.tagged(llvm_type)) is not None:
            pointer = f"({tagged.spelling} *){address_of(path).at(UNARY)}"
            narrowed = target_of(Value(pointer, UNARY, pointee=tagged))
        if path.type is not None and path.type.plain.kind == "complex":
            return AccessPath(f"{'__imag__' if index else '__real__'} {path.postfix}")
        found = self._member_at(narrowed, offset, hint) if narrowed else None
        if found is None and (name := bare_name(hint)):
            return AccessPath((narrowed or path).prefix + name)
        return found

    def _member_at(self, path: AccessPath, offset: int, hint: str) -> AccessPath | None:
        """The member whose storage begins at a byte offset.

        Bit-fields of one unit are told apart by ``hint``, the register that clang named after the member.
        """
        members = path.type.plain.members if path.type else ()
        found = [m for m in members if m.storage == 8 * offset]
        if len(found) > 1:
            found.sort(key=lambda m: _likeness(m.name, hint[1:]))
        return select(path, found[-1]) if found else None

    def _at_byte(self, path: AccessPath, index: Operand, hint: str) -> AccessPath | None:
        """A constant byte offset into an object, which is how folded constants are written."""
        if not _INTEGER.fullmatch(index.text):
            return None
        rest = int(index.text)
        while path.type is not None:
            plain = path.type.plain
            if plain.kind == "array" and (element := plain.element) and element.size:
                path = AccessPath(f"{path.postfix}[{rest // element.size}]", element)
                rest %= element.size
            elif plain.kind in ("struct", "union") and rest:
                holder = next((m for m in plain.members if 0 <= 8 * rest - m.storage < 8 * m.type.size), None)
                if holder is None:
                    return None
                path = self._member_at(path, holder.storage // 8, hint) or select(path, holder)
                rest -= holder.storage // 8
            else:
                break
        return path if rest == 0 else None

    def _narrow(self, path: AccessPath, fits: Callable[[CType], bool]) -> AccessPath | None:
        """The path, or the part at its beginning, whose type fits; None when there is none."""
        while path.type is not None and not fits(path.type.plain):
            plain = path.type.plain
            if plain.kind == "array" and plain.element and _reaches(plain.element, fits):
                path = AccessPath(f"{path.postfix}[0]", plain.element)
                continue
            first = (m for m in _first_members(plain) if _reaches(m.type, fits))
            member = next(first, None)
            if member is None:
                return None
            path = select(path, member)
        return path if path.type is not None else None


def _first_members(plain: CType) -> list[Member]:
    if plain.kind not in ("struct", "union"):
        return []
    return [m for m in plain.members if m.offset == 0 and not m.bits]


def _reaches(ctype: CType, fits: Callable[[CType], bool]) -> bool:
    """Whether the type, or the type of something at its very beginning, fits."""
    plain = ctype.plain
    if fits(plain):
        return True
    if plain.kind == "array":
        return plain.element is not None and _reaches(plain.element, fits)
    return any(_reaches(member.type, fits) for member in _first_members(plain))


def select(path: AccessPath, member: Member) -> AccessPath:
    """``path.member``; an anonymous member has no text of its own."""
    if not member.name:
        return replace(path, type=member.type, variable=None)
    bits = (member.offset - member.storage, member.bits) if member.bits else None
    return AccessPath(path.prefix + member.name, member.type, bits=bits)


def _likeness(name: str, register: str) -> int:
    """How well a register's name fits a member's: the same, or the name and digits that make it unique."""
    if name and register.startswith(name) and register[len(name) :].isdigit():
        return len(name)
    return 1000 if name == register else 0


def _kind(plain: CType) -> str:
    return plain.kind if plain.kind in ("float", "pointer", "struct", "union", "array") else "int"
