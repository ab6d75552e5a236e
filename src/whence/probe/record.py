"""The record variant: every block, load, store, argument and result written to the trace.

Lines are inserted, and made to mean what -O0 makes of them (``defined.py``). A segment's words are reserved by one
call of an always-inline function, so that the blocks of the text stay whole (LLVM splits them when it inlines, and
mends the phis); everything else is straight-line stores at fixed offsets. An access whose pointer could be wrong has
its address written before it happens, behind a compiler barrier, so that a crash leaves the address of the access
that crashed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from whence.probe.compact import Kept
from whence.probe.defined import defined
from whence.probe.layout import ADDRESS_UNITS, CONDITIONAL, NO_SLOT, Kind, Layout, Segment, Site, is_frame_local
from whence.program.model import Block, Function, Instruction, Operand

UNIT = 4  # bytes

BARRIER = 'call void asm sideeffect "", "~{memory}"()'

FRAME_ADDRESS = "declare ptr @llvm.frameaddress.p0(i32 immarg)"
# Room is claimed by a single instruction: a signal handler that comes before it claims its own first, one that comes
# after it goes on behind. The cursor's place in the thread's variables is found once for each function.
_CURSOR = 'asm "movq __whence_cursor@GOTTPOFF(%rip), $0", "=r"() memory(none) nounwind willreturn'
_CLAIM = 'asm sideeffect "xaddq $0, %fs:($2)", "=r,0,r,~{flags}"'
HOOKS = f"""
@__whence_end = external thread_local(initialexec) global ptr
declare ptr @whence_refill(i64, ptr) nounwind
define internal ptr @__whence_reserve(i32 %header, i64 %bytes) alwaysinline nounwind {{
entry:
  %variable = call i64 {_CURSOR}
  %before = call i64 {_CLAIM}(i64 %bytes, i64 %variable) memory(inaccessiblemem: readwrite) nounwind willreturn
  %cursor = inttoptr i64 %before to ptr
  %next = getelementptr i8, ptr %cursor, i64 %bytes
  %end = load ptr, ptr @__whence_end, align 8
  %fits = icmp ule ptr %next, %end
  br i1 %fits, label %done, label %slow, !prof !{{!"branch_weights", i32 100000, i32 1}}
slow:
  %fresh = call ptr @whence_refill(i64 %bytes, ptr %cursor)
  br label %done
done:
  %place = phi ptr [ %cursor, %entry ], [ %fresh, %slow ]
  store i32 %header, ptr %place, align 4
  ret ptr %place
}}
"""

STEPS = """
@__whence_left = external thread_local(initialexec) global i64
declare void @whence_step(i32) nounwind
define internal void @__whence_step(i32 %segment) alwaysinline nounwind {
  %left = load i64, ptr @__whence_left, align 8
  %less = sub i64 %left, 1
  store i64 %less, ptr @__whence_left, align 8
  %due = icmp eq i64 %less, 0
  br i1 %due, label %slow, label %done, !prof !{!"branch_weights", i32 1, i32 100000}
slow:
  call void @whence_step(i32 %segment)
  br label %done
done:
  ret void
}
"""


def step_line(segment: int) -> str:
    """The line before a segment that holds a step: here the thread's turn can end."""
    return f"call void @__whence_step(i32 {segment})"


class Recorder:
    """Rewrites one function: ``first_segment`` is the number of its first segment in the program.

    With ``kept`` only that is recorded of each segment.
    """

    def __init__(self, layout: Layout, first_segment: int, kept: Sequence[Kept] | None = None) -> None:
        self._layout = layout
        self._first = first_segment
        self._kept = kept
        self._places: Mapping[int, int] | None = None
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
            yield from defined(block.lines[start], self._name(), self._layout.slots)
            yield from block.lines[start + 1 : end]
            yield from behind.get(instruction.index, ())

    def _insertions(
        self, block: Block, segments: list[tuple[int, Segment]]
    ) -> tuple[dict[int, list[str]], dict[int, list[str]]]:
        """The lines to insert before and behind the block's instructions, by their index."""
        before: dict[int, list[str]] = {}
        behind: dict[int, list[str]] = {}
        for number, segment in segments:
            place = self._name()
            start = [step_line(number)] if segment.step else []
            units = segment.units
            if self._kept is not None:
                kept = self._kept[number - self._first]
                units, self._places = kept.units, kept.places
            if units:
                start += [f"{place} = call ptr @__whence_reserve(i32 {number + 1}, i64 {UNIT * units})"]
            start += self._own_units(segment, place)
            for site in segment.sites:
                self._probe(site, place, start if site.kind is Kind.BYVAL else None, before, behind)
            for local, unit in segment.places:
                lines = start if is_frame_local(local) else behind.setdefault(local.index, [])
                lines += self._put_wide(place, unit, [Operand("ptr", local.result or ""), *local.operands])
            anchor = segment.anchor(block)
            if anchor is None:
                behind.setdefault(segment.after.index if segment.after else 0, [])[:0] = start
            else:
                before.setdefault(anchor, [])[:0] = start
        return before, behind

    def _own_units(self, segment: Segment, place: str) -> list[str]:
        """The function's address and the frame's, where the segment records them; and the entry's barrier."""
        lines: list[str] = []
        unit = 1
        if segment.address:
            name = self._layout.function.header.split("@", 1)[1].split("(", 1)[0]
            lines += self._put(place, unit, "ptr", f"@{name}")
            unit += ADDRESS_UNITS
        if segment.frame:
            frame = self._name()
            lines.append(f"{frame} = call ptr @llvm.frameaddress.p0(i32 0)")
            lines += self._put(place, unit, "ptr", frame)
        if segment.entry:
            lines += self._unknown_contents()
        return lines

    def _unknown_contents(self) -> list[str]:
        """Hides from the optimiser what the locals hold at entry: a read before any write gives the stack's bytes."""
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
        if not site.units:
            return
        instruction = site.instruction
        if entry is not None:
            parameter = self._layout.function.parameters[site.aux]
            entry += self._put(place, site.unit, "ptr", parameter.text)
            return
        ahead = before.setdefault(instruction.index, [])
        after = behind.setdefault(instruction.index, [])
        kind = site.kind
        if kind in {Kind.LOAD, Kind.STORE, Kind.RMW}:
            self._access(site, place, ahead, after)
        elif kind in {Kind.COPY, Kind.SET}:
            ahead += self._memory_intrinsic(place, site)
        elif kind is Kind.VASTART:
            after += self._va_start(place, site)
        elif kind is Kind.ARG:
            argument = instruction.operands[site.aux]
            ahead += self._put(place, site.unit, argument.type, argument.text)
        elif kind is Kind.CALL:
            ahead += self._put(place, site.unit, "ptr", instruction.callee or "null")
        elif kind is Kind.RESULT:
            after += self._put(place, site.unit, instruction.type, instruction.result or "")

    def _access(self, site: Site, place: str, ahead: list[str], after: list[str]) -> None:
        """A load or store: its address before it, its value behind it; a private local's store has its value alone."""
        instruction, unit = site.instruction, site.unit
        units = site.units
        if site.kind is Kind.RMW or site.aux == NO_SLOT:
            ahead += self._address(place, unit, instruction)
            unit, units = unit + ADDRESS_UNITS, units - ADDRESS_UNITS
        if site.kind is Kind.RMW and site.aux == CONDITIONAL:
            after += self._exchanged(place, unit, units - 1, instruction)
        elif units and site.kind is Kind.STORE:
            after += self._put(place, unit, instruction.type, instruction.operands[0].text)
        elif units:
            after += self._put(place, unit, instruction.type, instruction.result or "")

    def _address(self, place: str, unit: int, instruction: Instruction) -> list[str]:
        """Writes the address that a load, store or atomic operation goes to."""
        pointer = instruction.operands[1] if instruction.opcode == "store" else instruction.operands[0]
        lines = self._put(place, unit, "ptr", pointer.text)
        if pointer.text not in self._safe and pointer.is_register:
            lines.append(BARRIER)
        return lines

    def _exchanged(self, place: str, unit: int, units: int, instruction: Instruction) -> list[str]:
        """A cmpxchg's result is a pair: the value that was in memory, and whether it was replaced."""
        old, done = self._name(), self._name()
        lines = [f"{old} = extractvalue {instruction.type} {instruction.result}, 0"] if units else []
        lines.append(f"{done} = extractvalue {instruction.type} {instruction.result}, 1")
        if units:
            lines += self._put(place, unit, instruction.operands[1].type, old)
        return lines + self._put(place, unit + units, "i1", done)

    def _memory_intrinsic(self, place: str, site: Site) -> list[str]:
        """Destination, source (or byte) and length of a copy or fill."""
        operands = site.instruction.operands
        if site.kind is Kind.SET:
            fields = [operands[0], operands[1], operands[2]]
        else:  # a va_list has 24 bytes
            fields = [operands[0], operands[1], operands[2] if len(operands) > 2 else Operand("i64", "24")]
        return [*self._put_wide(place, site.unit, fields), BARRIER]

    def _va_start(self, place: str, site: Site) -> list[str]:
        """Where the list lies, its offsets word, and the two areas that the variadic arguments were put into."""
        pointer = site.instruction.operands[0]
        lines: list[str] = []
        fields = [pointer]
        for index in range(3):
            field, value = self._name(), self._name()
            lines.append(f"{field} = getelementptr i64, ptr {pointer.text}, i64 {index}")
            lines.append(f"{value} = load i64, ptr {field}, align 8")
            fields.append(Operand("i64", value))
        return lines + self._put_wide(place, site.unit, fields)

    def _put_wide(self, place: str, unit: int, fields: list[Operand]) -> list[str]:
        """Lines that write integers or pointers one after the other, two units each."""
        lines: list[str] = []
        for number, operand in enumerate(fields):
            text, type_text = operand.text, operand.type
            if type_text not in {"ptr", "i64"}:
                text = self._name()
                lines.append(f"{text} = zext {type_text} {operand.text} to i64")
                type_text = "i64"
            lines += self._put(place, unit + ADDRESS_UNITS * number, type_text, text)
        return lines

    def _put(self, place: str, unit: int, type_text: str, value: str) -> list[str]:
        """Lines that write a scalar's bits at a unit of the segment: 1, 2 or 4 units by its size."""
        lines: list[str] = []
        if self._places is not None:
            if unit not in self._places:
                return lines
            unit = self._places[unit]
        for word_type, word in self._bits(type_text, value, lines):
            slot = self._name()
            lines.append(f"{slot} = getelementptr inbounds i32, ptr {place}, i64 {unit}")
            lines.append(f"store {word_type} {word}, ptr {slot}, align 4")
            unit += 2
        return lines

    def _bits(self, type_text: str, value: str, lines: list[str]) -> list[tuple[str, str]]:
        """The value's bits as one i32, or one or two i64; conversions are appended to ``lines``."""
        if type_text in {"i64", "i32", "ptr", "float", "double"}:
            return [(type_text, value)]
        width = FLOAT_BITS.get(type_text)
        if width is not None:
            lines.append(f"{(integer := self._name())} = bitcast {type_text} {value} to i{width}")
            value = integer
        else:
            width = int(type_text[1:])
        if width in {32, 64}:
            return [(f"i{width}", value)]
        result = self._name()
        if width < 64:
            target = "i32" if width < 32 else "i64"
            lines.append(f"{result} = zext i{width} {value} to {target}")
            return [(target, result)]
        shifted, high = self._name(), self._name()
        lines.append(f"{result} = trunc i{width} {value} to i64")
        lines.append(f"{shifted} = lshr i{width} {value}, 64")
        lines.append(f"{high} = trunc i{width} {shifted} to i64")
        return [("i64", result), ("i64", high)]

    def _name(self) -> str:
        self._fresh += 1
        return f"%whence.{self._fresh}"


FLOAT_BITS = {"half": 16, "bfloat": 16, "x86_fp80": 80, "fp128": 128}


def registers(layout: Layout) -> frozenset[str]:
    """The private locals that are written before anything else: what memory holds in their place is never seen."""
    return frozenset(layout.slots) & _first_written(layout.function.blocks[0])


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
