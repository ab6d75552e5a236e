"""The branches of a recorded run: every instance, which way it went, and which other ways there were.

A *predicate* is the condition of a two-way branch, or what a switch looks at; an *alternative* is one of its instances
sent another way. A two-way branch has one alternative an instance, a switch one for each other target.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whence.alter.changes import CHANGE, Op
from whence.findings import Statement
from whence.probe.layout import Kind
from whence.probe.plan import FIRST
from whence.probe.sites import TYPES, Role, constant_bits
from whence.program.model import Block, Instruction
from whence.program.values import format_constant
from whence.subject.subject import Subject
from whence.subject.trace_reader import TraceReader
from whence.trace.dependence import Edge
from whence.trace.slicing import Slice, dependences

OUTSIDE = (1 << 31) - 1  # depth of an instance that is not in the slice
UNKNOWN = -1  # the side taken where the run ended at the branch
HOPS = 4  # steps from a condition to the values in it

ALTERNATIVE = np.dtype(
    [
        ("event", "<i8"),  # of the branch, in the trace
        ("clock", "<i8"),
        ("branch", "<i4"),  # number in ``Predicates.branches``
        ("side", "<i2"),  # number in its ``sides``: where it is sent
        ("taken", "<i2"),  # number in its ``sides``: where it went, or UNKNOWN
        ("depth", "<i4"),  # dependence edges from the criterion, or OUTSIDE
    ]
)


@dataclass(slots=True, frozen=True)
class Side:
    """One way that a branch can go: its block (the program's number), and a value of the predicate that leads there."""

    block: int
    value: int
    text: str  # ``true``, ``false``, ``case 3``, ``default``


@dataclass(slots=True, frozen=True)
class Branch:
    """A branch of the program with its distinct targets; ``site`` is its number in the alter plan, -1: none."""

    instruction: int
    block: int
    site: int
    sides: tuple[Side, ...]


class Predicates:
    """The branch instances of one run, and their alternatives (``rows``, of ALTERNATIVE, in order of time).

    ``one_sided`` counts the instances that have no other side, or that cannot be altered.
    """

    def __init__(self, reader: TraceReader) -> None:
        self.reader = reader
        self.branches: list[Branch] = []
        self.one_sided = 0
        self._instances: list[NDArray[np.int64]] = []  # by branch: its events
        found = [np.zeros(0, ALTERNATIVE), *self._all_rows()]
        rows = np.concatenate(found)
        self.rows = rows[np.lexsort((rows["side"], rows["event"]))]

    # ---- Rows --------------------------------------------------------------------------------------------------------

    def _all_rows(self) -> list[NDArray[np.void]]:
        """The alternatives of each branch that the run executed."""
        trace, plan = self.reader.trace, self.reader.trace.plan
        executed = self.reader.executed_sites
        following, clocks = self._following(), trace.block_clock
        found = []
        for site in executed[plan.sites["kind"][executed] == Kind.BRANCH].tolist():
            segment = int(plan.sites[site]["segment"])
            rows = self.reader.instances(segment)
            events = trace.columns.segments["event"][rows] + (site - int(plan.segments[segment]["site_start"]))
            branch = branch_of(self.reader.subject, int(plan.sites[site]["instruction"]))
            if branch.site < 0 or len(branch.sides) < 2:
                self.one_sided += len(rows)
                continue
            found += self._rows_of(branch, events.astype(np.int64), clocks[rows], following[rows])
        return found

    def _following(self) -> NDArray[np.int32]:
        """For each segment instance the block that followed its block in the same frame; -1: none."""
        trace = self.reader.trace
        segments = trace.columns.segments[: trace.segments]
        first = np.flatnonzero(trace.plan.segments["flags"][segments["id"]] & FIRST)
        first = first[segments["pred"][first] >= 0]
        following = np.full(trace.segments, -1, np.int32)
        following[segments["pred"][first]] = trace.plan.segments["block"][segments["id"][first]]
        return following

    def _rows_of(
        self, branch: Branch, events: NDArray[np.int64], clocks: NDArray[np.int64], following: NDArray[np.int32]
    ) -> list[NDArray[np.void]]:
        """One branch's alternatives, side by side."""
        taken = np.full(len(events), UNKNOWN, np.int16)
        for number, side in enumerate(branch.sides):
            taken[following == side.block] = number
        found = []
        for number in range(len(branch.sides)):
            other = taken != number
            rows = np.zeros(int(np.count_nonzero(other)), ALTERNATIVE)
            rows["event"], rows["clock"], rows["taken"] = events[other], clocks[other], taken[other]
            rows["branch"], rows["side"], rows["depth"] = len(self.branches), number, OUTSIDE
            found.append(rows)
        self.branches.append(branch)
        self._instances.append(events)
        return found

    def measure(self, found: Slice) -> None:
        """Fill in the depths by a slice."""
        depths = found.event_depth[self.rows["event"]] - 1
        self.rows["depth"] = np.where(depths >= 0, depths, OUTSIDE)

    def changes(self, rows: NDArray[np.void]) -> NDArray[np.void]:
        """The change (CHANGE) that each of some alternatives stands for."""
        found = np.zeros(len(rows), CHANGE)
        sites = self.reader.subject.alter_plan.sites
        for number in np.unique(rows["branch"]).tolist():
            branch, here = self.branches[number], rows["branch"] == number
            found["site"][here], found["block"][here] = branch.site, branch.block
            found["width"][here], found["form"][here] = sites[branch.site]["width"], sites[branch.site]["form"]
            found["value"][here] = np.array([side.value for side in branch.sides], np.uint64)[rows["side"][here]]
        found["clock"], found["op"] = rows["clock"], Op.SET
        return found

    # ---- In the user's words -----------------------------------------------------------------------------------------

    def statement(self, row: np.void) -> Statement | None:
        """Where the branch stands."""
        return self.reader.statement(int(row["event"]))

    def text(self, row: np.void) -> str:
        """The condition in C."""
        return self.reader.static(int(row["event"])).text

    def taken(self, row: np.void) -> str | None:
        """Which way the instance went; None where the run ended there."""
        return None if row["taken"] == UNKNOWN else self.branches[int(row["branch"])].sides[int(row["taken"])].text

    def other(self, row: np.void) -> str:
        """Which way the alternative sends it."""
        return self.branches[int(row["branch"])].sides[int(row["side"])].text

    def occurrence(self, row: np.void) -> tuple[int, int]:
        """The number of the instance among those of its branch, from 1, over all frames; and how many there are."""
        events = self._instances[row["branch"]]
        return int(np.searchsorted(events, row["event"])) + 1, len(events)

    def values(self, row: np.void) -> list[dict[str, Any]]:
        """The variables and results in the condition, with what they were: ``{"name", "value"}``."""
        found: dict[str, str | None] = {}
        self._gather(int(row["event"]) + 1, HOPS, found)
        return [{"name": name, "value": value} for name, value in found.items()]

    def _gather(self, reference: int, hops: int, found: dict[str, str | None]) -> None:
        """Add what a node's value was computed from, seen through what has no name of its own."""
        trace = self.reader.trace
        for target, kind in dependences(trace.plan, trace.columns, reference, control=False):
            if target <= 0 or kind is not Edge.VALUE:
                continue
            seen = self.reader.observation(target - 1)
            if seen is not None:
                found.setdefault(seen.name, seen.value)
            elif hops and trace.kind(target - 1) is Kind.PHI:
                self._gather(target, hops - 1, found)


# ---- The branches of the program -------------------------------------------------------------------------------------


def branch_of(subject: Subject, number: int) -> Branch:
    """The branch that an instruction of the program is, with one side for each distinct target."""
    program = subject.program
    instruction, block = program.instruction(number), program.block_of_instruction(number)
    blocks = {b.label: n for n, b in _numbered_blocks(subject, block)}
    ways = _cases(subject, number, instruction) if instruction.opcode == "switch" else _two_ways(instruction)
    sides: dict[int, Side] = {}
    for label, value, text in ways:
        sides.setdefault(blocks[label], Side(blocks[label], value, text))
    return Branch(number, block, site_of(subject, number), tuple(sides.values()))


def _numbered_blocks(subject: Subject, block: int) -> Iterator[tuple[int, Block]]:
    """The blocks of a block's function, with their numbers in the program."""
    ref = subject.program.function_of_block(block)
    return enumerate(ref.function.blocks, ref.first_block)


def _two_ways(branch: Instruction) -> list[tuple[str, int, str]]:
    """Label, condition and name of the sides of a two-way branch; nothing for an indirect one."""
    return [(branch.labels[0], 1, "true"), (branch.labels[1], 0, "false")] if branch.opcode == "br" else []


def _cases(subject: Subject, number: int, switch: Instruction) -> Iterator[tuple[str, int, str]]:
    """Label, value and name of each case of a switch; then the default with a value that is no label."""
    ref = subject.program.function_of_instruction(number)
    ctype = subject.expressions[ref.module].value(ref.function, switch.operands[0]).type
    labelled = set()
    for label, constant in zip(switch.labels[1:], switch.operands[1:], strict=True):
        value = constant_bits(constant)
        if value is not None:
            labelled.add(value)
            wide = int(constant.text) & ((1 << 64) - 1)
            yield label, value, f"case {format_constant(wide, ctype) if ctype is not None else constant.text}"
    free = next(value for value in count() if value not in labelled)
    if free >> TYPES.get(switch.operands[0].type, (0, 64))[1] == 0:
        yield switch.labels[0], free, "default"


def site_of(subject: Subject, instruction: int) -> int:
    """The number of a branch's site in the alter plan; -1: it has none."""
    sites = subject.alter_plan.sites
    start, end = np.searchsorted(sites["instruction"], [instruction, instruction + 1])
    found = [n for n in range(start, end) if sites["role"][n] in (Role.BRANCH, Role.SWITCH)]
    return found[0] if found else -1
