"""The record variant: every block, load, store, argument and result written to the trace.

Lines are inserted, nothing is changed. A segment's words are reserved by one call of an always-inline function, so that
the blocks of the text stay whole (LLVM splits them when it inlines, and mends the phis); everything else is straight-line
stores at fixed offsets. An access whose pointer could be wrong has its address written before it happens, behind a
compiler barrier, so that a crash leaves the address of the access that crashed.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from whence.probe.layout import Kind, Layout, Segment, Site
from whence.program.model import Block, Function, Instruction

STARTS_BLOCK = 1 << 52
BARRIER = 'call void asm sideeffect "", "~{memory}"()'

FRAME_ADDRESS = "declare ptr @llvm.frameaddress.p0(i32 immarg)"
HOOKS = """
@__whence_cursor = external thread_local(initialexec) global ptr
@__whence_end = external thread_local(initialexec) global ptr
declare ptr @whence_refill(i64) nounwind
define internal ptr @__whence_reserve(i64 %header, i64 %bytes) alwaysinline nounwind {
  %cursor = load ptr, ptr @__whence_cursor, align 8
  %next = getelementptr i8, ptr %cursor, i64 %bytes
  %end = load ptr, ptr @__whence_end, align 8
  %fits = icmp ule ptr %next, %end
  br i1 %fits, label %fast, label %slow, !prof !{!"branch_weights", i32 100000, i32 1}
fast:
  store ptr %next, ptr @__whence_cursor, align 8
  br label %done
slow:
  %fresh = call ptr @whence_refill(i64 %bytes)
  br label %done
done:
  %place = phi ptr [ %cursor, %fast ], [ %fresh, %slow ]
  store i64 %header, ptr %place, align 8
  ret ptr %place
}
"""


class Recorder:
    """Rewrites one function: ``first_segment`` is the number of its first segment in the program."""

    def __init__(self, layout: Layout, first_segment: int) -> None:
        self._layout = layout
        self._first = first_segment
        self._fresh = 0
        self._safe = _safe_pointers(layout.function)

    def lines(self) -> Iterator[str]:
        """The function's text with the probes inserted."""
        function = self._layout.function
        yield function.header
        numbered = enumerate(self._layout.segments, self._first)
        for number, segments in groupby(numbered, key=lambda pair: pair[1].block):
            yield from self._block(function.blocks[number], list(segments))
        yield "}"

    def _block(self, block: Block, segments: list[tuple[int, Segment]]) -> Iterator[str]:
        """One block's lines, each instruction with what belongs before and behind it."""
        if block.header:
            yield block.header
        before, behind = self._insertions(block, segments)
        bounds = [*block.positions, len(block.lines)]
        yield from block.lines[: bounds[0]]
        for instruction, start, end in zip(block.instructions, bounds, bounds[1:], strict=False):
            yield from before.get(instruction.index, ())
            yield from block.lines[start:end]
            yield from behind.get(instruction.index, ())

    def _insertions(
        self, block: Block, segments: list[tuple[int, Segment]]
    ) -> tuple[dict[int, list[str]], dict[int, list[str]]]:
        """The lines to insert before and behind the block's instructions, by their index."""
        before: dict[int, list[str]] = {}
        behind: dict[int, list[str]] = {}
        for number, segment in segments:
            place = self._name()
            header = segment.words | number << 20 | (STARTS_BLOCK if segment.first else 0)
            start = [f"{place} = call ptr @__whence_reserve(i64 {header}, i64 {8 * segment.words})"]
            start += self._own_words(segment, place)
            for site in segment.sites:
                self._probe(site, place, start if site.kind is Kind.BYVAL else None, before, behind)
            anchor = self._anchor(block, segment)
            if anchor is None:
                behind.setdefault(segment.after.index if segment.after else 0, [])[:0] = start
            else:
                before.setdefault(anchor, [])[:0] = start
        return before, behind

    def _anchor(self, block: Block, segment: Segment) -> int | None:
        """The instruction before which the segment starts; None: behind the call that it follows."""
        if segment.after is not None:
            return None
        if not segment.first:
            return segment.sites[0].instruction.index
        for instruction in block.instructions:
            if instruction.opcode != "phi" and not (segment.entry and instruction.opcode == "alloca"):
                return instruction.index
        raise AssertionError("a block has a terminator")

    def _own_words(self, segment: Segment, place: str) -> list[str]:
        """The function's address and the frame's, where the segment records them; and the entry's barrier."""
        lines: list[str] = []
        word = 1
        if segment.address:
            name = self._layout.function.header.split("@", 1)[1].split("(", 1)[0]
            lines += self._put(place, word, "ptr", f"@{name}")
            word += 1
        if segment.frame:
            frame = self._name()
            lines.append(f"{frame} = call ptr @llvm.frameaddress.p0(i32 0)")
            lines += self._put(place, word, "ptr", frame)
        if segment.entry:
            lines += self._unknown_contents()
        return lines

    def _unknown_contents(self) -> list[str]:
        """Makes what the locals hold at entry unknown to the optimiser: a read before any write gives the stack's bytes."""
        entry = self._layout.function.blocks[0]
        slots = [i.result for i in entry.instructions if i.opcode == "alloca" and not i.operands]
        written = _first_written(entry)
        return [
            f'call void asm sideeffect "", "r,~{{memory}}"(ptr {slot})'
            for slot in slots
            if slot and slot not in written
        ]

    def _probe(
        self,
        site: Site,
        place: str,
        entry: list[str] | None,
        before: dict[int, list[str]],
        behind: dict[int, list[str]],
    ) -> None:
        """Add the lines of one site."""
        if not site.words:
            return
        instruction = site.instruction
        if entry is not None:
            parameter = self._layout.function.parameters[site.aux]
            entry += self._put(place, site.word, "ptr", parameter.text)
            return
        ahead = before.setdefault(instruction.index, [])
        after = behind.setdefault(instruction.index, [])
        kind = site.kind
        if kind is Kind.LOAD or kind is Kind.RMW:
            ahead += self._address(place, site.word, instruction)
            value = self._loaded(instruction, after)
            if site.words > 1:
                after += self._put(place, site.word + 1, value[0], value[1])
        elif kind is Kind.STORE:
            ahead += self._address(place, site.word, instruction)
            if site.words > 1:
                after += self._put(place, site.word + 1, instruction.type, instruction.operands[0].text)
        elif kind in {Kind.COPY, Kind.SET}:
            ahead += self._memory_intrinsic(place, site)
        elif kind is Kind.VASTART:
            after += self._va_start(place, site)
        elif kind is Kind.ARG:
            argument = instruction.operands[site.aux]
            ahead += self._put(place, site.word, argument.type, argument.text)
        elif kind is Kind.CALL:
            ahead += self._put(place, site.word, "ptr", instruction.callee or "null")
        elif kind is Kind.RESULT:
            after += self._put(place, site.word, instruction.type, instruction.result or "")

    def _address(self, place: str, word: int, instruction: Instruction) -> list[str]:
        """Writes the address that a load, store or atomic operation goes to."""
        pointer = instruction.operands[1] if instruction.opcode == "store" else instruction.operands[0]
        lines = self._put(place, word, "ptr", pointer.text)
        if pointer.text not in self._safe and pointer.is_register:
            lines.append(BARRIER)
        return lines

    def _loaded(self, instruction: Instruction, after: list[str]) -> tuple[str, str]:
        """Type and register of the value that was in memory; a cmpxchg has it in a pair."""
        if instruction.opcode != "cmpxchg":
            return instruction.type, instruction.result or ""
        old = self._name()
        after.append(f"{old} = extractvalue {instruction.type} {instruction.result}, 0")
        return instruction.operands[1].type, old

    def _memory_intrinsic(self, place: str, site: Site) -> list[str]:
        """Destination, source (or byte) and length of a copy or fill."""
        operands = site.instruction.operands
        length = operands[2] if len(operands) > 2 else None
        lines: list[str] = []
        if site.kind is Kind.COPY:
            lines += self._put(place, site.word, "ptr", operands[0].text)
            lines += self._put(place, site.word + 1, "ptr", operands[1].text)
            count = (length.type, length.text) if length else ("i64", "24")  # a va_list has 24 bytes
            lines += self._put(place, site.word + 2, *count)
        else:
            lines += self._put(place, site.word, "ptr", operands[0].text)
            lines += self._put(place, site.word + 1, operands[2].type, operands[2].text)
            lines += self._put(place, site.word + 2, operands[1].type, operands[1].text)
        lines.append(BARRIER)
        return lines

    def _va_start(self, place: str, site: Site) -> list[str]:
        """Where the list lies, its offsets word, and the two areas that the variadic arguments were put into."""
        pointer = site.instruction.operands[0].text
        lines = self._put(place, site.word, "ptr", pointer)
        for index in range(3):
            field, value = self._name(), self._name()
            lines.append(f"{field} = getelementptr i64, ptr {pointer}, i64 {index}")
            lines.append(f"{value} = load i64, ptr {field}, align 8")
            lines += self._put(place, site.word + 1 + index, "i64", value)
        return lines

    def _put(self, place: str, word: int, type_text: str, value: str) -> list[str]:
        """Lines that write a scalar's bits at a word of the segment (two words above 64 bits)."""
        lines: list[str] = []
        bits = self._bits(type_text, value, lines)
        for offset, word_value in enumerate(bits):
            slot = self._name()
            lines.append(f"{slot} = getelementptr inbounds i64, ptr {place}, i64 {word + offset}")
            lines.append(f"store i64 {word_value}, ptr {slot}, align 8")
        return lines

    def _bits(self, type_text: str, value: str, lines: list[str]) -> list[str]:
        """The value's bits as one or two i64 values; conversions are appended to ``lines``."""
        if type_text == "i64":
            return [value]
        result = self._name()
        if type_text == "ptr":
            lines.append(f"{result} = ptrtoint ptr {value} to i64")
            return [result]
        width = FLOAT_BITS.get(type_text)
        if width is not None:
            lines.append(f"{result} = bitcast {type_text} {value} to i{width}")
            value, result = result, self._name()
        else:
            width = int(type_text[1:])
        if width == 64:
            return [value]
        if width < 64:
            lines.append(f"{result} = zext i{width} {value} to i64")
            return [result]
        shifted, high = self._name(), self._name()
        lines.append(f"{result} = trunc i{width} {value} to i64")
        lines.append(f"{shifted} = lshr i{width} {value}, 64")
        lines.append(f"{high} = trunc i{width} {shifted} to i64")
        return [result, high]

    def _name(self) -> str:
        self._fresh += 1
        return f"%whence.{self._fresh}"


FLOAT_BITS = {"half": 16, "bfloat": 16, "float": 32, "double": 64, "x86_fp80": 80, "fp128": 128}


def _safe_pointers(function: Function) -> frozenset[str]:
    """Registers that surely point to memory: the entry's allocas."""
    return frozenset(i.result for i in function.blocks[0].instructions if i.opcode == "alloca" and i.result)


def _first_written(entry: Block) -> frozenset[str]:
    """Allocas of the entry whose first use there is a plain store of their whole type."""
    allocas = {i.result: i.element_type for i in entry.instructions if i.opcode == "alloca"}
    written: set[str] = set()
    used: set[str] = set()
    for instruction in entry.instructions:
        operands = instruction.operands
        if instruction.opcode == "store" and operands[1].text in allocas:
            slot = operands[1].text
            if slot not in used and instruction.type == allocas[slot]:
                written.add(slot)
        used.update(o.text for o in operands)
    return frozenset(written)
