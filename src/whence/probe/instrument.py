"""Makes the text of a program's variants: for each module, the IR with its probes.

Definitions that exist once in a program (the fingerprint, the counters) go into the first module.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from functools import cache
from pathlib import Path

from whence.probe import alter
from whence.probe.bare import without_debug
from whence.probe.cover import PAGE_COUNTERS, counters_of, covered_lines
from whence.probe.defined import without_promises
from whence.probe.plan import Numbering
from whence.probe.record import FRAME_ADDRESS, HOOKS, Recorder
from whence.probe.sites import AlterPlan, Finder
from whence.probe.symbols import Renaming, program_renaming
from whence.program.model import Function, Module
from whence.program.program import Program


class Variant(StrEnum):
    """What a variant is for."""

    COVER = "cover"
    RECORD = "record"
    ALTER = "alter"
    REPLAY = "replay"  # alters and records


@cache
def probes_version() -> str:
    """A hash of the code that makes variants' texts and says what they record: variants of another one are stale."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


OPENERS = ("open", "open64", "fopen", "fopen64")  # to show the same list of mappings in every run (runtime/mappings.c)
ENDERS = ("exit", "atexit", "on_exit")  # to end continuations quickly (runtime/exits.c)

FunctionLines = Callable[[Function], Iterable[str]]


def record_texts(program: Program, numbering: Numbering, wrapped: Iterable[str]) -> Iterator[str]:
    """The modules' texts for the record variant; library functions in ``wrapped`` are redirected to the runtime."""
    names = program_renaming(_defined(program), wrapped)
    numbers = iter(range(len(program.functions)))

    def lines(function: Function) -> Iterable[str]:
        number = next(numbers)
        return Recorder(numbering.layouts[number], numbering.first_segment[number]).lines()

    for index, module in enumerate(program.modules):
        extra = _record_extra(module)
        if index == 0:
            extra.append(_fingerprint(program))
        yield _rewrite(module, lines, Renaming(names), extra)


def cover_texts(program: Program) -> Iterator[str]:
    """The modules' texts for the cover variant."""
    names = program_renaming(_defined(program), ())
    total = sum(counters_of(ref.function) for ref in program.functions)
    first = 0

    def lines(function: Function) -> Iterable[str]:
        nonlocal first
        start, first = first, first + counters_of(function)
        return covered_lines(function, start)

    for index, module in enumerate(program.modules):
        counters = _counters(total) if index == 0 else "@__whence_counters = external hidden global [0 x i32]"
        extra = [counters, _fingerprint(program)] if index == 0 else [counters]
        yield _rewrite(module, lines, Renaming(names), extra)


def alter_texts(program: Program, plan: AlterPlan) -> Iterator[str]:
    """The modules' texts for the alter variant, with the sites of ``plan``."""
    names = program_renaming(_defined(program), (*OPENERS, *ENDERS))
    functions = iter(_altered_functions(program, plan))
    for index, module in enumerate(program.modules):
        extra = _alter_extra(program, index)
        yield _rewrite(module, lambda _: alter.altered_lines(next(functions)), Renaming(names), extra)


def replay_texts(program: Program, numbering: Numbering, plan: AlterPlan, wrapped: Iterable[str]) -> Iterator[str]:
    """The modules' texts for the variant that alters as ``alter_texts`` does and records what comes of it."""
    names = program_renaming(_defined(program), wrapped)
    functions = enumerate(_altered_functions(program, plan))

    def lines(_: Function) -> Iterable[str]:
        number, function = next(functions)
        layout = alter.altered_layout(numbering.layouts[number], function)
        return Recorder(layout, numbering.first_segment[number]).lines()

    for index, module in enumerate(program.modules):
        extra = [*_record_extra(module), *_alter_extra(program, index)]
        yield _rewrite(module, lines, Renaming(names), extra)


def _altered_functions(program: Program, plan: AlterPlan) -> Iterator[Function]:
    """The program's functions with hooks, in order of number."""
    finders = [Finder(module) for module in program.modules]
    first_sites = plan.sites["function"].searchsorted(range(len(program.functions))).tolist()
    for ref, first_site in zip(program.functions, first_sites, strict=True):
        yield alter.altered(ref.function, finders[ref.module], first_site, ref.first_block)


def _alter_extra(program: Program, module: int) -> list[str]:
    """What the hooks need in a module; the first one defines what all share."""
    if module:
        return [alter.HOOKS, alter.ARMED_ELSEWHERE]
    return [alter.HOOKS, alter.armed_blocks(program.block_count), _fingerprint(program)]


def _record_extra(module: Module) -> list[str]:
    """What the recorder's probes need in a module."""
    return [HOOKS] if "llvm.frameaddress.p0" in module.declarations else [HOOKS, FRAME_ADDRESS]


def _defined(program: Program) -> set[str]:
    """All functions that the program defines, for one module or for all."""
    return {ref.function.name for ref in program.functions}


def _fingerprint(program: Program) -> str:
    value = program.fingerprint()
    return f"@__whence_fingerprint = hidden constant i64 {value - (1 << 64) if value >> 63 else value}"


def _counters(total: int) -> str:
    """The counters, in whole pages that a shared file can take the place of, and their size in bytes."""
    padded = -(-max(total, 1) // PAGE_COUNTERS) * PAGE_COUNTERS
    array = f"@__whence_counters = hidden global [{padded} x i32] zeroinitializer, align 4096"
    return f"{array}\n@__whence_counter_bytes = hidden constant i64 {4 * padded}"


def _rewrite(module: Module, lines: FunctionLines, names: Renaming, extra: list[str]) -> str:
    """A module's text with every function rewritten, without debug information, symbols renamed, ``extra`` added."""
    text: list[str] = []
    for chunk in module.chunks:
        if isinstance(chunk, Function):
            text += lines(chunk)
        else:
            text.append(without_promises(chunk))
    return "\n".join([*map(names.line, without_debug(text)), *extra, ""])
