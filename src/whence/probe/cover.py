"""The cover variant: a counter for each block and for each side of a two-way branch.

Counters are volatile, so that no optimisation moves an increment out of a loop: a killed run keeps its counts. They
lie in one array of whole pages that the runtime maps onto a shared file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from whence.probe.defined import defined
from whence.probe.layout import Layout
from whence.probe.record import step_line
from whence.program.model import Block, Function, Instruction

PAGE_COUNTERS = 1024  # counters of 4 bytes in a page of 4096


@dataclass(slots=True, frozen=True)
class Side:
    """A side of a two-way branch: the branch, and whether its condition was true."""

    instruction: Instruction
    taken: bool


def branch_sides(block: Block) -> tuple[Side, ...]:
    """The sides of the block's branch that have counters of their own: (false, true) of a conditional branch."""
    terminator = block.terminator
    if terminator.opcode != "br" or not terminator.operands:
        return ()
    return Side(terminator, False), Side(terminator, True)


def counters_of(function: Function) -> int:
    """How many counters the function has: one a block, then one a branch side, in the order of the text."""
    return len(function.blocks) + sum(len(branch_sides(b)) for b in function.blocks)


def covered_lines(function: Function, first_counter: int, hooks: Mapping[int, str] = {}) -> Iterator[str]:
    """The function's text with its counters; they start at ``first_counter``.

    ``hooks`` are lines to insert, by the index of the instruction before which they come.
    """
    yield function.header
    side = first_counter + len(function.blocks)
    for number, block in enumerate(function.blocks):
        if block.header:
            yield block.header
        anchor = _anchor(block, number == 0)
        last = block.positions[-1]
        pairs = zip(block.instructions, block.positions, strict=True)
        here = {position: hooks[i.index] for i, position in pairs if i.index in hooks}
        yield from _defined(block.lines[:anchor], number, 0, here)
        yield from _increment(f"i64 {first_counter + number}", f"b{number}")
        if branch_sides(block):
            yield from _defined(block.lines[anchor:last], number, anchor, here)
            yield f"%whence.s{number} = zext i1 {block.terminator.operands[0].text} to i64"
            yield f"%whence.i{number} = add i64 %whence.s{number}, {side}"
            yield from _increment(f"i64 %whence.i{number}", f"e{number}")
            yield from block.lines[last:]
            side += 2
        else:
            yield from _defined(block.lines[anchor:], number, anchor, here)
    yield "}"


def step_hooks(layout: Layout, first_segment: int) -> dict[int, str]:
    """What ``covered_lines`` inserts where the function's steps are; ``first_segment``: the number of its first one."""
    hooks: dict[int, str] = {}
    for number, segment in enumerate(layout.segments, first_segment):
        if segment.step:
            anchor = segment.anchor(layout.function.blocks[segment.block])
            behind = segment.after.index + 1 if segment.after else 0
            hooks[behind if anchor is None else anchor] = step_line(number)
    return hooks


def _defined(lines: Sequence[str], block: int, first: int, hooks: Mapping[int, str]) -> Iterator[str]:
    """Lines of a block from its line ``first`` on, with their meaning at -O0, and with what comes before them."""
    for place, line in enumerate(lines, first):
        if place in hooks:
            yield hooks[place]
        yield from defined(line, f"%whence.u{block}.{place}")


def _anchor(block: Block, entry: bool) -> int:
    """The line before which the block's counter is incremented: behind phis and the entry's allocas."""
    for instruction, position in zip(block.instructions, block.positions, strict=True):
        if instruction.opcode != "phi" and not (entry and instruction.opcode == "alloca"):
            return position
    raise AssertionError("a block has a terminator")


def _increment(index: str, name: str) -> Iterator[str]:
    """Lines that add one to a counter."""
    pointer, old, new = f"%whence.p{name}", f"%whence.o{name}", f"%whence.n{name}"
    yield f"{pointer} = getelementptr i32, ptr @__whence_counters, {index}"
    yield f"{old} = load volatile i32, ptr {pointer}, align 4"
    yield f"{new} = add i32 {old}, 1"
    yield f"store volatile i32 {new}, ptr {pointer}, align 4"
