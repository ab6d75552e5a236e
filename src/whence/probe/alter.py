"""The alter variant: a hook at every block and every site, which can give a value another one.

A block's hook counts the clock and asks whether anything is to happen in this block instance; if not, which is nearly
always, every site in it costs a test of one register. Hooks keep the names of results: what was ``%5`` is computed as
``%whence.a1``, and ``%5`` is what the hook makes of it, so that all later uses see the altered value. An operand's
hook stands in front of the instruction, whose text then names the hook's result.

``altered`` changes a function into one with hooks, which is printed (``altered_lines``) or goes on to the recorder.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from whence.probe.behind import BEHIND
from whence.probe.defined import defined
from whence.probe.layout import Layout
from whence.probe.sites import TYPES, Finder, Form, Point, Role
from whence.program.model import Block, Function, Instruction, Operand
from whence.program.syntax import closing, split

BLOCKS_ALIGNED = 64  # the array of armed blocks has a multiple of this many bytes

_COMPUTED = {Role.BINARY, Role.COMPARE}
_RARELY = '!prof !{!"branch_weights", i32 100000, i32 1}'


def altered(function: Function, finder: Finder, first_site: int, first_block: int) -> Function:
    """The function with hooks; ``first_site`` and ``first_block`` are the numbers of its first site and block.

    Instructions of the answer have the altered operands; what a call calls stays as it was. Lines of hooks belong to
    no instruction: they stand in front of the one that they serve, or behind it.
    """
    return _Hooks(function, finder, first_site).function(first_block)


def altered_lines(function: Function) -> Iterator[str]:
    """The text of an altered function, with the meaning that it has at -O0."""
    yield function.header
    count = 0
    for block in function.blocks:
        if block.header:
            yield block.header
        first_lines = frozenset(block.positions)
        for position, line in enumerate(block.lines):
            if position in first_lines:
                count += 1
                yield from defined(line, f"%whence.u{count}")
            else:
                yield line
    yield "}"


def altered_layout(layout: Layout, function: Function) -> Layout:
    """The layout of the altered ``function`` that the recorder needs: that of the original, with its instructions."""
    instructions = function.instructions()
    segments = [
        replace(
            segment,
            after=segment.after and instructions[segment.after.index],
            sites=[replace(site, instruction=instructions[site.instruction.index]) for site in segment.sites],
            places=[(instructions[local.index], unit) for local, unit in segment.places],
        )
        for segment in layout.segments
    ]
    return Layout(function, segments, layout.slots)


@dataclass(slots=True)
class Edit:
    """What becomes of one instruction: its first line, itself, and the lines around it."""

    line: str
    instruction: Instruction
    ahead: list[str] = field(default_factory=list)
    behind: list[str] = field(default_factory=list)

    def rename_result(self, name: str) -> None:
        """The line's result gets another name; the instruction's stays."""
        self.line = self.line.replace(f"{self.instruction.result} = ", f"{name} = ", 1)

    def set_operand(self, number: int, name: str) -> None:
        """A register takes the place of an operand, in the line and in the instruction."""
        old = self.instruction.operands[number]
        if self.instruction.opcode == "call":
            before, callee, arguments, rest = call_parts(self.line, self.instruction)
            arguments[number] = arguments[number].removesuffix(old.text) + name
            self.line = f"{before}{callee}({', '.join(arguments)}{rest}"
        else:  # the operand is the first in the text
            self.line = self.line.replace(f"{old.type} {old.text}", f"{old.type} {name}", 1)
        operands = list(self.instruction.operands)
        operands[number] = replace(old, text=name)
        self.instruction = replace(self.instruction, operands=tuple(operands))

    def set_callee(self, name: str) -> None:
        """The line calls what a register points to."""
        before, _, arguments, rest = call_parts(self.line, self.instruction)
        self.line = f"{before}{name}({', '.join(arguments)}{rest}"


def call_parts(line: str, call: Instruction) -> tuple[str, str, list[str], str]:
    """The text before the callee, the callee, the arguments, and the rest from the closing parenthesis on."""
    callee = call.callee or ""
    start = line.index(f"{callee}(")
    opening = start + len(callee)
    end = closing(line, opening) - 1
    return line[:start], callee, split(line[opening + 1 : end]) if call.operands else [], line[end:]


class _Hooks:
    """Puts the hooks into one function."""

    def __init__(self, function: Function, finder: Finder, first_site: int) -> None:
        self._function = function
        self._finder = finder
        self._site = first_site
        self._fresh = 0
        self._slots = finder.frame(function)
        self._frame = "%whence.frame" if self._slots else "null"
        self._clock = ""  # the register of the block at hand

    def function(self, first_block: int) -> Function:
        """The function with hooks."""
        blocks = [self._block(block, number, first_block) for number, block in enumerate(self._function.blocks)]
        return replace(self._function, blocks=blocks)

    def _block(self, block: Block, number: int, first_block: int) -> Block:
        """The block with its own hook behind phis and the entry's allocas, and those of its instructions."""
        self._clock = f"%whence.c{number}"
        start = [f"  {self._clock} = call i64 @__whence_block(i32 {first_block + number})"]
        if number == 0:
            start = [*self._frame_lines(), *start]
        bounds = [*block.positions, len(block.lines)]
        made = Block(block.label, block.header, block.lines[: bounds[0]])
        for index, points in enumerate(self._finder.points(block)):
            edit = self._edit(block.instructions[index], block.lines[bounds[index]], points)
            if start and not _stays_first(edit.instruction, number):
                made.lines += start
                start = []
            made.lines += edit.ahead
            made.positions.append(len(made.lines))
            made.lines += [edit.line, *edit.behind, *block.lines[bounds[index] + 1 : bounds[index + 1]]]
            made.instructions.append(edit.instruction)
        return made

    def _frame_lines(self) -> Iterator[str]:
        """The array of the frame variables' addresses."""
        if not self._slots:
            return
        yield f"  {self._frame} = alloca [{len(self._slots)} x ptr], align 16"
        for number, slot in enumerate(self._slots):
            place = f"%whence.f{number}"
            yield f"  {place} = getelementptr ptr, ptr {self._frame}, i64 {number}"
            yield f"  store ptr {slot.pointer}, ptr {place}, align 8"

    def _edit(self, instruction: Instruction, line: str, points: tuple[Point, ...]) -> Edit:
        """An instruction with the hooks of its sites."""
        edit = Edit(line, instruction)
        for point in points:
            name = self._name()
            if point.operand >= 0:
                operand = instruction.operands[point.operand]
                edit.ahead.append(f"  {name} = {self._value(operand, _place(instruction))}")
                edit.set_operand(point.operand, name)
            elif point.role is Role.CALL:
                edit.ahead.append(
                    f"  {name} = {self._hook('callee', 'ptr', [Operand('ptr', instruction.callee or '')])}"
                )
                edit.set_callee(name)
            else:
                edit.rename_result(name)
                edit.behind.append(f"  {instruction.result} = {self._result(instruction, point, name)}")
            self._site += 1
        return edit

    def _result(self, instruction: Instruction, point: Point, name: str) -> str:
        """The call that makes an instruction's result of what it computed."""
        result = Operand(instruction.type, name)
        if point.role not in _COMPUTED:
            return self._value(result, _place(instruction))
        hook = f"compute_{instruction.type}_{point.type}"
        return self._hook(hook, instruction.type, [result, *instruction.operands])

    def _value(self, value: Operand, place: str) -> str:
        """The call that gives a value or another one."""
        return self._hook(f"value_{value.type}", value.type, [value, Operand("ptr", place)])

    def _hook(self, name: str, type_text: str, operands: list[Operand]) -> str:
        """The call of a hook for the site at hand."""
        given = ", ".join(f"{o.type} {o.text}" for o in operands)
        return f"call {type_text} @__whence_{name}(i64 {self._clock}, i32 {self._site}, {given}, ptr {self._frame})"

    def _name(self) -> str:
        self._fresh += 1
        return f"%whence.a{self._fresh}"


def _stays_first(instruction: Instruction, block: int) -> bool:
    """Whether a block's hook comes behind the instruction: phis, and the entry's allocas."""
    return instruction.opcode == "phi" or (block == 0 and instruction.opcode == "alloca")


def _place(instruction: Instruction) -> str:
    """The pointer that a load or store goes to; null for others."""
    return instruction.operands[-1].text if instruction.opcode in {"load", "store"} else "null"


# ---- The hooks' text -------------------------------------------------------------------------------------------------


def armed_blocks(blocks: int) -> str:
    """The array of the blocks in which something is to happen (one byte each, 0 or not), and its size."""
    size = -(-max(blocks, 1) // BLOCKS_ALIGNED) * BLOCKS_ALIGNED
    array = f"@__whence_armed = hidden global [{size} x i8] zeroinitializer, align {BLOCKS_ALIGNED} {BEHIND}"
    return f"{array}\n@__whence_armed_bytes = hidden constant i64 {size}"


ARMED_ELSEWHERE = "@__whence_armed = external hidden global [0 x i8]"

_HEAD = f"""
@__whence_clock = external hidden global i64
@__whence_stop = external hidden global i64
declare hidden preserve_mostcc i64 @whence_stop_at(i64, i32) cold
declare hidden preserve_mostcc i64 @whence_alter(i64, i32, i64, ptr, ptr) cold
declare hidden preserve_mostcc i64 @whence_compute(i64, i32, i64, i64, i64, ptr) cold
declare hidden preserve_mostcc ptr @whence_callee(i64, i32, ptr, ptr) cold
define internal i64 @__whence_block(i32 %block) alwaysinline {{
  %before = load i64, ptr @__whence_clock, align 8
  %clock = add i64 %before, 1
  store i64 %clock, ptr @__whence_clock, align 8
  %stop = load i64, ptr @__whence_stop, align 8
  %due = icmp uge i64 %clock, %stop
  %index = zext i32 %block to i64
  %place = getelementptr i8, ptr @__whence_armed, i64 %index
  %mark = load i8, ptr %place, align 1
  %armed = icmp ne i8 %mark, 0
  %both = or i1 %due, %armed
  br i1 %both, label %slow, label %done, !prof !{{!"branch_weights", i32 1, i32 100000}}
slow:
  %found = call preserve_mostcc i64 @whence_stop_at(i64 %clock, i32 %block)
  br label %done
done:
  %result = phi i64 [ 0, %0 ], [ %found, %slow ]
  ret i64 %result
}}
define internal ptr @__whence_callee(i64 %clock, i32 %site, ptr %value, ptr %frame) alwaysinline {{
  %idle = icmp eq i64 %clock, 0
  br i1 %idle, label %done, label %slow, {_RARELY}
slow:
  %other = call preserve_mostcc ptr @whence_callee(i64 %clock, i32 %site, ptr %value, ptr %frame)
  br label %done
done:
  %result = phi ptr [ %value, %0 ], [ %other, %slow ]
  ret ptr %result
}}"""


def _value_hook(type_text: str) -> str:
    """The hook of a value: itself, or where the block instance is one to look at, what the runtime makes of it."""
    return f"""
define internal {type_text} @__whence_value_{type_text}(i64 %clock, i32 %site, {type_text} %value, ptr %place, \
ptr %frame) alwaysinline {{
  %idle = icmp eq i64 %clock, 0
  br i1 %idle, label %done, label %slow, {_RARELY}
slow:
{_widened("value", type_text)}
  %other = call preserve_mostcc i64 @whence_alter(i64 %clock, i32 %site, i64 %value.bits, ptr %place, ptr %frame)
{_narrowed("other", type_text)}
  br label %done
done:
  %result = phi {type_text} [ %value, %0 ], [ %other.value, %slow ]
  ret {type_text} %result
}}"""


def _compute_hook(result: str, operand: str) -> str:
    """The hook of a computed value, which the runtime may compute again from its operands."""
    return f"""
define internal {result} @__whence_compute_{result}_{operand}(i64 %clock, i32 %site, {result} %value, \
{operand} %left, {operand} %right, ptr %frame) alwaysinline {{
  %idle = icmp eq i64 %clock, 0
  br i1 %idle, label %done, label %slow, {_RARELY}
slow:
{_widened("value", result)}
{_widened("left", operand)}
{_widened("right", operand)}
  %other = call preserve_mostcc i64 @whence_compute(i64 %clock, i32 %site, i64 %value.bits, \
  i64 %left.bits, i64 %right.bits, ptr %frame)
{_narrowed("other", result)}
  br label %done
done:
  %result = phi {result} [ %value, %0 ], [ %other.value, %slow ]
  ret {result} %result
}}"""


def _widened(name: str, type_text: str) -> str:
    """Lines that make ``%name.bits``, an i64, of a value's bits."""
    form, width = TYPES[type_text]
    if form is Form.POINTER:
        return f"  %{name}.bits = ptrtoint ptr %{name} to i64"
    if type_text == "float":
        return f"  %{name}.word = bitcast float %{name} to i32\n  %{name}.bits = zext i32 %{name}.word to i64"
    return f"  %{name}.bits = {'bitcast' if width == 64 else 'zext'} {type_text} %{name} to i64"


def _narrowed(name: str, type_text: str) -> str:
    """Lines that make ``%name.value`` of the low bits of an i64."""
    form, width = TYPES[type_text]
    if form is Form.POINTER:
        return f"  %{name}.value = inttoptr i64 %{name} to ptr"
    if type_text == "float":
        return f"  %{name}.word = trunc i64 %{name} to i32\n  %{name}.value = bitcast i32 %{name}.word to float"
    return f"  %{name}.value = {'bitcast' if width == 64 else 'trunc'} i64 %{name} to {type_text}"


def _hooks() -> Iterator[str]:
    yield _HEAD
    for type_text, (form, _) in TYPES.items():
        yield _value_hook(type_text)
        yield _compute_hook("i1", type_text)
        if form is not Form.POINTER and type_text != "i1":
            yield _compute_hook(type_text, type_text)


HOOKS = "".join(_hooks()) + "\n"
