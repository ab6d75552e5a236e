"""The suppress variant: from chosen instances on, what they defined and all that depends on it has no effect.

Every value has a *taint* beside it, an i1 register, or a byte of the shadow for what lies in memory: whether it is
suppressed (figure 7.1's ``corrupt``). A result is suppressed where an operand is. An access whose address or value is
suppressed goes to a place of no meaning instead, a call of the library with a suppressed argument to a function that
does nothing. Of a branch on a suppressed condition no side is taken: control goes to where both meet again, and what
they could have stored in variables is suppressed there, since those definitions were omitted. Arguments and results
take their taint through a few bytes of the thread.

Instructions keep their names and their order, so the recorder works on the changed text unchanged: a suppressed access
shows in the trace by the address of that place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from whence.probe.alter import Edit
from whence.probe.layout import is_frame_local, is_probed_call
from whence.probe.library import FUNCTIONS
from whence.probe.omitted import Omitted
from whence.probe.suppress_hooks import NOWHERE, WHOLE
from whence.program.model import Block, Function, Instruction, Module, Operand
from whence.program.types import alloc_size_of, size_of

WORD = 64  # definitions of a block that one word of points holds
ARGUMENTS = 64  # of a call whose taint is passed
STARTED = frozenset({"pthread_create", "thrd_create"})
MOST_TARGETS = 100  # variables that one branch's sides may store in
_COPIES = ("@llvm.memcpy", "@llvm.memmove")
_CASE = re.compile(r"^(\s*)(i\d+) (-?\d+), label")
_CONDITION = re.compile(r"switch (i\d+) (\S+), ")

# What calls write without reading it: the argument that points there, and that with the number of bytes (None: text).
_WRITTEN: dict[str, tuple[int, int | None]] = {
    **dict.fromkeys(("strcpy", "stpcpy", "strcat", "strncat", "sprintf", "vsprintf", "realpath"), (0, None)),
    **dict.fromkeys(("memcpy", "memmove", "mempcpy", "memset", "strncpy", "stpncpy", "strlcpy"), (0, 2)),
    **dict.fromkeys(("fgets", "snprintf", "vsnprintf", "bzero"), (0, 1)),
    **dict.fromkeys(("read", "pread", "recv", "recvfrom"), (1, 2)),
}
# Functions that look at text which their arguments point to, before they do anything else.
_TEXT: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("strlen", "strdup", "strndup", "atoi", "atol", "atof", "atoll", "puts", "fputs", "fopen"), (0,)),
    **dict.fromkeys(("strtol", "strtoul", "strtod", "strtoll", "strtoull", "strchr", "strrchr", "open"), (0,)),
    **dict.fromkeys(("strcmp", "strcasecmp", "strcat", "strstr", "strspn", "strcspn", "strpbrk", "strtok"), (0, 1)),
    **dict.fromkeys(("strcpy", "stpcpy"), (1,)),
}


def definitions(block: Block) -> list[int]:
    """The positions in a block of the instructions at which suppression can start: they define a value or a place."""
    return [n for n, i in enumerate(block.instructions) if _defines(i)]


def _defines(instruction: Instruction) -> bool:
    if instruction.opcode in {"load", "store", "atomicrmw", "cmpxchg"}:
        return True
    return is_probed_call(instruction) or (instruction.callee or "").startswith((*_COPIES, "@llvm.memset"))


def suppressed(function: Function, module: Module, first_block: int, is_defined: Callable[[str], bool]) -> Function:
    """The function with taints; ``first_block`` is the number of its first block.

    ``is_defined`` tells whether the program defines the function that a name means in this module. Instructions of the
    answer have the changed operands, and lines of taints belong to none, as in ``alter.altered``.
    """
    later: dict[str, str | None] = {}
    while True:  # names of taints that are needed before their text, as phis do
        suppression = _Suppression(function, module, first_block, is_defined, later)
        made = suppression.function()
        if suppression.taints == later:
            return made
        later = suppression.taints


class _Suppression:
    """Puts the taints into one function. A register's taint is the name of an i1, or None: never suppressed."""

    def __init__(
        self,
        function: Function,
        module: Module,
        first_block: int,
        is_defined: Callable[[str], bool],
        later: dict[str, str | None],
    ) -> None:
        self._function, self._module, self._first_block, self._is_defined = function, module, first_block, is_defined
        self._later = later
        self.taints: dict[str, str | None] = {}
        self._fresh = 0
        self._mask: list[str] = []  # of the block at hand: the words of its points
        self._index = 0
        self._number = 0
        self._omitted = Omitted(function, module)
        self._landing: list[str] = []  # text of blocks behind the last one
        self._into: dict[int, list[str]] = {}  # block -> labels of the landings that go on there
        for block in range(len(function.blocks)):
            if self._branches(block):
                self._into.setdefault(self._omitted.meets[block], []).append(self._label(block))

    def function(self) -> Function:
        """The function with taints."""
        blocks = [self._block(block, number) for number, block in enumerate(self._function.blocks)]
        if self._into.get(len(blocks)):
            self._landing += self._return()
        blocks[-1].lines += self._landing
        return replace(self._function, blocks=blocks)

    # ---- Names and lines -----------------------------------------------------------------------------------------

    def _name(self) -> str:
        self._fresh += 1
        return f"%whence.s{self._fresh}"

    def _of(self, operand: Operand) -> str | None:
        """The taint of an operand."""
        if operand.text in self.taints:
            return self.taints[operand.text]
        return self._later.get(operand.text)

    def _any(self, lines: list[str], *taints: str | None) -> str | None:
        """The taint of what depends on all of these."""
        known = list(dict.fromkeys(t for t in taints if t is not None))
        while len(known) > 1:
            name = self._name()
            lines.append(f"  {name} = or i1 {known.pop()}, {known.pop()}")
            known.append(name)
        return known[0] if known else None

    def _point(self, lines: list[str]) -> str:
        """The taint that says whether suppression starts at the definition at hand."""
        word, bit = divmod(self._index, WORD)
        self._index += 1
        masked, name = self._name(), self._name()
        lines.append(f"  {masked} = and i64 {self._mask[word]}, {(1 << bit) - (1 << 64 if bit == 63 else 0)}")
        lines.append(f"  {name} = icmp ne i64 {masked}, 0")
        return name

    def _elsewhere(self, lines: list[str], taint: str | None, pointer: str) -> str:
        """The pointer, or where suppressed accesses go."""
        if taint is None:
            return pointer
        name = self._name()
        lines.append(f"  {name} = select i1 {taint}, ptr {NOWHERE}, ptr {pointer}")
        return name

    def _shadow(self, lines: list[str], pointer: str, size: int) -> str:
        """The taint of bytes in memory."""
        name = self._name()
        if size in WHOLE:
            lines.append(f"  {name} = call i1 @__whence_shadow{size}(ptr {pointer})")
            return name
        lines.append(f"  {name}.w = call i32 @whence_tainted(ptr {pointer}, i64 {size})")
        lines.append(f"  {name} = icmp ne i32 {name}.w, 0")
        return name

    def _marks(self, lines: list[str], pointer: str, size: int, taint: str | None) -> None:
        """Give bytes in memory a taint."""
        if size in WHOLE:
            lines.append(f"  call void @__whence_mark{size}(ptr {pointer}, i1 {taint or 'false'})")
            return
        lines.append(f"  call void @__whence_mark_all(ptr {pointer}, i64 {size}, i1 {taint or 'false'})")

    # ---- Blocks --------------------------------------------------------------------------------------------------

    def _block(self, block: Block, number: int) -> Block:
        """The block with its points behind phis and the entry's allocas, and the taints of its instructions."""
        self._number, self._index, self._mask = number, 0, []
        start = self._start(block, number)
        bounds = [*block.positions, len(block.lines)]
        made = Block(block.label, block.header, block.lines[: bounds[0]])
        for position, instruction in enumerate(block.instructions):
            edit = Edit(block.lines[bounds[position]], instruction)
            rest = block.lines[bounds[position] + 1 : bounds[position + 1]]
            ends = position + 1 < len(block.instructions) and block.instructions[position + 1].opcode == "unreachable"
            rest = self._edit(edit, rest, ends)
            if start and not (instruction.opcode == "phi" or (number == 0 and is_frame_local(instruction))):
                made.lines += start
                start = []
            made.lines += edit.ahead
            made.positions.append(len(made.lines))
            made.lines += [edit.line, *edit.behind, *rest]
            made.instructions.append(edit.instruction)
        return made

    def _start(self, block: Block, number: int) -> list[str]:
        """What a block begins with: its points; in the entry the taints of parameters, and fresh locals."""
        lines: list[str] = []
        for word in range(-(-len(definitions(block)) // WORD)):
            self._mask.append(self._name())
            where = f"i32 {self._first_block + number}, i32 {word}"
            lines.append(f"  {self._mask[-1]} = call i64 @__whence_suppression({where})")
        if number == 0:
            lines += self._parameters()
            for local in filter(is_frame_local, block.instructions):
                size = alloc_size_of(local.element_type, self._module)
                lines.append(f"  call void @__whence_mark_fresh(ptr {local.result}, i64 {size})")
        return lines

    def _parameters(self) -> Iterator[str]:
        """Take the parameters' taints, so that none are left for the next call."""
        parameters = self._function.parameters[:ARGUMENTS]
        for start in range(0, len(parameters), 8):
            place, word = self._name(), self._name()
            yield f"  {place} = getelementptr i8, ptr @__whence_argument_taint, i64 {start}"
            yield f"  {word} = load i64, ptr {place}, align 1"
            yield f"  store i64 0, ptr {place}, align 1"
            for number, parameter in enumerate(parameters[start : start + 8]):
                shifted, name = self._name(), self._name()
                yield f"  {shifted} = lshr i64 {word}, {8 * number}"
                yield f"  {name} = trunc i64 {shifted} to i1"
                size = _by_value(parameter, self._module)
                if size:
                    yield f"  call void @__whence_mark_all(ptr {parameter.text}, i64 {size}, i1 {name})"
                else:
                    self.taints[parameter.text] = name

    def _edit(self, edit: Edit, rest: list[str], ends: bool) -> list[str]:
        """An instruction with its taint; returns its further lines (of a switch). ``ends``: it does not come back."""
        opcode = edit.instruction.opcode
        if opcode in {"load", "store", "atomicrmw", "cmpxchg"}:
            self._access(edit)
        elif opcode == "phi":
            self._phi(edit)
        elif opcode == "call":
            self._call(edit, ends)
        elif opcode == "ret":
            self._ret(edit)
        elif opcode in {"br", "switch"}:
            return self._branch(edit, rest)
        elif edit.instruction.result:
            edit_taint = self._any(edit.behind, *map(self._of, edit.instruction.operands))
            self.taints[edit.instruction.result] = edit_taint
        return rest

    # ---- Memory --------------------------------------------------------------------------------------------------

    def _access(self, edit: Edit) -> None:
        """A load, store or atomic operation: elsewhere where it is suppressed, its taint from the shadow and to it."""
        instruction = edit.instruction
        number = 1 if instruction.opcode == "store" else 0
        pointer = instruction.operands[number]
        values = [o for n, o in enumerate(instruction.operands) if n != number]
        by_address = self._of(pointer)
        point = self._point(edit.ahead)
        by_value = self._any(edit.ahead, point, *map(self._of, values))
        is_load = instruction.opcode == "load"
        moved = self._any(edit.ahead, by_address, by_value)
        size = size_of(
            instruction.operands[1].type if values and not is_load and number == 0 else instruction.type, self._module
        )
        target = self._elsewhere(edit.ahead, moved, pointer.text)
        set_pointer(edit, number, target)
        place = self._elsewhere(edit.ahead, by_address, pointer.text)
        if instruction.opcode != "store":
            before = self._shadow(edit.behind, place, size)
            taint = self._any(edit.behind, by_address, by_value, before)
            self.taints[instruction.result or ""] = taint
            by_value = taint
        if not is_load:
            self._marks(edit.behind, place, size, by_value)

    def _copy(self, edit: Edit) -> None:
        """A memcpy or memset: of no bytes where it is suppressed, and the shadow with it."""
        instruction = edit.instruction
        to, source, length = instruction.operands[:3]
        point = self._point(edit.ahead)
        by_source = self._any(edit.ahead, point, self._of(source))
        by_place = self._any(edit.ahead, self._of(to), self._of(length))
        taint = self._any(edit.ahead, by_source, by_place)
        count, marked = self._name(), self._name()
        edit.ahead.append(f"  {count} = select i1 {taint}, {length.type} 0, {length.type} {length.text}")
        edit.ahead.append(f"  {marked}.n = zext {length.type} {length.text} to i64" if length.type != "i64" else "")
        whole = f"{marked}.n" if length.type != "i64" else length.text
        edit.ahead.append(f"  {marked} = select i1 {by_place or 'false'}, i64 0, i64 {whole}")
        edit.ahead[:] = filter(None, edit.ahead)
        edit.set_operand(2, count)
        if (instruction.callee or "").startswith(_COPIES):
            copied = f"ptr {to.text}, ptr {source.text}, i64 {marked}, i1 {by_source}"
            edit.behind.append(f"  call void @__whence_mark_copied({copied})")
        else:
            edit.behind.append(f"  call void @__whence_mark_all(ptr {to.text}, i64 {marked}, i1 {by_source})")

    # ---- Calls ---------------------------------------------------------------------------------------------------

    def _call(self, edit: Edit, ends: bool) -> None:
        """A call: intrinsics as operations; the program's functions get taints; others are suppressed as a whole."""
        instruction = edit.instruction
        callee = instruction.callee or ""
        if not is_probed_call(instruction):
            self._intrinsic(edit, callee)
            return
        taints = [self._argument(edit, operand) for operand in instruction.operands]
        own = callee.startswith("@") and self._is_defined(callee[1:])
        variadic = bool(instruction.element_type)
        point = self._point(edit.ahead)
        if own and not variadic:
            self._pass(edit, taints)
        elif ends:
            pass  # what does not come back is done whatever it is given
        elif callee.startswith("@"):
            if callee[1:] in STARTED:
                taints = self._start_thread(edit, taints)
            self._foreign(edit, [point, *taints, *self._texts(edit)], callee[1:])
            return
        else:
            self._indirect(edit, [point, self._of(Operand("ptr", callee))], taints)
            return
        if instruction.result:
            self.taints[instruction.result] = self._result(edit.behind)

    def _argument(self, edit: Edit, operand: Operand) -> str | None:
        """The taint of an argument; of a structure passed by value that of its bytes."""
        size = _by_value(operand, self._module)
        taint = self._of(operand)
        return self._any(edit.ahead, taint, self._shadow(edit.ahead, operand.text, size)) if size else taint

    def _texts(self, edit: Edit) -> Iterator[str]:
        """The taints of texts that the call of a library function looks at."""
        instruction = edit.instruction
        name = (instruction.callee or "@")[1:]
        known = FUNCTIONS.get(name)
        numbers = _TEXT.get(name, ())
        if known is not None and known.format >= 0:
            numbers = tuple(range(known.format, len(instruction.operands)))
        for number in numbers:
            operand = instruction.operands[number] if number < len(instruction.operands) else Operand("i32", "0")
            if operand.type == "ptr" and operand.is_register:
                taint = self._name()
                edit.ahead.append(
                    f"  {taint}.w = call i32 @__whence_text(ptr {operand.text}, i1 {self._of(operand) or 'false'})"
                )
                edit.ahead.append(f"  {taint} = icmp ne i32 {taint}.w, 0")
                yield taint

    def _start_thread(self, edit: Edit, taints: list[str | None]) -> list[str | None]:
        """Tell the thread that a call starts the taint of its argument, the last one; returns those of the others.

        So the thread runs, as a function of the program is called.
        """
        last = len(taints) - 1
        self._pass(edit, [taint if n == last else None for n, taint in enumerate(taints)])
        edit.behind.append(f"  store i8 0, ptr getelementptr (i8, ptr @__whence_argument_taint, i64 {last}), align 1")
        return taints[:last]

    def _pass(self, edit: Edit, taints: list[str | None]) -> None:
        """Tell the function that is called the taints of its arguments."""
        for number, taint in enumerate(taints[:ARGUMENTS]):
            if taint is not None:
                place, wide = self._name(), self._name()
                edit.ahead.append(f"  {wide} = zext i1 {taint} to i8")
                edit.ahead.append(f"  {place} = getelementptr i8, ptr @__whence_argument_taint, i64 {number}")
                edit.ahead.append(f"  store i8 {wide}, ptr {place}, align 1")

    def _result(self, lines: list[str]) -> str:
        """The taint that a call left for its result."""
        wide, name = self._name(), self._name()
        lines.append(f"  {wide} = load i8, ptr @__whence_result_taint, align 1")
        lines.append(f"  {name} = icmp ne i8 {wide}, 0")
        return name

    def _foreign(self, edit: Edit, taints: list[str | None], name: str) -> None:
        """A call of code that has no taints: suppressed where anything that it is given is."""
        taint = self._any(edit.ahead, *taints)
        self._replace_callee(edit, taint)
        edit.ahead.append("  store i8 0, ptr @__whence_result_taint, align 1")
        to, length = self._written(edit, name)
        where = f"i32 {self._first_block + self._number}, i32 {self._index - 1}"
        edit.behind.append(f"  call void @__whence_call_suppressed(i1 {taint}, {where}, ptr {to}, i64 {length})")
        if edit.instruction.result:
            self.taints[edit.instruction.result] = self._any(edit.behind, taint, self._result(edit.behind))

    def _written(self, edit: Edit, name: str) -> tuple[str, str]:
        """Where a suppressed call would have written, and how much (0: text); null where that is not known."""
        to, length = _WRITTEN.get(name, (-1, None))
        operands = edit.instruction.operands
        if to < 0 or to >= len(operands) or not operands[to].is_register:
            return "null", "0"
        place, lines = self._elsewhere_null(edit.ahead, self._of(operands[to]), operands[to].text), edit.ahead
        if length is None:
            return place, "0"
        count, known = operands[length], self._name()
        wide = count.text
        if count.type != "i64":
            wide = f"{known}.n"
            lines.append(f"  {wide} = sext {count.type} {count.text} to i64")
        lines.append(f"  {known} = select i1 {self._of(count) or 'false'}, i64 0, i64 {wide}")
        return place, known

    def _elsewhere_null(self, lines: list[str], taint: str | None, pointer: str) -> str:
        name = self._name()
        lines.append(f"  {name} = select i1 {taint or 'false'}, ptr null, ptr {pointer}")
        return name

    def _indirect(self, edit: Edit, callee: list[str | None], taints: list[str | None]) -> None:
        """A call through a pointer, of the program's functions or others: suppressed where the pointer is."""
        taint = self._any(edit.ahead, *callee)
        self._replace_callee(edit, taint)
        self._pass(edit, taints)
        edit.ahead.append("  store i8 0, ptr @__whence_result_taint, align 1")
        for start in range(0, min(len(taints), ARGUMENTS), 8):  # a function without taints has not taken them
            place = self._name()
            edit.behind.append(f"  {place} = getelementptr i8, ptr @__whence_argument_taint, i64 {start}")
            edit.behind.append(f"  store i64 0, ptr {place}, align 1")
        if edit.instruction.result:
            self.taints[edit.instruction.result] = self._any(edit.behind, taint, self._result(edit.behind))

    def _replace_callee(self, edit: Edit, taint: str | None) -> None:
        name = self._name()
        edit.ahead.append(f"  {name} = select i1 {taint}, ptr @whence_nothing, ptr {edit.instruction.callee}")
        edit.set_callee(name)

    def _intrinsic(self, edit: Edit, callee: str) -> None:
        """What LLVM itself provides, and inline assembly."""
        instruction = edit.instruction
        if callee.startswith((*_COPIES, "@llvm.memset")):
            self._copy(edit)
        elif callee.startswith("@llvm.va_copy"):
            to, source = instruction.operands[:2]
            edit.behind.append(f"  call void @__whence_mark_copied(ptr {to.text}, ptr {source.text}, i64 24, i1 false)")
        elif callee.startswith("@llvm.va_start"):
            self._marks(edit.behind, instruction.operands[0].text, 24, None)
        elif instruction.result:
            self.taints[instruction.result] = self._any(edit.behind, *map(self._of, instruction.operands))

    # ---- Control -------------------------------------------------------------------------------------------------

    def _ret(self, edit: Edit) -> None:
        """Leave the result's taint for the caller."""
        for operand in edit.instruction.operands:
            taint = self._of(operand)
            if taint is not None:
                wide = self._name()
                edit.ahead.append(f"  {wide} = zext i1 {taint} to i8")
                edit.ahead.append(f"  store i8 {wide}, ptr @__whence_result_taint, align 1")
            else:
                edit.ahead.append("  store i8 0, ptr @__whence_result_taint, align 1")

    def _phi(self, edit: Edit) -> None:
        """A phi, its taint, and both for the landings that go on in its block."""
        instruction = edit.instruction
        landings = self._into.get(self._number, [])
        name = self._name()
        self.taints[instruction.result or ""] = name
        pairs = [
            (self._of(o) or "false", label) for o, label in zip(instruction.operands, instruction.labels, strict=True)
        ]
        taints = [f"[ {taint}, %{label} ]" for taint, label in pairs] + [f"[ true, %{label} ]" for label in landings]
        edit.behind.append(f"  {name} = phi i1 {', '.join(taints)}")
        more = "".join(f", [ undef, %{label} ]" for label in landings)
        end = edit.line.rindex("]") + 1 if "]" in edit.line else len(edit.line)
        edit.line = edit.line[:end] + more + edit.line[end:]

    def _branches(self, number: int) -> bool:
        """Whether a block ends with a branch that may be suppressed."""
        end = self._function.blocks[number].terminator
        return end.opcode in {"br", "switch"} and bool(end.operands) and end.operands[0].is_register

    def _label(self, number: int) -> str:
        return f"whence.land{number}"

    def _branch(self, edit: Edit, rest: list[str]) -> list[str]:
        """A branch, which goes to where its sides meet again if its condition is suppressed."""
        if not self._branches(self._number):
            return rest
        instruction = edit.instruction
        condition = instruction.operands[0]
        taint = self._of(condition) or "false"
        self._land(self._number)
        landing = f"label %{self._label(self._number)}"
        if instruction.opcode == "br":
            wide, chosen = self._name(), self._name()
            edit.ahead.append(f"  {wide} = zext i1 {condition.text} to i8")
            edit.ahead.append(f"  {chosen} = select i1 {taint}, i8 2, i8 {wide}")
            true, false = (f"label %{label}" for label in instruction.labels)
            edit.line = f"  switch i8 {chosen}, {false} [ i8 1, {true} i8 2, {landing} ]"
            return rest
        kind = "i128" if condition.type == "i64" else "i64"
        wide, chosen = self._name(), self._name()
        other = 1 << (70 if kind == "i128" else 40)
        edit.ahead.append(f"  {wide} = sext {condition.type} {condition.text} to {kind}")
        edit.ahead.append(f"  {chosen} = select i1 {taint}, {kind} {other}, {kind} {wide}")
        edit.line = _CONDITION.sub(f"switch {kind} {chosen}, ", edit.line, count=1)
        opening, closing = edit.line.find("["), edit.line.find("]")
        if closing > opening >= 0:  # no cases
            edit.line = f"{edit.line[: opening + 1]} {kind} {other}, {landing} {edit.line[closing:]}"
            return rest
        return [f"    {kind} {other}, {landing}", *(_CASE.sub(rf"\1{kind} \3, label", line) for line in rest)]

    def _land(self, number: int) -> None:
        """The block in which a suppressed branch lands: what its sides could have defined is suppressed."""
        meets = self._omitted.meets[number]
        self._landing += ["", f"{self._label(number)}:"]
        for pointer, size in self._omitted.definitions(number)[:MOST_TARGETS]:
            self._landing.append(f"  call void @whence_mark(ptr {pointer}, i64 {size}, i32 1)")
        target = self._function.blocks[meets].label if meets < len(self._function.blocks) else "whence.return"
        self._landing.append(f"  br label %{target}")

    def _return(self) -> Iterator[str]:
        """The block in which a branch lands whose sides do not meet: the function returns."""
        kind = self._function.return_type
        yield from ("", "whence.return:", "  store i8 1, ptr @__whence_result_taint, align 1")
        yield "  ret void" if kind == "void" else f"  ret {kind} undef"


def set_pointer(edit: Edit, number: int, name: str) -> None:
    """Another pointer for an access: in its line, and in its instruction."""
    old = edit.instruction.operands[number]
    if old.text == name:
        return
    lead = f", ptr {old.text}" if edit.instruction.opcode in {"load", "store"} else f" ptr {old.text},"
    at = edit.line.rindex(lead) if edit.instruction.opcode in {"load", "store"} else edit.line.index(lead)
    edit.line = edit.line[:at] + lead.replace(old.text, name) + edit.line[at + len(lead) :]
    operands = list(edit.instruction.operands)
    operands[number] = replace(old, text=name)
    edit.instruction = replace(edit.instruction, operands=tuple(operands))


def _by_value(operand: Operand, module: Module) -> int:
    """The bytes of a structure that is passed by value; 0 for other arguments."""
    structure = next((a[len("byval(") : -1] for a in operand.attributes if a.startswith("byval(")), None)
    return size_of(structure, module) if structure is not None else 0
