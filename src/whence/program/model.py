"""The static view of a program: modules, functions, blocks and instructions as plain objects.

The reader (``reader.py``) makes these from the canonical text that llvmlite prints. Every instruction keeps
its text, so a module can be printed back without loss, and a probe inserts lines between instructions instead
of changing them.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True, frozen=True)
class Location:
    """A place in the C source: ``file`` as absolute path (or as the compiler saw it), 1-based line and
    column.

    ``line`` is 0 for code that the compiler made up. ``scope`` is the number of the metadata node of the
    lexical scope, which decides which variables are visible.
    """

    file: str
    line: int
    column: int
    scope: int


@dataclass(slots=True, frozen=True)
class Operand:
    """A typed operand: ``text`` is ``%x``, ``@g``, a constant or a constant expression.

    ``attributes`` holds parameter attributes of a call argument or formal (``byval(%struct.P)``,
    ``sret(...)``).
    """

    type: str
    text: str
    attributes: tuple[str, ...] = ()

    @property
    def is_register(self) -> bool:
        """Whether the operand is a local value of the function (an instruction's result or a parameter)."""
        return self.text.startswith("%")


@dataclass(slots=True)
class Instruction:
    """One IR instruction.

    ``operands`` by opcode: load ``(pointer,)``; store ``(value, pointer)``; binary, icmp, fcmp
    ``(left, right)``; conversions ``(value,)``; getelementptr ``(base, *indices)``; select
    ``(condition, if_true, if_false)``; phi: the incoming values, ``labels`` their blocks in the same order;
    br: ``()`` or ``(condition,)`` with ``labels`` the successors; switch ``(value, *case constants)`` with
    ``labels`` the default first, then one a case; indirectbr ``(address,)``; ret ``()`` or ``(value,)``;
    call: the arguments, with ``callee`` ``@f``, ``%p``, ``asm`` or a constant expression; atomicrmw
    ``(pointer, value)``; cmpxchg ``(pointer, expected, new)``; alloca ``()`` or ``(count,)``.
    """

    text: str  # as printed, without indentation; several lines for a switch
    opcode: str
    result: str | None  # "%x", or None
    type: str  # of the result; "void" where there is none; for a store the type stored
    operands: tuple[Operand, ...] = ()
    labels: tuple[str, ...] = ()  # without the leading "%"
    callee: str | None = None
    predicate: str = ""  # icmp and fcmp; the operation of an atomicrmw
    element_type: str = ""  # alloca: allocated; getelementptr: source; call: function type when variadic
    volatile: bool = False
    location: Location | None = None
    index: int = -1  # position in the function, in the order of the text

    @property
    def is_terminator(self) -> bool:
        """Whether the instruction ends its block."""
        return self.opcode in TERMINATORS


TERMINATORS = frozenset({"br", "switch", "indirectbr", "ret", "unreachable", "callbr", "invoke", "resume"})


@dataclass(slots=True)
class Block:
    """A basic block: label without "%", and instructions with the terminator last.

    ``lines`` are the body's lines as printed (instructions and debug records), so that printing loses
    nothing. ``positions[i]`` is the index in ``lines`` of the first line of ``instructions[i]``.
    """

    label: str
    header: str  # the label's line as printed ("entry:", "for.cond:  ; preds = ..."); "" for an unnamed entry
    lines: list[str] = field(default_factory=list)
    instructions: list[Instruction] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)

    @property
    def terminator(self) -> Instruction:
        """The block's last instruction."""
        return self.instructions[-1]

    @property
    def successors(self) -> tuple[str, ...]:
        """Labels of the blocks that control can reach next, without repetition, in the terminator's order."""
        return tuple(dict.fromkeys(self.terminator.labels))


@dataclass(slots=True)
class Function:
    """A function definition: ``name`` without "@", formals as operands, blocks with the entry first."""

    name: str
    header: str  # the "define ... {" line
    return_type: str
    parameters: tuple[Operand, ...]
    variadic: bool
    internal: bool
    subprogram: int | None  # metadata number of its DISubprogram
    blocks: list[Block] = field(default_factory=list)

    def instructions(self) -> list[Instruction]:
        """All instructions in the order of the text."""
        return [i for b in self.blocks for i in b.instructions]


@dataclass(slots=True)
class Declaration:
    """A function that is declared and defined elsewhere."""

    name: str
    text: str
    return_type: str
    parameters: tuple[Operand, ...]
    variadic: bool


@dataclass(slots=True)
class Module:
    """A module of IR: ``chunks`` holds its text in order, each either a line or a ``Function``."""

    name: str
    source: str  # the source file named by the compile unit, absolute where known
    chunks: list[str | Function] = field(default_factory=list)
    functions: dict[str, Function] = field(default_factory=dict)
    declarations: dict[str, Declaration] = field(default_factory=dict)
    globals: dict[str, str] = field(default_factory=dict)  # name without "@" -> the rest of its line
    types: dict[str, str] = field(default_factory=dict)  # "%struct.P" -> "{ i32, [8 x i8] }"
    metadata: dict[int, str] = field(default_factory=dict)  # number -> text after "!N = "
    datalayout: str = ""
    triple: str = ""
    # kept by types.py: type -> store size, alloc size, alignment
    layouts: dict[str, tuple[int, int, int]] = field(default_factory=dict, repr=False, compare=False)
