"""The static plan of a program: what every word of its traces means, as flat columns.

The recorder writes segment numbers, addresses and values; everything else about an event is static and stands here: its
kind, where its words lie, which sites its value comes from, which blocks control its block. Numba kernels read the
columns; Python asks ``Plan.instruction_of`` what a site is in the source.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from whence.probe.layout import Kind, Layout, Leaf, Leaves, Segment, Site, lay_out, uses
from whence.program.cfg import control_dependence
from whence.program.model import Function, Operand
from whence.program.program import Program

Ints = NDArray[np.int32]

NO_CALLEE = -1  # an indirect call, or a callee that neither the program nor the library table knows
ENTRY, FIRST, FRAME, ADDRESS, CALLS, RETURNS = 1, 2, 4, 8, 16, 32  # bits of segment_flags
SAME_BLOCK = -1  # kinds of reference in ref_outer: the same block, a parameter, or k >= 0: the k-th outer block
PARAMETER = -2


class Plan(NamedTuple):
    """Columns over segments, sites, blocks and functions; ``x_start`` columns delimit runs (CSR), one longer.

    References of a site (``ref_*``): ``ref_target`` is a site, or a parameter's number where ``ref_outer`` is -2;
    ``ref_outer`` k >= 0 says that the site lies in the segment's k-th outer block; ``ref_pred`` is the predecessor
    block for which a phi's reference holds (-1: not a phi's); ``ref_role`` is a ``layout.Role``.
    """

    segment_block: Ints
    segment_flags: Ints
    segment_site_start: Ints
    segment_words: Ints
    outer_start: Ints
    outer_block: Ints
    site_kind: Ints
    site_word: Ints
    site_words: Ints
    site_size: Ints
    site_aux: Ints
    site_callee: Ints  # CALL: function number, -1 unknown, or -2 - n for library function n
    site_segment: Ints
    site_instruction: Ints
    ref_start: Ints
    ref_target: Ints
    ref_outer: Ints
    ref_pred: Ints
    ref_role: Ints
    block_function: Ints
    control_start: Ints
    control_block: Ints
    function_block_start: Ints
    function_parameters: Ints


class Numbering:
    """The layouts of all functions, with the number of each one's first segment."""

    def __init__(self, program: Program) -> None:
        taken = _address_taken(program)
        self.layouts: list[Layout] = []
        self.first_segment: list[int] = []
        count = 0
        for number, ref in enumerate(program.functions):
            layout = lay_out(ref.function, program.modules[ref.module], number in taken)
            self.layouts.append(layout)
            self.first_segment.append(count)
            count += len(layout.segments)


def _address_taken(program: Program) -> set[int]:
    """Numbers of the functions whose address is used other than to call them."""
    taken: set[int] = set()
    for index, module in enumerate(program.modules):
        names = set(program.names_visible_in(index))
        texts = chain(module.globals.values(), _operand_texts(module.functions.values()))
        for name in _mentioned(texts, names):
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


def _mentioned(texts: Iterable[str], names: set[str]) -> set[str]:
    """The names that occur behind an "@" in the texts."""
    pattern = re.compile(r'@("[^"]*"|[-a-zA-Z$._0-9]+)')
    return {m for text in texts for m in pattern.findall(text) if m in names}


class _Columns:
    """Grows the plan's columns function by function."""

    def __init__(self, program: Program, library: dict[str, int]) -> None:
        self._program = program
        self._library = library
        self._data: dict[str, list[int]] = {name: [] for name in Plan._fields}
        for name in self._data:
            if name.endswith("_start"):
                self._data[name].append(0)

    def plan(self) -> Plan:
        """The finished columns."""
        return Plan(**{name: np.asarray(values, np.int32) for name, values in self._data.items()})

    def add_function(self, number: int, layout: Layout) -> None:
        """Append one function's blocks, segments and sites."""
        data, ref = self._data, self._program.functions[number]
        first_block = data["function_block_start"][-1]
        numbers = _site_numbers(layout, len(data["site_kind"]))
        resolver = _Resolver(ref.function, layout, numbers, first_block)
        previous = -1
        for segment in layout.segments:
            if segment.block != previous:
                self._add_block(number)
            previous = segment.block
            self._add_segment(segment, first_block, ref.first_instruction, ref.module, resolver)
        for parents in control_dependence(ref.function):
            data["control_block"] += [first_block + p for p in parents]
            data["control_start"].append(len(data["control_block"]))
        data["function_block_start"].append(first_block + len(ref.function.blocks))
        data["function_parameters"].append(len(ref.function.parameters))

    def _add_block(self, function: int) -> None:
        self._data["block_function"].append(function)

    def _add_segment(
        self, segment: Segment, first_block: int, first_instruction: int, module: int, resolver: _Resolver
    ) -> None:
        """Append a segment and its sites."""
        data = self._data
        number = len(data["segment_block"])
        data["segment_block"].append(first_block + segment.block)
        data["segment_flags"].append(_flags(segment))
        data["segment_words"].append(segment.words)
        outers: list[int] = []
        for site in segment.sites:
            data["site_kind"].append(site.kind)
            data["site_word"].append(site.word)
            data["site_words"].append(site.words)
            data["site_size"].append(site.size)
            data["site_aux"].append(site.aux)
            data["site_segment"].append(number)
            data["site_instruction"].append(first_instruction + site.instruction.index)
            data["site_callee"].append(self._callee(site, module))
            for target, outer, pred, role in resolver.references(site, segment.block, outers):
                data["ref_target"].append(target)
                data["ref_outer"].append(outer)
                data["ref_pred"].append(pred)
                data["ref_role"].append(role)
            data["ref_start"].append(len(data["ref_target"]))
        data["segment_site_start"].append(len(data["site_kind"]))
        data["outer_block"] += outers
        data["outer_start"].append(len(data["outer_block"]))

    def _callee(self, site: Site, module: int) -> int:
        """What a call calls, as far as the text says."""
        name = site.instruction.callee or ""
        if site.kind is not Kind.CALL or not name.startswith("@"):
            return NO_CALLEE
        number = self._program.resolve(module, name[1:])
        if number is not None:
            return number
        library = self._library.get(name[1:])
        return NO_CALLEE if library is None else -2 - library


def _flags(segment: Segment) -> int:
    """The bits of ``segment_flags``."""
    last = segment.sites[-1].kind if segment.sites else None
    return (
        ENTRY * segment.entry
        | FIRST * segment.first
        | FRAME * segment.frame
        | ADDRESS * segment.address
        | CALLS * (last is Kind.CALL)
        | RETURNS * (last is Kind.RET)
    )


def _site_numbers(layout: Layout, first: int) -> dict[tuple[int, Kind], int]:
    """Number of the site for each (instruction index, kind); arguments are not referred to."""
    sites = (s for segment in layout.segments for s in segment.sites)
    return {(s.instruction.index, s.kind): n for n, s in enumerate(sites, first)}


LEAF_KIND = {"load": Kind.LOAD, "phi": Kind.PHI, "atomicrmw": Kind.RMW, "cmpxchg": Kind.RMW, "call": Kind.RESULT}


class _Resolver:
    """Turns a site's operands into references to the sites and parameters behind them."""

    def __init__(
        self, function: Function, layout: Layout, numbers: dict[tuple[int, Kind], int], first_block: int
    ) -> None:
        self._leaves = Leaves(function)
        self._numbers = numbers
        self._first_block = first_block
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


def make_plan(program: Program, numbering: Numbering, library: dict[str, int]) -> Plan:
    """The plan of a program; ``library`` gives the number of each library function that has a summary."""
    columns = _Columns(program, library)
    for number, layout in enumerate(numbering.layouts):
        columns.add_function(number, layout)
    return columns.plan()
