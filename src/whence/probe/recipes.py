"""How the units of a compact trace's segments are made: what is recorded of each, and how the rest is computed.

A *recipe* turns the units that a compact recording has of a segment into those that its layout describes: some are
copied, the others come from operations on a frame's registers. Frames hold private locals, addresses of locals, and
values that a segment makes for another one; what is used in its own segment alone lies in registers behind those.
Register 0 of each frame holds 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from whence.probe.compact import Kept, computed_functions, followers, kept_units
from whence.probe.computed import ARITHMETIC, WIDTHS, Computed, address_terms, constant_bits
from whence.probe.layout import ADDRESS_UNITS, NO_SLOT, Kind, Layout, Segment, Site
from whence.probe.operations import NOTHING, OPERATION, RECIPE, Op, Recipes
from whence.probe.plan import Numbering
from whence.program.model import Instruction, Operand
from whence.program.program import Program
from whence.program.types import size_of

VA_LIST = 24  # bytes


@dataclass(slots=True)
class _Use:
    """Where a value is used: the segments, and the last instruction of its own segment."""

    segments: set[int] = field(default_factory=set)
    last: int = -1


class _Cook:
    """Writes the recipes of one function."""

    def __init__(self, computed: Computed, kept: list[Kept], first_block: int) -> None:
        self._computed, self._kept, self._first_block = computed, kept, first_block
        self._layout, self._module = computed.layout, computed.module
        self._segments = list(_instructions(computed.layout))
        self._home = {i.index: n for n, found in enumerate(self._segments) for i in found}
        self._uses: dict[str, _Use] = {}
        for number in range(len(self._segments)):
            self._seed(number)
        self._frame: dict[str, int] = {}
        count = 1 + len(computed.layout.slots)
        for name, use in self._uses.items():
            definition = computed.definitions[name]
            if definition.opcode == "alloca" or use.segments != {self._home[definition.index]}:
                self._frame[name] = count
                count += 1
        self.frame = count
        self._rows: list[tuple[int, ...]] = []
        self._own: dict[str, int] = {}
        self._free = count

    # ---- What is needed ----------------------------------------------------------------------------------------------

    def _seed(self, number: int) -> None:
        """Note what a segment's omitted units and its branch are computed from."""
        instructions = self._segments[number]
        users = {o.text: i.index for i in instructions for o in i.operands if o.is_register}
        wanted = [operand for _, _, operand in self._computed.omitted[number]]
        if (branch := self._branch(number)) is not None:
            wanted.append(branch)
        for operand in wanted:
            self._need(operand, number, users.get(operand.text, -1))

    def _branch(self, number: int) -> Operand | None:
        """The condition of the branch that ends a segment, if it can be computed."""
        instructions = self._segments[number]
        if not instructions or instructions[-1].opcode != "br":
            return None
        return self._computed.branches.get(self._layout.segments[number].block)

    def _need(self, operand: Operand, segment: int, user: int) -> None:
        """Note that a segment's instruction uses a value, and what that is computed from."""
        waiting = [(operand, segment, user)]
        while waiting:
            operand, segment, user = waiting.pop()
            if not operand.is_register:
                continue
            definition = self._computed.definitions[operand.text]
            is_new = operand.text not in self._uses
            use = self._uses.setdefault(operand.text, _Use())
            use.segments.add(segment)
            use.last = max(use.last, user)
            if is_new and definition.opcode not in {"load", "call", "alloca"}:
                home = self._home[definition.index]
                waiting += [(o, home, definition.index) for o in definition.operands]

    # ---- What is written ---------------------------------------------------------------------------------------------

    def recipe(self, number: int) -> list[tuple[int, ...]]:
        """The operations of a segment."""
        self._rows, self._own, self._free = [], {}, self.frame
        segment, kept = self._layout.segments[number], self._kept[number]
        omitted = {unit: (units, operand) for unit, units, operand in self._computed.omitted[number]}
        self._copies(kept)
        self._objects(number, segment)
        sites: dict[int, list[Site]] = {}
        for site in segment.sites:
            sites.setdefault(site.instruction.index, []).append(site)
        if segment.after is not None and segment.after.result in self._uses:
            self._receive(segment.after.result, self._computed.sites[segment.after.index, Kind.RESULT], kept)
        for instruction in self._segments[number]:
            for site in sites.get(instruction.index, ()):
                self._site(number, site, kept, omitted)
            if instruction.result in self._uses and instruction.opcode not in {"load", "call", "alloca"}:
                self._operation(instruction)
        if (branch := self._branch(number)) is not None:
            self._expect(number, branch)
        return self._rows

    def _row(self, op: Op, **fields: int) -> None:
        row = dict.fromkeys(OPERATION.names or (), 0) | {"op": int(op), "dst": self._free, "mask": -1} | fields
        self._rows.append(tuple(row.values()))

    def _copies(self, kept: Kept) -> None:
        """Copy what is recorded, stretch by stretch."""
        start = previous = 0
        for unit in [*kept.places, 0]:
            if start and unit != previous + 1:
                self._row(Op.COPY, out=start, unit=kept.places[start], number=previous + 1 - start)
                start = 0
            start, previous = start or unit, unit

    def _objects(self, number: int, segment: Segment) -> None:
        """Note where a segment says that locals lie, and what is used of that."""
        for local, unit in segment.places:
            self._row(Op.OBJECT, out=unit, number=size_of(local.element_type, self._module))
            if local.result in self._uses:
                place = self._kept[number].places[unit]
                self._row(Op.GET_WIDE, dst=self._frame[local.result], unit=place)
        for site in segment.sites:
            if site.kind is Kind.BYVAL:
                self._row(Op.OBJECT, out=site.unit, number=site.size)
            elif site.kind is Kind.VASTART or (site.instruction.callee or "").startswith("@llvm.va_copy"):
                self._row(Op.OBJECT, out=site.unit, number=VA_LIST)

    def _receive(self, name: str, site: Site, kept: Kept, unit: int = 0) -> None:
        """Keep a recorded value in a register."""
        units = site.units - unit
        self._row(
            Op.GET if units == 1 else Op.GET_WIDE,
            dst=self._register(name),
            unit=kept.places[site.unit + unit],
            mask=_mask(self._computed.definitions[name].type),
        )

    def _register(self, name: str) -> int:
        """The register for a value that is made now."""
        if name in self._frame:
            return self._frame[name]
        self._own[name] = self._free
        self._free += 1
        return self._own[name]

    def _site(self, number: int, site: Site, kept: Kept, omitted: dict[int, tuple[int, Operand]]) -> None:
        """What an access needs, and leaves behind."""
        if site.kind not in {Kind.LOAD, Kind.STORE}:
            if site.kind is Kind.RMW:
                self._row(Op.CHECK, out=site.unit, number=site.size)
            elif site.kind in {Kind.COPY, Kind.SET}:
                self._row(Op.CHECK_LENGTH, out=site.unit)
            return
        unit, end = site.unit, site.unit + site.units
        is_private = site.aux != NO_SLOT
        if not is_private:
            if unit in omitted:
                self._move(omitted[unit][1], site.instruction.index, out=unit, units=ADDRESS_UNITS)
            if site.kind is Kind.STORE and self._may_stray(site.instruction.operands[1]):
                self._row(Op.CHECK, out=unit, number=site.size)
            unit += ADDRESS_UNITS
        if site.kind is Kind.LOAD:
            self._load(number, site, kept)
        elif is_private:
            self._assign(site, kept, omitted)
        elif unit < end and unit in omitted:
            units, operand = omitted[unit]
            self._move(operand, site.instruction.index, out=unit, units=units)

    def _may_stray(self, pointer: Operand) -> bool:
        """Whether a store could go to the stack, and there to something else than the local it names."""
        if pointer.is_register:
            definition = self._computed.definitions.get(pointer.text)
            return definition is None or definition.opcode != "alloca"
        return self._computed.variable(pointer) is None

    def _load(self, number: int, site: Site, kept: Kept) -> None:
        """A load's value: a private local's register, or a copy of it where that changes before the value is used."""
        name = site.instruction.result
        if name is None or name not in self._uses:
            return
        if site.aux == NO_SLOT:
            self._receive(name, site, kept, ADDRESS_UNITS)
            return
        stays = not any(
            s.kind is Kind.STORE
            and s.aux == site.aux
            and site.instruction.index < s.instruction.index < self._uses[name].last
            for s in self._layout.segments[number].sites
        )
        if name not in self._frame and stays:
            self._own[name] = 1 + site.aux
        else:
            self._row(Op.ADD, dst=self._register(name), a=1 + site.aux)

    def _assign(self, site: Site, kept: Kept, omitted: dict[int, tuple[int, Operand]]) -> None:
        """A private local gets a value."""
        if site.unit in omitted:
            units, operand = omitted[site.unit]
            self._move(operand, site.instruction.index, dst=1 + site.aux, out=site.unit, units=units)
        elif site.units in {1, 2}:
            op = Op.GET if site.units == 1 else Op.GET_WIDE
            mask = _mask(site.instruction.type) if site.instruction.type in WIDTHS else -1
            self._row(op, dst=1 + site.aux, unit=kept.places[site.unit], mask=mask)

    def _move(self, operand: Operand, user: int, **fields: int) -> None:
        """Put an operand's value into units, and into a register where one is given, for the instruction ``user``.

        Where the value has just been made, what made it does that.
        """
        if not operand.is_register:
            self._row(Op.ADD, **self._constant(operand), **fields)
            return
        register = self._at(operand)
        made = dict(zip(OPERATION.names or (), self._rows[-1], strict=True)) if self._rows else {}
        is_made = made.get("op", 0) >= Op.ADD and made["op"] != Op.EXPECT and not made["units"]
        is_free = "dst" not in fields or (operand.text in self._own and self._uses[operand.text].last <= user)
        if is_made and made["dst"] == register and is_free:
            self._rows[-1] = tuple((made | fields).values())
        else:
            self._row(Op.ADD, a=register, **fields)

    def _constant(self, operand: Operand) -> dict[str, int]:
        """An operand that is no register, as a number to be added to register 0."""
        variable = self._computed.variable(operand)
        if variable is not None:
            return {"variable": 1 + variable}
        bits = constant_bits(operand)
        assert bits is not None
        return {"number": bits - (1 << 64) if bits >> 63 else bits}

    def _at(self, operand: Operand) -> int:
        """The register that holds an operand; a constant gets one."""
        if operand.is_register:
            found = self._frame.get(operand.text)
            return self._own[operand.text] if found is None else found
        place, self._free = self._free, self._free + 1
        self._row(Op.ADD, **self._constant(operand) | {"dst": place})
        return place

    def _second(self, operand: Operand) -> dict[str, int]:
        """An operand as the second one of an operation, which may be a number."""
        return {"b": self._at(operand)} if operand.is_register else self._constant(operand)

    def _operation(self, instruction: Instruction) -> None:
        """Compute what an instruction gives."""
        opcode, operands = instruction.opcode, instruction.operands
        assert instruction.result is not None
        if opcode == "getelementptr":
            self._address(instruction)
            return
        mask, bits = _mask(instruction.type), WIDTHS[operands[0].type]
        if opcode == "select":
            first, second, third = (self._at(o) for o in operands)
            self._row(Op.SELECT, a=first, b=second, c=third, dst=self._register(instruction.result))
        elif opcode in ARITHMETIC or opcode in {"fadd", "fsub", "fmul", "fdiv", "fcmp"}:
            op = Op[instruction.predicate.upper() if opcode == "icmp" else opcode.upper()]
            first = self._at(operands[0])
            fields = {"b": self._at(operands[1])} if opcode.startswith("f") else self._second(operands[1])
            wanted = _ordering(instruction) if opcode == "fcmp" else 0
            register = self._register(instruction.result)
            self._row(op, a=first, dst=register, bits=bits, mask=mask, c=wanted, **fields)
        elif opcode == "fneg":
            first, register = self._at(operands[0]), self._register(instruction.result)
            sign = 1 << bits - 1
            self._row(
                Op.XOR, a=first, dst=register, bits=bits, mask=mask, number=sign - (1 << 64) if bits == 64 else sign
            )
        else:
            op = _CONVERSIONS.get(opcode, Op.ADD)
            first = self._at(operands[0])
            self._row(
                op, a=first, dst=self._register(instruction.result), bits=bits, mask=mask, c=WIDTHS[instruction.type]
            )

    def _address(self, instruction: Instruction) -> None:
        """Compute an address from its base and its indices."""
        found = address_terms(instruction, self._module)
        assert found is not None and instruction.result is not None
        constant, terms = found
        base = instruction.operands[0]
        fields = {"a": self._at(base)} if base.is_register else self._constant(base)
        fields["number"] = fields.get("number", 0) + constant
        if not terms:
            self._row(Op.ADD, dst=self._register(instruction.result), **fields)
            return
        for place, (index, scale) in enumerate(terms):
            register = self._at(index)
            if index.type != "i64":
                wide, self._free = self._free, self._free + 1
                self._row(Op.SEXT, a=register, dst=wide, bits=WIDTHS[index.type])
                register = wide
            if place == len(terms) - 1:
                target = self._register(instruction.result)
            else:
                target, self._free = self._free, self._free + 1
            self._row(Op.SCALE, b=register, c=scale, dst=target, **fields)
            fields = {"a": target, "number": 0}

    def _expect(self, number: int, condition: Operand) -> None:
        """Foretell the side that a branch takes."""
        block = self._computed.function.blocks[self._layout.segments[number].block]
        index = {b.label: n for n, b in enumerate(self._computed.function.blocks)}
        yes, no = (self._first_block + index[label] for label in block.terminator.labels)
        self._row(Op.EXPECT, a=self._at(condition), b=yes, c=no)


_CONVERSIONS = {name: Op[name.upper()] for name in ("sext", "fpext", "fptrunc", "sitofp", "uitofp", "fptosi")}
_ORDERINGS = {"eq": 1, "gt": 2, "ge": 3, "lt": 4, "le": 5, "ne": 6, "rd": 7}


def _ordering(compare: Instruction) -> int:
    """The results of a comparison of floating-point numbers that make it true, as bits."""
    predicate = compare.predicate
    if predicate in {"true", "false"}:
        return 15 if predicate == "true" else 0
    if predicate == "uno":
        return 8
    return _ORDERINGS[predicate[1:]] | 8 * (predicate[0] == "u")


def _mask(type_text: str) -> int:
    """The bits of a type, as a signed number."""
    width = WIDTHS[type_text]
    return -1 if width == 64 else (1 << width) - 1


def _instructions(layout: Layout) -> Iterator[list[Instruction]]:
    """For each segment its instructions: a call ends one, and so does what the layout cuts without a call."""
    segments = layout.segments
    for number, segment in enumerate(segments):
        block = layout.function.blocks[segment.block]
        start = 0 if segment.first else _start(segment)
        following = segments[number + 1] if number + 1 < len(segments) else None
        is_last = following is None or following.block != segment.block
        end = block.instructions[-1].index + 1 if is_last or following is None else _start(following)
        first = block.instructions[0].index if segment.first else start
        yield [i for i in block.instructions if first <= i.index < end]


def _start(segment: Segment) -> int:
    """The index of the first instruction of a segment that begins amid a block."""
    return segment.sites[0].instruction.index if segment.after is None else segment.after.index + 1


def make_recipes(program: Program, numbering: Numbering) -> Recipes:
    """The recipes of a program's segments."""
    recipes: list[tuple[int, ...]] = []
    operations: list[tuple[int, ...]] = []
    for ref, computed, first in zip(
        program.functions, computed_functions(program, numbering), numbering.first_segment, strict=True
    ):
        kept = kept_units(computed)
        cook = _Cook(computed, kept, ref.first_block)
        behind = followers(computed, kept)
        for number in range(len(kept)):
            follower = behind.get(number, NOTHING)
            recipes.append(
                (len(operations), kept[number].units, first + follower if follower >= 0 else NOTHING, cook.frame)
            )
            operations += cook.recipe(number)
    recipes.append((len(operations), 0, NOTHING, 0))
    return Recipes(np.array(recipes, RECIPE), np.array(operations, OPERATION))
