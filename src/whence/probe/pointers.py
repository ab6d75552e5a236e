"""Where each pointer of the program comes from, as far as its text says: tables for the pass over a trace.

A pointer's *source* is found by walking from where it is used back over arithmetic and casts to what made it: a local
or static variable, a parameter, or the event of a site (a load, a call's result, a phi) whose own source the pass
knows. What cannot be followed, such as arithmetic on integers, has no source, and nothing is ever said of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from whence.errors import ProgramError
from whence.probe.allocator_table import allocator_table
from whence.probe.layout import Kind, Layout, Role, is_frame_local
from whence.probe.library import FUNCTIONS
from whence.probe.member_arrays import MemberArray, MemberArrays
from whence.probe.plan import LEAF_KIND, NAME, PARAMETER, Plan
from whence.probe.steps import FREES, Source, steps_of
from whence.probe.variables import variables
from whence.program.syntax import type_end
from whence.program.types import known_size_of, offset_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from whence.probe.allocators import Allocator
    from whence.probe.plan import Numbering
    from whence.program.model import Instruction, Module, Operand
    from whence.program.program import FunctionRef, Program


POINTERS = frozenset({"ptr", "i64"})  # types whose values may be pointers
NOTHING = -1
RESULT = "%retval"  # the name that clang gives to the place of a function's result
TO_WHOLE = -1
NEW_EACH_TIME = 2  # memory of alloca, which stays until the function returns
INDICES = re.compile(r"(?:, \d+)+$")


class Trait(IntEnum):
    """What matters of a library function, as bits."""

    SEPARATE = 1  # what it copies must not overlap
    TEXT = 2  # each byte that it reads decides what it does
    FRESH = 4  # the contents of its blocks are undefined
    MOVES = 8  # makes a block of another size of one: what it copies was not asked for
    OUTPUT = 32  # gives away bytes that may be padding: those must have been given a value that are none
    COMPARES = 64  # the same of all that it reads
    INTO_FIRST = 128  # its result points into the object that its first argument was derived from, or beyond its end
    PRINTS = 256  # writes text to its first argument, which nothing that it prints may overlap
    FREES = FREES  # its first argument is a block to give back


_TRAITS = {
    Trait.SEPARATE: "memcpy mempcpy strcpy stpcpy strcat strncpy stpncpy strncat wcscpy wcpcpy wcscat "
    "wcsncpy wcpncpy wcsncat wmemcpy wmempcpy",
    Trait.TEXT: "strlen strcmp strcasecmp puts fputs printf fprintf sprintf snprintf atoi atol atoll atof strtol "
    "strtoul strtoll strtoull strtod strchr strrchr strstr strspn strcspn strpbrk open fopen getenv "
    "wcslen wcscmp wcschr wcsrchr wcsstr wcstol wcstoul wcstoll wcstoull wcstod inet_pton inet_addr inet_aton fnmatch",
    Trait.OUTPUT: "write pwrite writev pwritev send sendto sendmsg fwrite fwrite_unlocked",
    Trait.INTO_FIRST: "memcpy mempcpy memmove memset memchr memrchr rawmemchr strcpy stpcpy strcat strncpy stpncpy "
    "strncat strchr strrchr strchrnul strstr strcasestr strpbrk wcscpy wcpcpy wcscat wcsncpy wcpncpy wcsncat wcschr "
    "wcsrchr wcsstr wmemcpy wmempcpy wmemmove wmemset wmemchr",
    Trait.PRINTS: "sprintf snprintf vsprintf vsnprintf __sprintf_chk __snprintf_chk __vsprintf_chk __vsnprintf_chk",
    Trait.COMPARES: "memcmp bcmp wmemcmp",
    Trait.FRESH: "malloc realloc reallocarray aligned_alloc memalign posix_memalign",
    Trait.MOVES: "realloc reallocarray",
    Trait.FREES: "free realloc reallocarray",
}


def _table(*names: str) -> np.dtype[Any]:
    return np.dtype([(name, np.int32) for name in names])


# Of each site: the source of the address, of what is copied from, of the value (or a copy's parameter), each with the
# target and the outer block as in the plan's references; ``old``: the site of a load whose masked bits the stored value
# keeps (-1); ``separate``: a copy whose ranges must not overlap; ``scope``: where it stands in the source; ``inside``:
# the address is known to lie inside of its variable; ``carries``: a load whose value may be a pointer; ``..._member``:
# the member array that each points into (0: none, ``TO_WHOLE``: what an array is a part of). ``part``: the value is a
# member of the structure that its source, the result of a call, is: one more than its offset (0: it is all of it).
SITE = _table(
    *("address", "address_target", "address_outer", "second", "second_target", "second_outer"),
    *("value", "value_target", "value_outer", "old", "separate", "scope", "phi_start", "inside", "carries"),
    *("address_member", "second_member", "value_member", "part"),
)
# Member arrays (``MemberArray``), the first row being none. ``whole`` 0: the array's place is known from a constant
# ``inside`` alone.
MEMBER = _table("size", "inside", "is_constant", "offset", "whole")
PHI = _table("pred", "source", "target", "outer")
PAIR = _table("one", "one_target", "one_outer", "other", "other_target", "other_outer")
# Of each segment the locals whose addresses it holds; ``varies``: the size is that of one element, and
# ``NEW_EACH_TIME`` where each execution makes a further object.
PLACE = _table("local", "unit", "size", "varies")
LOCAL = np.dtype([("size", np.int64), ("scope", np.int32), ("copy", np.int32)])


class Sources(NamedTuple):
    """The tables: ``places`` of a segment begin at ``place_starts``, ``locals`` of a function at ``local_starts``.

    ``static_sizes`` are bytes, in the order in which a recording names the variables; ``parents`` of scopes (-1:
    a function's own), ``traits`` of library functions by number, ``pairs`` of sources of which one holds. ``pointers``
    are the static variables that a static variable's initial value points to, from its ``pointer_starts`` on. ``steps``
    are what a pass has to do of each segment, from its ``step_starts`` on (``steps.py``); ``allocators`` has a row for
    each function (``allocators.py``); ``members`` are arrays inside of structures.
    """

    sites: Any
    phis: Any
    places: Any
    place_starts: Any
    locals: Any
    local_starts: Any
    static_sizes: Any
    parents: Any
    traits: Any
    pairs: Any
    pointers: Any
    pointer_starts: Any
    steps: Any
    step_starts: Any
    allocators: Any
    members: Any


@dataclass(slots=True, frozen=True)
class Declared:
    """A variable of the program as its text has it: a local of ``function``, or a static one (-1)."""

    module: int
    register: str  # "%x" or "@g"
    function: int = NOTHING


class Declarations:
    """The tables of one program, and what their numbers mean: ``statics`` and ``locals`` by number, and their sizes.

    With ``members`` pointers into arrays inside of structures have a source of their own; ``members`` are these with
    the numbers of their modules, the first one being number 1.
    """

    def __init__(
        self,
        program: Program,
        plan: Plan,
        numbering: Numbering,
        allocators: Sequence[Allocator] = (),
        members: bool = False,
    ) -> None:
        self.with_members = members
        self.members: list[tuple[int, MemberArray]] = []
        self.allocators = allocator_table(program, plan, allocators)
        self._program = program
        self._plan = plan
        self.statics: list[Declared] = []
        self.locals: list[Declared] = []
        self.static_sizes: list[int] = []
        self._external: dict[str, int] = {}
        self._own: list[dict[str, int]] = []
        self._scopes = _Scopes(self._program)
        for number, module in enumerate(self._program.modules):
            self._add_statics(number, module)
        self._sites = np.zeros(len(self._plan.sites), SITE)
        for name in ("address_target", "old", "scope"):
            self._sites[name] = NOTHING
        self._phis: list[tuple[int, ...]] = []
        self._pairs: list[tuple[int, ...]] = []
        self._places: list[tuple[int, ...]] = []
        self._place_starts: list[int] = []
        self._locals: list[tuple[int, ...]] = []
        self._local_starts: list[int] = []
        for number, layout in enumerate(numbering.layouts):
            self._local_starts.append(len(self._locals))
            _Function(self, self._program.functions[number], layout).add(numbering.first_segment[number])
        self._sites["phi_start"][-1] = len(self._phis)

    def tables(self) -> Sources:
        """What the pass over a trace needs."""
        traits, phis = _traits(), np.array(self._phis or [(0,) * 4], PHI)
        steps, step_starts = steps_of(self._plan, self._sites, traits, self.allocators)
        return Sources(
            self._sites,
            phis,
            np.array([*self._places, (0,) * 4], PLACE),
            np.array([*self._place_starts, len(self._places)], np.int32),
            np.array([*self._locals, (0,) * 3], LOCAL),
            np.array([*self._local_starts, len(self._locals)], np.int32),
            np.array(self.static_sizes or [0], np.int64),
            np.array(self._scopes.parents or [NOTHING], np.int32),
            traits,
            np.array(self._pairs or [(0,) * 6], PAIR),
            *self._pointers(),
            steps,
            step_starts,
            self.allocators,
            np.array([(0,) * 5, *(_member_row(member) for _, member in self.members)], MEMBER),
        )

    @property
    def local_sizes(self) -> list[int]:
        """Bytes of each local; of an array of a computed size those of one element; 0: not known."""
        return [row[0] for row in self._locals]

    def _pointers(self) -> tuple[Any, Any]:
        """The variables that each one's initial value points to, and where those of each begin."""
        found: list[int] = []
        starts = [0]
        for item in self.statics:
            module = self._program.modules[item.module]
            names = dict.fromkeys(NAME.findall(module.globals[item.register[1:]]))
            numbers = (self.static(item.module, name) for name in names)
            found += [number for number in numbers if number is not None]
            starts.append(len(found))
        return np.array(found or [0], np.int32), np.array(starts, np.int32)

    def _add_statics(self, number: int, module: Module) -> None:
        self._own.append({})
        for name in variables(module):
            text = module.globals[name]
            self._own[number][name] = len(self.statics)
            if not text.startswith(("internal ", "private ")):
                self._external.setdefault(name, len(self.statics))
            self.statics.append(Declared(number, f"@{name}"))
            self.static_sizes.append(_static_size(text, module))

    def static(self, module: int, name: str) -> int | None:
        """The number of the variable that a name (without "@") means in a module."""
        return self._own[module].get(name, self._external.get(name))


def _member_row(member: MemberArray) -> tuple[int, ...]:
    whole = member.whole if member.offset is not None else 0
    return member.size, member.inside or 0, member.inside is not None, member.offset or 0, whole


def _static_size(text: str, module: Module) -> int:
    """Bytes of a variable from the text of its definition; 0: not known."""
    found = re.search(r"\b(?:global|constant) ", text)
    if found is None:
        return 0
    return known_size_of(text[found.end() : type_end(text, found.end())], module)


def _traits() -> Any:
    traits = np.zeros(1 + max(f.number for f in FUNCTIONS.values()), np.int32)
    for trait, names in _TRAITS.items():
        for name in filter(FUNCTIONS.get, names.split()):
            traits[FUNCTIONS[name].number] |= trait
    return traits


class _Scopes:
    """Lexical scopes of all modules under one numbering."""

    def __init__(self, program: Program) -> None:
        self._metadata = [module.metadata for module in program.modules]
        self._numbers: dict[tuple[int, int], int] = {}
        self.parents: list[int] = []

    def number(self, module: int, node: int) -> int:
        """The number of a scope, -1 for what is none."""
        key = (module, node)
        if key not in self._numbers:
            text = self._metadata[module].get(node, "")
            outer = re.search(r"[( ]scope: !(\d+)", text) if "!DILexicalBlock" in text else None
            if outer is None and "!DISubprogram" not in text:
                self._numbers[key] = NOTHING
            else:
                parent = self.number(module, int(outer[1])) if outer else NOTHING
                self._numbers[key] = len(self.parents)
                self.parents.append(parent)
        return self._numbers[key]


class _Function:
    """Fills the tables for one function."""

    def __init__(self, owner: Declarations, ref: FunctionRef, layout: Layout) -> None:
        self._owner, self._ref, self._layout = owner, ref, layout
        self._module = owner._program.modules[ref.module]
        self._definitions: dict[str, Instruction] = {
            i.result: i for b in ref.function.blocks for i in b.instructions if i.result
        }
        self._parameters = {p.text: n for n, p in enumerate(ref.function.parameters)}
        self._local_numbers: dict[str, int] = {}
        self._first_local = len(owner._locals)
        self._is_allocator = bool(owner.allocators[ref.id]["is_one"])
        self._site_numbers: dict[tuple[int, int], int] = {}
        self._member_arrays = MemberArrays(self._module, self._definitions) if owner.with_members else None

    def add(self, first_segment: int) -> None:
        """Append the function's rows; its segments begin at ``first_segment``."""
        self._add_locals()
        plan, segment_count = self._owner._plan, len(self._layout.segments)
        first = int(plan.segments[first_segment]["site_start"])
        end = int(plan.segments[first_segment + segment_count]["site_start"])
        for number in range(first, end):
            row = plan.sites[number]
            self._site_numbers[int(row["instruction"]) - self._ref.first_instruction, int(row["kind"])] = number
        number = first
        for segment in self._layout.segments:
            self._owner._place_starts.append(len(self._owner._places))
            for local, unit in segment.places:
                register, size = local.result or "", known_size_of(local.element_type, self._module)
                varies = 0 if is_frame_local(local) else 1 if register in self._declares else NEW_EACH_TIME
                self._owner._places.append((self._local_numbers[register], unit, size, varies))
            for site in segment.sites:
                self._add_site(number, site.kind, site.instruction, site.aux, site.size)
                number += 1

    # ---- Locals ----------------------------------------------------------------------------------------------------

    def _add_locals(self) -> None:
        """Number the locals whose addresses are recorded, then the copies of structure arguments."""
        for segment in self._layout.segments:
            for local, _ in segment.places:
                self._add_local(local.result or "", known_size_of(local.element_type, self._module), False)
        for parameter in self._ref.function.parameters:
            copied = next((a for a in parameter.attributes if a.startswith("byval(")), None)
            if copied:
                self._add_local(parameter.text, known_size_of(copied[len("byval(") : -1], self._module), True)

    def _add_local(self, register: str, size: int, copied: bool) -> None:
        owner = self._owner
        self._local_numbers[register] = len(self._local_numbers)
        owner.locals.append(Declared(self._ref.module, register, self._ref.id))
        owner._locals.append((size, self._block_of(register), copied))

    def _block_of(self, register: str) -> int:
        """The lexical block in which a local is declared; -1 where it lives as long as its function's call.

        So does one that the compiler keeps in the place of the result, which every `return` writes to.
        """
        if register == RESULT:
            return NOTHING
        pattern = re.compile(rf"\s*#dbg_declare\(ptr {re.escape(register)}, !(\d+), ")
        declared = (pattern.match(line) for line in self._declares.get(register, ()))
        node = next((int(found[1]) for found in declared if found), None)
        if node is None:
            return NOTHING
        scope = re.search(r"[( ]scope: !(\d+)", self._module.metadata.get(node, ""))
        number = self._owner._scopes.number(self._ref.module, int(scope[1])) if scope else NOTHING
        return number if number >= 0 and self._owner._scopes.parents[number] >= 0 else NOTHING

    @property
    def _declares(self) -> dict[str, list[str]]:
        if not hasattr(self, "_declared"):
            self._declared: dict[str, list[str]] = {}
            for block in self._ref.function.blocks:
                for line in block.lines:
                    if (start := line.find("#dbg_declare(ptr ")) >= 0:
                        name = line[start + len("#dbg_declare(ptr ") :].split(", !", 1)[0]
                        self._declared.setdefault(name, []).append(line)
        return self._declared

    # ---- Sites -----------------------------------------------------------------------------------------------------

    def _add_site(self, number: int, kind: Kind, instruction: Instruction, aux: int, size: int) -> None:
        """The sources behind one site."""
        row, operands = self._owner._sites[number], instruction.operands
        row["phi_start"] = len(self._owner._phis)
        if instruction.location is not None:
            row["scope"] = self._owner._scopes.number(self._ref.module, instruction.location.scope)
        if kind in {Kind.LOAD, Kind.RMW, Kind.COPY, Kind.SET}:
            self._put(row, "address", number, operands[0], Role.ADDRESS)
        if kind in {Kind.LOAD, Kind.STORE}:
            row["inside"] = self._is_inside(operands[kind is Kind.STORE], size)
            row["carries"] = kind is Kind.LOAD and instruction.type in POINTERS
        if kind is Kind.STORE:
            self._put(row, "address", number, operands[1], Role.ADDRESS)
            self._put_value(row, number, operands[0])
            row["old"] = self._kept(operands[0], operands[1])
        elif kind is Kind.COPY:
            self._put(row, "second", number, operands[1], Role.ADDRESS)
            row["separate"] = (instruction.callee or "").startswith("@llvm.memcpy")
        elif kind is Kind.ARG:
            self._put_value(row, number, operands[aux])
        elif kind is Kind.RET and operands:
            self._put_value(row, number, operands[0])
        elif kind is Kind.BYVAL:
            row["value"], row["value_target"] = Source.LOCAL, self._local_numbers[self._formal(aux)]
        elif kind is Kind.PHI:
            self._owner._phis += self._incoming(number, instruction)

    def _formal(self, number: int) -> str:
        return self._ref.function.parameters[number].text

    def _incoming(self, number: int, phi: Instruction) -> Iterator[tuple[int, ...]]:
        labels = {b.label: n for n, b in enumerate(self._ref.function.blocks)}
        for operand, label in zip(phi.operands, phi.labels, strict=True):
            pred = self._ref.first_block + labels[label]
            yield (pred, *self._source(number, operand, Role.VALUE, pred))

    def _put_value(self, row: Any, number: int, operand: Operand) -> None:
        """The source of what is stored, passed or returned, and which part of that it is."""
        self._put(row, "value", number, operand, Role.VALUE)
        made = self._definitions.get(operand.text)
        if made is not None and made.opcode == "extractvalue" and row["value"] == Source.SITE:
            indices = INDICES.findall(made.text.partition(", !")[0])
            path = [number for text in indices for number in text[2:].split(", ")]
            row["part"] = 1 + (offset_of(made.operands[0].type, ["0", *path], self._module) or 0)

    def _put(self, row: Any, name: str, number: int, operand: Operand, role: Role) -> None:
        row[name], row[f"{name}_target"], row[f"{name}_outer"] = self._source(number, operand, role, NOTHING)
        if self._member_arrays is None or not row[name]:
            return
        if self._member_arrays.goes_back(operand):
            row[f"{name}_member"] = TO_WHOLE
        elif (member := self._member_arrays.behind(operand)) is not None:
            self._owner.members.append((self._ref.module, member))
            row[f"{name}_member"] = len(self._owner.members)

    def _source(self, number: int, operand: Operand, role: Role, pred: int) -> tuple[int, int, int]:
        """Kind, target and outer block of what an operand's pointer comes from."""
        if operand.type not in POINTERS or self._is_allocator:
            return Source.NONE, NOTHING, 0
        made = self._definitions.get(operand.text)
        if made is not None and made.opcode == "select":
            one, other = (self._source(number, o, role, pred) for o in made.operands[1:])
            self._owner._pairs.append((*one, *other))
            return Source.EITHER, len(self._owner._pairs) - 1, 0
        kind, target = self._base(operand)
        if kind is not Source.SITE:
            return kind, target, 0
        refs = self._owner._plan.refs
        start, end = self._owner._plan.sites["ref_start"][number : number + 2]
        for ref in refs[start:end]:
            if ref["target"] == target and ref["outer"] != PARAMETER and ref["pred"] == pred and ref["role"] == role:
                return kind, target, int(ref["outer"])
        return Source.NONE, NOTHING, 0

    def _base(self, operand: Operand) -> tuple[Source, int]:
        """What a pointer was derived from by arithmetic and casts."""
        while True:
            text = operand.text
            if not operand.is_register:
                return self._constant(text)
            if text in self._local_numbers:
                return Source.LOCAL, self._local_numbers[text]
            if text in self._parameters:
                return Source.PARAMETER, self._parameters[text]
            made = self._definitions.get(text)
            if made is None:
                return Source.NONE, NOTHING
            if made.opcode in {"getelementptr", "bitcast", "addrspacecast", "ptrtoint", "inttoptr", "freeze"}:
                operand = made.operands[0]
                continue
            if made.opcode == "extractvalue":  # of what a call returned in registers, else of no pointer
                made = self._definitions.get(made.operands[0].text, made)
            site = (
                self._site_numbers.get((made.index, int(LEAF_KIND[made.opcode]))) if made.opcode in LEAF_KIND else None
            )
            return (Source.NONE, NOTHING) if site is None else (Source.SITE, site)

    def _is_inside(self, operand: Operand, size: int) -> bool:
        """Whether bytes at a constant place of a variable lie inside of it."""
        offset = 0
        while (made := self._definitions.get(operand.text)) is not None and made.opcode == "getelementptr":
            indices = [index.text for index in made.operands[1:]]
            try:
                step = offset_of(made.element_type, indices, self._module)
            except ProgramError:
                return False
            if step is None:
                return False
            offset, operand = offset + step, made.operands[0]
        return offset >= 0 and offset + size <= self._room(operand.text)

    def _room(self, text: str) -> int:
        """Bytes of the variable that an operand is the address of; 0: of none."""
        if text in self._local_numbers:
            varies = text in self._definitions and not is_frame_local(self._definitions[text])
            return 0 if varies else int(self._owner._locals[self._first_local + self._local_numbers[text]][0])
        number = self._owner.static(self._ref.module, text[1:]) if text.startswith("@") else None
        return 0 if number is None else self._owner.static_sizes[number]

    def _constant(self, text: str) -> tuple[Source, int]:
        """The variable that a constant address points into."""
        names = NAME.findall(text)
        if len(names) != 1 or (not text.startswith("@") and not text.startswith("getelementptr")):
            return Source.NONE, NOTHING
        number = self._owner.static(self._ref.module, names[0])
        return (Source.NONE, NOTHING) if number is None else (Source.STATIC, number)

    def _kept(self, value: Operand, pointer: Operand) -> int:
        """The load whose other bits a masked store puts back, as one of a bit-field does; -1: none."""
        combined = self._definitions.get(value.text)
        if combined is None or combined.opcode not in {"or", "and"}:
            return NOTHING
        masked = [combined] if combined.opcode == "and" else [self._definitions.get(o.text) for o in combined.operands]
        for part in masked:
            if part is None or part.opcode != "and" or part.operands[1].is_register:
                continue
            load = self._definitions.get(part.operands[0].text)
            if load is not None and load.opcode == "load" and load.operands[0].text == pointer.text:
                return self._site_numbers.get((load.index, int(Kind.LOAD)), NOTHING)
        return NOTHING
