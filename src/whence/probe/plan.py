"""The static plan of a program: what every unit of its traces means, as flat tables.

The recorder writes segment numbers, addresses and values; everything else about an event is static and stands here: its
kind, where its units lie, which sites its value comes from, which blocks control its block. Numba kernels read the
columns; Python asks ``Plan.instruction_of`` what a site is in the source.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from whence.probe.layout import ACCESSES, Kind, Layout, Leaf, Leaves, Segment, Site, lay_out, starts_threads, uses
from whence.program.cfg import control_dependence
from whence.program.model import Function, Instruction, Operand
from whence.program.program import FunctionRef, Program

NAME = re.compile(r'@("[^"]*"|[-a-zA-Z$._0-9]+)')
NO_CALLEE = -1  # an indirect call, or a callee that neither the program nor the library table knows
# Bits of a segment's flags. UNKNOWN: it ends with a call by a name that nobody knows; OPAQUE: it starts behind such a
# call, or behind one through a pointer. STEP: it holds a step of its thread. ASSEMBLES: it holds inline assembly.
ENTRY, FIRST, FRAME, ADDRESS, CALLS, RETURNS, UNKNOWN, OPAQUE, STEP, ASSEMBLES = (1 << bit for bit in range(10))
SAME_BLOCK = -1  # kinds of reference in ref_outer: the same block, a parameter, or k >= 0: the k-th outer block
PARAMETER = -2


def _table(*names: str) -> np.dtype[Any]:
    """A record type of int32 fields."""
    return np.dtype([(name, np.int32) for name in names])


# A ``_start`` field is where a row's own rows in another table begin; they end where the next row's begin, so
# those tables have one row more than there are items.
SEGMENT = _table("block", "function", "flags", "units", "site_start", "outer_start", "access_start")
SITE = _table("kind", "unit", "units", "size", "aux", "callee", "segment", "instruction", "ref_start")
ACCESS = _table("site", "kind", "unit", "units", "size", "slot")
REF = _table("target", "outer", "pred", "role")
BLOCK = _table("function", "control_start")
FUNCTION = _table("block_start", "parameters", "slots")
OTHER = _table("block")


class Plan(NamedTuple):
    """Tables of records. ``accesses`` repeats the sites that touch memory, for the decoder's innermost loop.

    ``callee`` of a CALL: a function's number, -1 unknown, -2 - n library function n.

    References of a site (``refs``): ``target`` is a site, or a parameter's number where ``outer`` is -2; ``outer`` k
    >= 0 says that the site lies in the segment's k-th outer block; ``pred`` is the predecessor block for which a
    phi's reference holds (-1: not a phi's); ``role`` is a ``layout.Role``.
    """

    segments: Any
    sites: Any
    accesses: Any
    refs: Any
    outers: Any
    blocks: Any
    controls: Any
    functions: Any


class Numbering:
    """The layouts of all functions, with the number of each one's first segment.

    ``has_private`` is that of ``lay_out``; numbers of segments and sites are the same with and without. ``has_steps``:
    the program has threads.
    """

    def __init__(self, program: Program, has_private: bool = True) -> None:
        taken = _address_taken(program)
        self.has_steps = steps = starts_threads(program)
        self.layouts: list[Layout] = []
        self.first_segment: list[int] = []
        count = 0
        for number, ref in enumerate(program.functions):
            module = ref.module

            def is_defined(name: str, module: int = module) -> bool:
                return program.resolve(module, name) is not None

            layout = lay_out(ref.function, program.modules[module], number in taken, is_defined, has_private, steps)
            self.layouts.append(layout)
            self.first_segment.append(count)
            count += len(layout.segments)


def _address_taken(program: Program) -> set[int]:
    """Numbers of the functions whose address is used other than to call them."""
    taken: set[int] = set()
    for index, module in enumerate(program.modules):
        texts = chain(module.globals.values(), _operand_texts(module.functions.values()))
        for name in {name for text in texts for name in NAME.findall(text)}:
            number = program.resolve(index, name)
            if number is not None:
                taken.add(number)
    return taken


def _operand_texts(functions: Iterable[Function]) -> Iterable[str]:
    """Texts of all operands that may name a function (a callee is none)."""
    for function in functions:
        for block in function.blocks:
            for instruction in block.instructions:
                for operand in instruction.operands:
                    if "@" in operand.text:
                        yield operand.text


class _Tables:
    """Grows the plan's tables function by function; rows are tuples in the order of the record types."""

    def __init__(self, program: Program, library: Mapping[str, int]) -> None:
        self._program = program
        self._library = library
        self._segments: list[tuple[int, ...]] = []
        self._sites: list[tuple[int, ...]] = []
        self._accesses: list[tuple[int, ...]] = []
        self._refs: list[tuple[int, ...]] = []
        self._outers: list[int] = []
        self._blocks: list[tuple[int, ...]] = []
        self._controls: list[int] = []
        self._functions: list[tuple[int, ...]] = []

    def plan(self) -> Plan:
        """The finished tables, with the rows that end the last item's own rows."""
        self._segments.append((-1, -1, 0, 0, len(self._sites), len(self._outers), len(self._accesses)))
        self._sites.append((0,) * 8 + (len(self._refs),))
        self._functions.append((len(self._blocks), 0, 0))
        self._blocks.append((-1, len(self._controls)))
        return Plan(
            np.array(self._segments, SEGMENT),
            np.array(self._sites, SITE),
            np.array(self._accesses, ACCESS),
            np.array(self._refs, REF),
            np.array([(n,) for n in self._outers], OTHER),
            np.array(self._blocks, BLOCK),
            np.array([(n,) for n in self._controls], OTHER),
            np.array(self._functions, FUNCTION),
        )

    def add_function(self, number: int, layout: Layout) -> None:
        """Append one function's blocks, segments and sites."""
        ref = self._program.functions[number]
        self._functions.append((ref.first_block, len(ref.function.parameters), len(layout.slots)))
        for parents in control_dependence(ref.function):
            self._blocks.append((number, len(self._controls)))
            self._controls += [ref.first_block + p for p in parents]
        resolver = _Resolver(ref, layout, len(self._sites))
        for segment in layout.segments:
            self._add_segment(segment, ref, resolver)

    def _add_segment(self, segment: Segment, ref: FunctionRef, resolver: _Resolver) -> None:
        """Append a segment and its sites."""
        number = len(self._segments)
        block = ref.first_block + segment.block
        starts = (len(self._sites), len(self._outers), len(self._accesses))
        self._segments.append((block, ref.id, self._flags(segment, ref.module), segment.units, *starts))
        outers: list[int] = []
        for site in segment.sites:
            callee = self._callee(site.instruction, ref.module) if site.kind is Kind.CALL else NO_CALLEE
            instruction = ref.first_instruction + site.instruction.index
            own = (int(site.kind), site.unit, site.units, site.size, site.aux)
            if site.kind in ACCESSES:
                place = len(self._sites) - starts[0]
                self._accesses.append((place, *own))
            self._sites.append((*own, callee, number, instruction, len(self._refs)))
            self._refs += resolver.references(site, segment.block, outers)
        self._outers += outers

    def _callee(self, call: Instruction, module: int) -> int:
        """What a call calls, as far as the text says."""
        name = call.callee or ""
        if not name.startswith("@"):
            return NO_CALLEE
        number = self._program.resolve(module, name[1:])
        if number is not None:
            return number
        library = self._library.get(name[1:])
        return NO_CALLEE if library is None else -2 - library

    def _flags(self, segment: Segment, module: int) -> int:
        """The bits of a segment's flags."""
        last = segment.sites[-1] if segment.sites else None
        calls = last is not None and last.kind is Kind.CALL
        named = last is not None and (last.instruction.callee or "").startswith("@")
        return (
            ENTRY * segment.entry
            | FIRST * segment.first
            | FRAME * segment.frame
            | ADDRESS * segment.address
            | CALLS * calls
            | RETURNS * (last is not None and last.kind is Kind.RET)
            | UNKNOWN * (last is not None and calls and named and self._callee(last.instruction, module) == NO_CALLEE)
            | STEP * segment.step
            | ASSEMBLES * segment.assembles
            | OPAQUE * (segment.after is not None and self._callee(segment.after, module) == NO_CALLEE)
        )


def _site_numbers(layout: Layout, first: int) -> dict[tuple[int, Kind], int]:
    """Number of the site for each (instruction index, kind); arguments are not referred to."""
    sites = (s for segment in layout.segments for s in segment.sites)
    return {(s.instruction.index, s.kind): n for n, s in enumerate(sites, first)}


LEAF_KIND = {"load": Kind.LOAD, "phi": Kind.PHI, "atomicrmw": Kind.RMW, "cmpxchg": Kind.RMW, "call": Kind.RESULT}


class _Resolver:
    """Turns a site's operands into references to the sites and parameters behind them."""

    def __init__(self, ref: FunctionRef, layout: Layout, first_site: int) -> None:
        function = ref.function
        self._leaves = Leaves(function)
        self._numbers = _site_numbers(layout, first_site)
        self._first_block = ref.first_block
        self._block_of = {id(i): n for n, b in enumerate(function.blocks) for i in b.instructions}
        self._label = {b.label: n for n, b in enumerate(function.blocks)}

    def references(self, site: Site, block: int, outers: list[int]) -> Iterable[tuple[int, int, int, int]]:
        """(target, outer, pred, role) of each dependence; new outer blocks are appended to ``outers``."""
        if site.kind is Kind.PHI:
            instruction = site.instruction
            for operand, label in zip(instruction.operands, instruction.labels, strict=True):
                pred = self._first_block + self._label[label]
                yield from self._of(operand, 0, pred, -1, outers)
            return
        for role, operand in uses(site):
            yield from self._of(operand, int(role), -1, block, outers)

    def _of(
        self, operand: Operand, role: int, pred: int, block: int, outers: list[int]
    ) -> Iterable[tuple[int, int, int, int]]:
        if not operand.is_register:
            return
        for leaf in self._leaves.of(operand.text):
            yield (*self._target(leaf, block, outers), pred, role)

    def _target(self, leaf: Leaf, block: int, outers: list[int]) -> tuple[int, int]:
        instruction = leaf.instruction
        if instruction is None:
            return leaf.parameter, PARAMETER
        target = self._numbers[(instruction.index, LEAF_KIND[instruction.opcode])]
        home = self._block_of[id(instruction)]
        if home == block:
            return target, SAME_BLOCK
        number = self._first_block + home
        if number not in outers:
            outers.append(number)
        return target, outers.index(number)


def make_plan(program: Program, numbering: Numbering, library: Mapping[str, int]) -> Plan:
    """The plan of a program; ``library`` gives the number of each library function that has a summary."""
    tables = _Tables(program, library)
    for number, layout in enumerate(numbering.layouts):
        tables.add_function(number, layout)
    return tables.plan()
