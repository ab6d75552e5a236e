"""Makes the text of a program's variants: for each module, the IR with its probes.

Definitions that exist once in a program (the fingerprint, the counters) go into the last module, and variables into a
section behind all those of the program, so that the program's own keep their neighbours.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from enum import StrEnum
from functools import cache, partial
from itertools import repeat
from pathlib import Path
from typing import NamedTuple

from whence.build import memory as plain_memory
from whence.build.memory import UNKNOWN, Memory
from whence.probe import alter, suppress, suppress_hooks
from whence.probe.bare import without_debug
from whence.probe.behind import BEHIND, BEHIND_GROUP, placed
from whence.probe.compact import computed_functions, kept_units
from whence.probe.cover import PAGE_COUNTERS, counters_of, covered_lines, step_hooks
from whence.probe.defined import without_promises
from whence.probe.frame import Area, Framing
from whence.probe.plan import Numbering
from whence.probe.record import FRAME_ADDRESS, HOOKS, STEPS, Recorder, registers
from whence.probe.reorder import Movable
from whence.probe.sites import AlterPlan, Finder
from whence.probe.symbols import Renaming, program_renaming
from whence.probe.variables import address_table, address_tables
from whence.program.model import Function, Module
from whence.program.program import Program


class Variant(StrEnum):
    """What a variant is for."""

    COVER = "cover"
    RECORD = "record"
    COMPACT = "compact"  # records what cannot be worked out from the rest
    ALTER = "alter"
    REPLAY = "replay"  # alters and records
    SUPPRESS = "suppress"  # suppresses and records
    REORDER = "reorder"  # the same, with variables that can be laid out anew


@cache
def probes_version() -> str:
    """A hash of the code that makes variants' texts and says what they record: variants of another one are stale."""
    digest = hashlib.sha256()
    for path in (*sorted(Path(__file__).parent.glob("*.py")), Path(plain_memory.__file__)):
        digest.update(path.read_bytes())
    return digest.hexdigest()


COMPACT = "@__whence_compact = hidden constant i8 1"
COUNTED_ELSEWHERE = "@__whence_counters = external hidden global [0 x i32]"
OPENERS = ("open", "open64", "fopen", "fopen64")  # to show the same mappings in every run (runtime/alter/mappings.c)
ENDERS = ("exit", "atexit", "on_exit")  # to end continuations quickly (runtime/alter/exits.c)

# What a variant makes of a function: its text, and the locals that it keeps in registers.
FunctionLines = Callable[[Function], tuple[Iterable[str], Container[str]]]


def record_texts(
    program: Program,
    numbering: Numbering,
    wrapped: Iterable[str],
    memory: Sequence[Memory] = (),
    *,
    compact: bool = False,
) -> Iterator[str]:
    """The modules' texts for the record variant, or the compact one; library functions in ``wrapped`` are redirected to
    the runtime.

    ``memory`` tells for each module where the plain program keeps its variables, for this and all other variants.
    """
    names = program_renaming(_defined(program), wrapped)
    numbers = iter(range(len(program.functions)))
    kept = map(kept_units, computed_functions(program, numbering)) if compact else repeat(None)

    def lines(_: Function) -> tuple[Iterable[str], Container[str]]:
        number = next(numbers)
        layout = numbering.layouts[number]
        return Recorder(layout, numbering.first_segment[number], next(kept)).lines(), registers(layout)

    for index, module in enumerate(program.modules):
        extra = _record_extra(program, index, numbering)
        if module is program.modules[-1]:
            extra += [_fingerprint(program), *([COMPACT] if compact else [])]
        yield _rewrite(module, lines, Renaming(names), extra, _of(memory, index))


def cover_texts(
    program: Program, memory: Sequence[Memory] = (), numbering: Numbering | None = None, wrapped: Iterable[str] = ()
) -> Iterator[str]:
    """The modules' texts for the cover variant; one with threads has its ``numbering``, for its steps, and wrappers."""
    names = program_renaming(_defined(program), wrapped)
    numbers = iter(range(len(program.functions)))
    total = sum(counters_of(ref.function) for ref in program.functions)
    first = 0

    def lines(function: Function) -> tuple[Iterable[str], Container[str]]:
        nonlocal first
        start, first = first, first + counters_of(function)
        number = next(numbers)
        hooks = step_hooks(numbering.layouts[number], numbering.first_segment[number]) if numbering else {}
        return covered_lines(function, start, hooks), ()

    for index, module in enumerate(program.modules):
        last = module is program.modules[-1]
        extra = [_counters(total), _fingerprint(program)] if last else [COUNTED_ELSEWHERE]
        extra += [STEPS] if numbering else []
        yield _rewrite(module, lines, Renaming(names), extra, _of(memory, index))


def alter_texts(program: Program, plan: AlterPlan, memory: Sequence[Memory] = ()) -> Iterator[str]:
    """The modules' texts for the alter variant, with the sites of ``plan``."""
    names = program_renaming(_defined(program), (*OPENERS, *ENDERS))
    functions = iter(_altered_functions(program, plan))

    def lines(_: Function) -> tuple[Iterable[str], Container[str]]:
        return alter.altered_lines(next(functions)), ()

    for index, module in enumerate(program.modules):
        yield _rewrite(module, lines, Renaming(names), _alter_extra(program, index), _of(memory, index))


def replay_texts(
    program: Program, numbering: Numbering, plan: AlterPlan, wrapped: Iterable[str], memory: Sequence[Memory] = ()
) -> Iterator[str]:
    """The modules' texts for the variant that alters as ``alter_texts`` does and records what comes of it."""
    names = program_renaming(_defined(program), wrapped)
    functions = enumerate(_altered_functions(program, plan))

    def lines(_: Function) -> tuple[Iterable[str], Container[str]]:
        number, function = next(functions)
        layout = alter.altered_layout(numbering.layouts[number], function)
        return Recorder(layout, numbering.first_segment[number]).lines(), registers(layout)

    for index, module in enumerate(program.modules):
        extra = [*_record_extra(program, index, numbering), *_alter_extra(program, index)]
        yield _rewrite(module, lines, Renaming(names), extra, _of(memory, index))


def suppress_texts(
    program: Program,
    numbering: Numbering,
    wrapped: Iterable[str],
    memory: Sequence[Memory] = (),
    movable: Movable | None = None,
) -> Iterator[str]:
    """The modules' texts for the variant that suppresses instances and what depends on them, and records the run.

    With ``movable`` its variables can be laid out anew.
    """
    names = program_renaming(_defined(program), wrapped)
    functions = enumerate(_suppressed_functions(program))

    def lines(_: Function) -> tuple[Iterable[str], Container[str]]:
        number, function = next(functions)
        layout = alter.altered_layout(numbering.layouts[number], function)
        return Recorder(layout, numbering.first_segment[number]).lines(), registers(layout)

    for index, module in enumerate(program.modules):
        is_last = module is program.modules[-1]
        shared = suppress_hooks.points_of(program.block_count) if is_last else suppress_hooks.POINTS_ELSEWHERE
        extra = [*_record_extra(program, index, numbering), suppress_hooks.HOOKS, shared]
        if is_last:
            extra.append(_fingerprint(program))
        if movable is not None:
            extra.append(movable.definitions(is_last))
        yield _rewrite(module, lines, Renaming(names), extra, _of(memory, index), _moved(program, index, movable))


def _moved(program: Program, index: int, movable: Movable | None) -> _Moved | None:
    """What lets the variables of a module be moved."""
    if movable is None:
        return None
    numbers = {ref.function.name: ref.id for ref in program.functions if ref.module == index}
    return _Moved(
        lambda function, area: movable.area(numbers[function.name], area), lambda text: movable.line(index, text)
    )


class _Moved(NamedTuple):
    """How a module's areas and lines of variables become movable."""

    area: Callable[[Function, Area], Area]
    line: Callable[[str], str]


def _suppressed_functions(program: Program) -> Iterator[Function]:
    """The program's functions with taints, in order of number."""
    for ref in program.functions:
        defined = partial(_is_defined, program, ref.module)
        yield suppress.suppressed(ref.function, program.modules[ref.module], ref.first_block, defined)


def _is_defined(program: Program, module: int, name: str) -> bool:
    return program.resolve(module, name) is not None


def _altered_functions(program: Program, plan: AlterPlan) -> Iterator[Function]:
    """The program's functions with hooks, in order of number."""
    finders = [Finder(module) for module in program.modules]
    first_sites = plan.sites["function"].searchsorted(range(len(program.functions))).tolist()
    for ref, first_site in zip(program.functions, first_sites, strict=True):
        yield alter.altered(ref.function, finders[ref.module], first_site, ref.first_block)


def _alter_extra(program: Program, module: int) -> list[str]:
    """What the hooks need in a module; the last one defines what all share."""
    if module < len(program.modules) - 1:
        return [alter.HOOKS, alter.ARMED_ELSEWHERE]
    return [alter.HOOKS, alter.armed_blocks(program.block_count), _fingerprint(program)]


def _record_extra(program: Program, index: int, numbering: Numbering) -> list[str]:
    """What the recorder's probes need in a module; the last one defines what all share."""
    module = program.modules[index]
    extra = [HOOKS] if "llvm.frameaddress.p0" in module.declarations else [HOOKS, FRAME_ADDRESS]
    extra.append(address_table(module, index))
    extra += [STEPS] if numbering.has_steps else []
    if module is program.modules[-1]:
        extra += address_tables(index + 1)
    return extra


def _defined(program: Program) -> set[str]:
    """All functions and variables that the program defines, for one module or for all."""
    globals_of = (module.globals.items() for module in program.modules)
    variables = {name for found in globals_of for name, text in found if not text.startswith("external ")}
    return {ref.function.name for ref in program.functions} | variables


def _fingerprint(program: Program) -> str:
    value = program.fingerprint()
    return f"@__whence_fingerprint = hidden constant i64 {value - (1 << 64) if value >> 63 else value}"


def _counters(total: int) -> str:
    """The counters, in whole pages that a shared file can take the place of, and their size in bytes."""
    padded = -(-max(total, 1) // PAGE_COUNTERS) * PAGE_COUNTERS
    array = f"@__whence_counters = hidden global [{padded} x i32] zeroinitializer, align 4096 {BEHIND}"
    return f"{array}\n@__whence_counter_bytes = hidden constant i64 {4 * padded}"


def _of(memory: Sequence[Memory], module: int) -> Memory:
    """A module's memory; nothing is known of it where the variant need not be laid out like the program."""
    return memory[module] if memory else UNKNOWN


def _rewrite(
    module: Module,
    lines: FunctionLines,
    names: Renaming,
    extra: list[str],
    memory: Memory,
    moved: _Moved | None = None,
) -> str:
    """A module's text with every function rewritten, without debug information, symbols renamed, ``extra`` added."""
    text: list[str] = []
    framing = Framing(module, memory.frames, moved.area if moved else None)
    for chunk in module.chunks:
        if isinstance(chunk, Function):
            text += framing.lines(chunk, *lines(chunk))
        else:
            line = placed(chunk, memory.variables)
            text.append(without_promises(moved.line(line) if moved else line))
    return "\n".join([*map(names.line, without_debug(text)), *extra, BEHIND_GROUP, ""])
