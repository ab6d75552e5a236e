"""C types and variables from debug metadata.

Metadata nodes refer to each other by number and may be recursive (a list's node points to its own type), so a
``CType`` reads its neighbours only when asked, and each node is read once.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from whence.program.locations import Locations, unescape
from whence.program.model import Function, Module
from whence.program.syntax import split

_NODE = re.compile(r"(?:distinct )?!(\w+)\((.*)\)", re.DOTALL)
_DECLARE = re.compile(r"\s*#dbg_declare\(ptr ([%@](?:\"[^\"]*\"|[-\w$.]+)), !(\d+), !DIExpression\((.*?)\), ")
_ATTACHED = re.compile(r"!dbg !(\d+)")
_TAGS = {
    "DW_TAG_pointer_type": "pointer",
    "DW_TAG_array_type": "array",
    "DW_TAG_structure_type": "struct",
    "DW_TAG_union_type": "union",
    "DW_TAG_enumeration_type": "enum",
    "DW_TAG_typedef": "typedef",
    "DW_TAG_const_type": "const",
    "DW_TAG_volatile_type": "volatile",
    "DW_TAG_restrict_type": "restrict",
    "DW_TAG_atomic_type": "atomic",
}
_ENCODINGS = {
    "DW_ATE_boolean": ("bool", False),
    "DW_ATE_signed": ("int", True),
    "DW_ATE_unsigned": ("int", False),
    "DW_ATE_signed_char": ("char", True),
    "DW_ATE_unsigned_char": ("char", False),
    "DW_ATE_UTF": ("char", False),
    "DW_ATE_float": ("float", True),
    "DW_ATE_complex_float": ("complex", True),
}
_TRANSPARENT = frozenset({"typedef", "const", "volatile", "restrict", "atomic"})
_QUALIFIERS = {"const": "const", "volatile": "volatile", "atomic": "_Atomic"}


@dataclass(slots=True, frozen=True)
class Member:
    """A member of a struct or union; ``name`` is "" for an anonymous one.

    ``offset`` is in bits from the start; for a bit-field ``bits`` is its width (else 0) and ``storage`` the
    offset in bits of the unit that the program loads and stores. ``file`` and ``line``: where it was declared.
    """

    name: str
    type: CType
    offset: int
    bits: int = 0
    storage: int = 0
    file: str = ""
    line: int = 0


class CType:
    """A C type. ``kind`` is int, char, bool, float, complex, void, pointer, array, struct, union, enum,
    function, or a layer around another type: typedef, const, volatile, restrict, atomic.

    What it is made of is read once: tables of tens of thousands of entries ask for the same sizes again and again.
    """

    def __init__(
        self,
        info: DebugInfo,
        kind: str,
        name: str,
        fields: dict[str, str],
        signed: bool = False,
        dimension: int = 0,
    ) -> None:
        self.kind = kind
        self.name = name
        self.signed = signed
        self._info = info
        self._fields = fields
        self._dimension = dimension  # of a row of an array: how many dimensions stand before its own

    @cached_property
    def size(self) -> int:
        """Size in bytes; 0 when it is not known."""
        if self.kind in _TRANSPARENT:
            return self.target.size if self.target else 0
        if self._dimension:
            return math.prod(self.counts) * (self.target.size if self.target else 0)
        return int(self._fields.get("size", 0)) // 8

    @property
    def is_quad(self) -> bool:
        """Whether a 16-byte floating-point type is IEEE binary128, not the 80-bit format of x87."""
        return self.size == 16 and ("loat128" in self.name or not self._info.module.triple.startswith("x86"))

    @cached_property
    def element(self) -> CType | None:
        """What ``a[i]`` is for an array ``a``: a row where there are more dimensions."""
        if len(self.counts) < 2:
            return self.target
        return CType(self._info, "array", "", self._fields, dimension=self._dimension + 1)

    @cached_property
    def target(self) -> CType | None:
        """What a pointer points to, an array holds, a layer wraps, an enum is stored as; None for void."""
        return self._info.type(self._fields.get("baseType"))

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """The dimensions of an array; -1 where the length is not constant."""
        ranges = self._info.listed(self._fields.get("elements"))[self._dimension :]
        fields = [self._info.node(number)[1] for number in ranges]
        return tuple(int(f["count"]) if f.get("count", "!").isdigit() else -1 for f in fields)

    @cached_property
    def members(self) -> tuple[Member, ...]:
        """The members of a struct or union in order."""
        numbers = self._info.listed(self._fields.get("elements"))
        return tuple(self._info.member(number) for number in numbers)

    @cached_property
    def enumerators(self) -> dict[int, str]:
        """The names of an enum's values, the first where several are equal."""
        names: dict[int, str] = {}
        for number in self._info.listed(self._fields.get("elements")):
            fields = self._info.node(number)[1]
            names.setdefault(int(fields["value"]), _string(fields.get("name", "")))
        return names

    @cached_property
    def signature(self) -> tuple[CType | None, ...]:
        """Of a function type: the result, then the parameters (None: void, or the rest of a variadic)."""
        return tuple(self._info.type(item) for item in self._info.items(self._fields.get("types")))

    @cached_property
    def plain(self) -> CType:
        """The type without typedefs and qualifiers."""
        found: CType = self
        while found.kind in _TRANSPARENT:
            inner = found.target
            if inner is None:
                return self._info.void
            found = inner
        return found

    @property
    def is_aggregate(self) -> bool:
        """Whether it is a struct, a union or an array (without typedefs and qualifiers)."""
        return self.plain.kind in ("struct", "union", "array")

    @property
    def spelling(self) -> str:
        """The type as C writes it: ``struct P *``, ``int [5]``, ``int (*)(int, char *)``."""
        return self.declare("")

    def declare(self, declarator: str) -> str:
        """A declaration of ``declarator`` with this type, as C writes it."""
        target = self.target
        inner = "void" if target is None else ""
        if self.kind == "pointer":
            wrapped = target is not None and target.kind in ("array", "function")
            text = f"(*{declarator})" if wrapped else f"*{declarator}"
            return target.declare(text) if target else f"void {text}"
        if self.kind == "array":
            suffix = "".join(f"[{count if count >= 0 else ''}]" for count in self.counts)
            return target.declare(declarator + suffix) if target else inner
        if self.kind == "function":
            return self._declare_function(declarator)
        if self.kind == "restrict":
            return target.declare(declarator) if target else inner
        if self.kind in _QUALIFIERS:
            return self._declare_qualified(declarator, _QUALIFIERS[self.kind])
        keyword = f"{self.kind} " if self.kind in ("struct", "union", "enum") else ""
        name = keyword + (self.name or ("{...}" if keyword else ""))
        return f"{name} {declarator}" if declarator else name

    def _declare_function(self, declarator: str) -> str:
        result, *parameters = self.signature or (None,)
        names = [p.spelling if p else "..." for p in parameters]
        text = f"{declarator}({', '.join(names) or 'void'})"
        return result.declare(text) if result else f"void {text}"

    def _declare_qualified(self, declarator: str, qualifier: str) -> str:
        target = self.target
        if target is not None and target.kind == "pointer":
            return target.declare(f" {qualifier} {declarator}".rstrip() if declarator else f" {qualifier}")
        inner = target.declare(declarator) if target else f"void {declarator}".rstrip()
        return f"{qualifier} {inner}"

    def __repr__(self) -> str:
        return f"CType({self.spelling!r})"


@dataclass(slots=True, frozen=True)
class Variable:
    """A C variable: where IR keeps it (``%x.addr``, ``@g``), its type, and where it was declared.

    ``parameter`` counts from 1 (0: none). ``scope`` is the metadata number of its scope. ``indirect``: the
    register holds the address of the variable's address. ``artificial``: made up by the compiler.
    """

    name: str
    register: str
    type: CType | None
    file: str
    line: int
    scope: int
    parameter: int = 0
    indirect: bool = False
    artificial: bool = False


class DebugInfo:
    """The types and variables that a module's metadata describes.

    ``siblings`` are the other modules of the program: clang describes a variable or function only where it is
    defined.
    """

    def __init__(self, module: Module) -> None:
        self.module = module
        self.siblings: list[DebugInfo] = []
        self.void = CType(self, "void", "void", {})
        self._types: dict[str, CType | None] = {}
        self._locations = Locations(module.metadata)
        self._locals: dict[str, dict[str, Variable]] = {}
        self._globals: dict[str, Variable] | None = None
        self._tags: dict[str, CType] | None = None
        self._elsewhere: dict[str, Variable | None] = {}
        self._functions: dict[str, CType | None] = {}

    def node(self, number: str) -> tuple[str, dict[str, str]]:
        """The kind of node ``!number`` (``DIFile``) and its fields as text; ("", {}) when it is none."""
        match = _NODE.match(self.module.metadata.get(int(number), ""))
        if match is None:
            return "", {}
        pairs = (part.partition(": ") for part in split(match[2])) if match[2] else ()
        return match[1], {key: value for key, _, value in pairs}

    def items(self, reference: str | None) -> list[str]:
        """The elements of the list node ``!N`` as text: ``!M`` or ``null``."""
        if reference is None:
            return []
        text = self.module.metadata.get(int(reference[1:]), "")
        return split(text[text.index("{") + 1 : -1]) if text not in ("", "!{}") else []

    def listed(self, reference: str | None) -> list[str]:
        """The numbers of the nodes in the list node ``!N``."""
        return [item[1:] for item in self.items(reference) if item.startswith("!")]

    def type(self, reference: str | None) -> CType | None:
        """The type at ``!N``; None for ``null`` (void), no reference, or a kind that C does not have."""
        if reference is None or not reference.startswith("!"):
            return None
        if reference not in self._types:
            self._types[reference] = self._read_type(reference[1:])
        return self._types[reference]

    def _read_type(self, number: str) -> CType | None:
        kind, fields = self.node(number)
        name = _string(fields.get("name", ""))
        if kind == "DIBasicType":
            base, signed = _ENCODINGS.get(fields.get("encoding", ""), ("int", False))
            return CType(self, base, name, fields, signed)
        if kind == "DISubroutineType":
            return CType(self, "function", name, fields)
        tag = _TAGS.get(fields.get("tag", ""))
        return CType(self, tag, name, fields) if tag else None

    def member(self, number: str) -> Member:
        """The member described by node ``!number``."""
        fields = self.node(number)[1]
        type_ = self.type(fields.get("baseType")) or self.void
        offset = int(fields.get("offset", 0))
        bit_field = "DIFlagBitField" in fields.get("flags", "")
        bits = int(fields.get("size", 0)) if bit_field else 0
        storage = int(fields.get("extraData", f"i64 {offset}").split()[-1]) if bit_field else offset
        file = self._locations.file(int(fields["file"][1:])) if fields.get("file", "").startswith("!") else ""
        line = int(fields.get("line", 0))
        return Member(_string(fields.get("name", "")), type_, offset, bits, storage, file, line)

    def function_type(self, name: str) -> CType | None:
        """The type of the function ``name`` (without "@"), where the program tells it."""
        if name not in self._functions:
            external = (s._described_type(name) for s in self.siblings if s._exports_function(name))
            self._functions[name] = self._described_type(name) or next(external, None)
        return self._functions[name]

    def _exports_function(self, name: str) -> bool:
        function = self.module.functions.get(name)
        return function is not None and not function.internal

    def _described_type(self, name: str) -> CType | None:
        function = self.module.functions.get(name)
        number = function.subprogram if function else None
        declaration = self.module.declarations.get(name)
        if declaration is not None and (match := _ATTACHED.search(declaration.text)):
            number = int(match[1])
        return self.type(self.node(str(number))[1].get("type")) if number is not None else None

    def tagged(self, llvm_name: str) -> CType | None:
        """The C struct or union that clang named ``%struct.P`` or ``%union.U``."""
        if self._tags is None:
            self._tags = dict(self._read_tags())
        match = re.match(r"%(?:struct|union)\.(.*?)(?:\.\d+)?$", llvm_name)
        return self._tags.get(match[1]) if match else None

    def _read_tags(self) -> Iterator[tuple[str, CType]]:
        """Named structs and unions; clang names an unnamed one by its typedef."""
        for number, text in self.module.metadata.items():
            if not text.startswith(("!DIDerivedType(tag: DW_TAG_typedef", "!DIComp", "distinct !DIComp")):
                continue
            found = self.type(f"!{number}")
            if found is None or not found.name:
                continue
            if found.plain.kind in ("struct", "union") and (found.kind != "typedef" or not found.plain.name):
                yield found.name, found

    def variables(self, function: Function) -> list[Variable]:
        """The parameters and locals of a function that debug records describe, in order of declaration."""
        return list(self._variables(function).values())

    def variable_at(self, function: Function | None, register: str) -> Variable | None:
        """The variable that ``register`` (``%x.addr``) or global (``@g``) holds; None when it holds none."""
        if register.startswith("@"):
            return self.global_variable(register[1:])
        return self._variables(function).get(register) if function else None

    def _variables(self, function: Function) -> dict[str, Variable]:
        found = self._locals.get(function.name)
        if found is None:
            found = self._locals[function.name] = {}
            for block in function.blocks:
                for line in block.lines:
                    if (match := _DECLARE.match(line)) and match[3] in ("", "DW_OP_deref"):
                        found.setdefault(match[1], self._variable(match[2], match[1], bool(match[3])))
        return found

    def global_variable(self, name: str) -> Variable | None:
        """The global or static variable that ``name`` (without "@") means in this module."""
        found = self.globals.get(name)
        if found is not None:
            return found
        if name not in self._elsewhere:
            self._elsewhere[name] = next((v for s in self.siblings if (v := s._exported(name))), None)
        return self._elsewhere[name]

    def _exported(self, name: str) -> Variable | None:
        hidden = self.module.globals.get(name, "private ").startswith(("internal ", "private "))
        return None if hidden else self.globals.get(name)

    @property
    def globals(self) -> dict[str, Variable]:
        """The global and static variables by their name in IR (without "@")."""
        if self._globals is None:
            self._globals = dict(self._read_globals())
        return self._globals

    def _read_globals(self) -> Iterator[tuple[str, Variable]]:
        for name, text in self.module.globals.items():
            match = _ATTACHED.search(text)
            expression = self.node(match[1])[1] if match else {}
            if "var" in expression:
                variable = self._variable(expression["var"][1:], f"@{name}", False)
                if variable.name:
                    yield name, variable

    def _variable(self, number: str, register: str, indirect: bool) -> Variable:
        fields = self.node(number)[1]
        file, scope = fields.get("file", ""), fields.get("scope", "")
        return Variable(
            name=_string(fields.get("name", "")),
            register=register,
            type=self.type(fields.get("type")),
            file=self._locations.file(int(file[1:])) if file.startswith("!") else "",
            line=int(fields.get("line", 0)),
            scope=int(scope[1:]) if scope.startswith("!") else -1,
            parameter=int(fields.get("arg", 0)),
            indirect=indirect,
            artificial="DIFlagArtificial" in fields.get("flags", ""),
        )


def describe(modules: Sequence[Module]) -> list[DebugInfo]:
    """What each of a program's modules is described by, knowing what the others define."""
    infos = [DebugInfo(module) for module in modules]
    for info in infos:
        info.siblings = [other for other in infos if other is not info]
    return infos


def _string(text: str) -> str:
    return unescape(text[1:-1]) if text.startswith('"') else ""
