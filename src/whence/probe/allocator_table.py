"""Where the program's own allocators are told what to do, as a table for the pass over a trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from whence.probe.allocators import NOTHING, Allocator
from whence.probe.layout import Kind

if TYPE_CHECKING:
    from whence.probe.plan import Plan
    from whence.program.program import FunctionRef, Program

# For each function: the numbers of its arguments (NOTHING: none) and the sites that store them where it begins.
ALLOCATOR = np.dtype(
    [(name, np.int32) for name in ("is_one", "size", "count", "pointer", "size_site", "count_site", "pointer_site")]
)


def allocator_table(program: Program, plan: Plan, allocators: Sequence[Allocator]) -> Any:
    """A row for each function of the program, and one more."""
    table = np.full(len(program.functions) + 1, NOTHING, ALLOCATOR)
    table["is_one"] = 0
    named: Mapping[str, Allocator] = {allocator.name: allocator for allocator in allocators}
    for ref in program.functions:
        if (allocator := named.get(ref.name)) is not None:
            stored = _stored(ref, plan)
            places = (allocator.size, allocator.count, allocator.pointer)
            sites = (stored.get(place, NOTHING) for place in places)
            table[ref.id] = (1, *places, *sites)
    return table


def _stored(ref: FunctionRef, plan: Plan) -> dict[int, int]:
    """By the numbers of a function's parameters the sites that store them into their variables."""
    parameters = {parameter.text: number for number, parameter in enumerate(ref.function.parameters)}
    found: dict[int, int] = {}
    instructions = {i.index: i for i in ref.function.blocks[0].instructions if i.opcode == "store"}
    rows = np.flatnonzero(plan.sites["kind"][:-1] == Kind.STORE)
    numbers = plan.sites["instruction"][rows] - ref.first_instruction
    for site, number in zip(rows.tolist(), numbers.tolist(), strict=True):
        store = instructions.get(number)
        if store is not None and store.operands[0].text in parameters:
            found.setdefault(parameters[store.operands[0].text], site)
    return found
