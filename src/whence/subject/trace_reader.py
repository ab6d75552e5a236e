"""Events in the user's words: the place in the source, the variable with its value in C, and what happened there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from whence.findings import Statement
from whence.probe.layout import Kind
from whence.probe.plan import ENTRY
from whence.program.model import Function, Instruction, Operand
from whence.program.program import plain_name
from whence.program.values import format_constant, format_untyped, format_value
from whence.trace.dependence import Edge

if TYPE_CHECKING:
    from whence.program.expression import AccessPath, Expressions
    from whence.subject.subject import Subject
    from whence.trace.trace import Trace

LOOP_LABELS = ("for.cond", "while.cond", "do.cond", "for.inc")
LONGEST = 60  # characters of an expression that is quoted
RETURN_VALUE = "return value"
MEMORY = frozenset({Kind.LOAD, Kind.STORE, Kind.RMW})


@dataclass(slots=True, frozen=True)
class Observation:
    """A value seen at an event: ``role`` is ``read``, ``written``, ``argument``, ``returned`` or ``condition``.

    ``value`` is None where the recording does not tell it.
    """

    name: str
    value: str | None
    role: str


@dataclass(slots=True, frozen=True)
class StaticSite:
    """What is the same for all events of a site."""

    kind: Kind
    explainer: Expressions
    function: Function
    instruction: Instruction
    label: str  # of its block
    argument: int  # the number of an ARG's argument
    path: AccessPath | None  # what is loaded or stored

    @property
    def text(self) -> str:
        """What the instruction does, in C."""
        return _short(self.explainer.expression(self.function, self.instruction))

    def show(self, operand: Operand, raw: int) -> str:
        """A value as the type of the operand's expression has it."""
        ctype = self.explainer.value(self.function, operand).type
        return format_value(raw, ctype) if ctype is not None else format_untyped(raw, operand.type)


class TraceReader:
    """Tells what the events of one trace were."""

    def __init__(self, subject: Subject, trace: Trace) -> None:
        self.subject, self.trace = subject, trace
        self.statements = subject.places.statements
        self._static_sites: dict[int, StaticSite] = {}
        self._seen: dict[int, Observation | None] = {}
        self._used: dict[int, frozenset[str]] = {}
        self._ordered: tuple[range, NDArray[np.int64], NDArray[np.int64]] | None = None

    # ---- Places ------------------------------------------------------------------------------------------------------

    @cached_property
    def statement_numbers(self) -> NDArray[np.int32]:
        """For each site the number of its statement in ``statements``; -1 for code without a place."""
        instructions = self.trace.plan.sites["instruction"][:-1]
        return np.asarray(self.subject.places.numbers[instructions], np.int32)

    def statement(self, event: int) -> Statement | None:
        """The statement that an event belongs to."""
        number = self.statement_numbers[self.trace.site(event)]
        return self.statements[number] if number >= 0 else None

    @property
    def _instances(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The trace's segment instances by static segment, then time; and where those of each segment start."""
        shown = range(self.trace.first_segment, self.trace.segments)
        if self._ordered is None or self._ordered[0] != shown:
            ids = self.trace.columns.segments["id"][shown.start : shown.stop]
            count = len(self.trace.plan.segments)
            narrow = ids.astype(np.uint16) if count < 1 << 16 else ids  # which NumPy sorts in linear time
            starts = np.concatenate([[0], np.cumsum(np.bincount(ids, minlength=count))])
            self._ordered = shown, np.argsort(narrow, kind="stable") + shown.start, starts
        return self._ordered[1:]

    def instances(self, segment: int) -> NDArray[np.int64]:
        """The segment instances of a static segment, in order of time."""
        order, starts = self._instances
        return order[starts[segment] : starts[segment + 1]]

    def events_of(self, statement: Statement, last: int | None = None) -> NDArray[np.int64]:
        """The events of a statement in order of time: all of them, or only the ``last`` ones."""
        order, starts = self._instances
        plan, found = self.trace.plan, [np.zeros(0, np.int64)]
        for site in self._sites_of.get(statement, ()):
            segment = int(plan.sites[site]["segment"])
            rows = order[starts[segment] : starts[segment + 1]]
            offset = site - int(plan.segments[segment]["site_start"])
            rows = rows if last is None else rows[-last:]
            found.append(self.trace.columns.segments["event"][rows].astype(np.int64) + offset)
        events = np.sort(np.concatenate(found), kind="stable")  # quick, since what is joined is sorted
        return events if last is None else events[-last:]

    @cached_property
    def executed_sites(self) -> NDArray[np.int64]:
        """The sites that the run reached, ascending; the last segment counts as a whole."""
        _, starts = self._instances
        reached = np.diff(starts)[self.trace.plan.sites["segment"][:-1]]
        return np.flatnonzero(reached)

    def begun_behind(self, event: int) -> frozenset[Statement]:
        """The statements of which the run executed nothing before the block of an event, or in it, but something later.

        Of a run whose beginning was not recorded that is not known of any.
        """
        if self.trace.first_segment:
            return frozenset()
        row = int(self.trace.columns.events["segment"][event])
        is_before = np.zeros(len(self.trace.plan.segments), np.bool_)
        is_before[self.trace.columns.segments["id"][: row + 1]] = True
        sites = self.executed_sites
        is_early = is_before[self.trace.plan.sites["segment"][sites]]
        numbers = self.statement_numbers[sites]
        later = set(numbers[~is_early].tolist()) - set(numbers[is_early].tolist()) - {-1}
        return frozenset(self.statements[number] for number in later)

    def sites(self, events: NDArray[np.int64]) -> NDArray[np.int32]:
        """The sites of many events."""
        return self.trace.sites(events)

    @cached_property
    def _sites_of(self) -> dict[Statement, list[int]]:
        sites: dict[Statement, list[int]] = {}
        for site, number in enumerate(self.statement_numbers.tolist()):
            if number >= 0:
                sites.setdefault(self.statements[number], []).append(site)
        return sites

    # ---- Values ------------------------------------------------------------------------------------------------------

    def static(self, event: int) -> StaticSite:
        """The static side of an event."""
        site = self.trace.site(event)
        if site not in self._static_sites:
            self._static_sites[site] = self._make_static(site)
        return self._static_sites[site]

    def _make_static(self, site: int) -> StaticSite:
        program, row = self.subject.program, self.trace.plan.sites[site]
        number, kind = int(row["instruction"]), Kind(int(row["kind"]))
        ref = program.function_of_instruction(number)
        instruction, label = program.instruction(number), program.block(program.block_of_instruction(number)).label
        explainer = self.subject.expressions[ref.module]
        path = explainer.accessed(ref.function, instruction) if kind in MEMORY else None
        return StaticSite(kind, explainer, ref.function, instruction, label, int(row["aux"]), path)

    def observation(self, event: int) -> Observation | None:
        """The variable or expression of an event with its value; None where it has none worth showing."""
        if event not in self._seen:
            seen = None if self.broke_off(event) else self._observe(event)
            self._seen[event] = seen if seen is not None and seen.value is not None else None
        return self._seen[event]

    def named(self, event: int) -> Observation | None:
        """Like ``observation``, but an event without a value keeps its name: the call of a function, a test."""
        return self.observation(event) or self._observe(event, blind=True)

    def called(self, event: int) -> str:
        """What the value of an event is called, in quotes: its name, else the code that gave it."""
        seen = self.named(event)
        text = seen.name if seen is not None else self.static(event).text
        return f"`{text}`" if text else "a value"

    def _observe(self, event: int, blind: bool = False) -> Observation | None:
        static = self.static(event)
        raw = None if blind else self.trace.value(event)
        if static.kind in MEMORY:
            return _accessed(static, raw)
        if static.kind is Kind.ARG:
            return _argument(static, raw if raw is not None or blind else self._received(event, static.argument))
        if static.kind is Kind.CALL:
            return Observation(f"{callee_of(static)}()", None, "returned")
        if static.kind is Kind.RESULT:
            return _result(static, raw) if static.instruction.result in self._registers_used(event) else None
        if static.kind is Kind.RET:
            return self._returned(event, static) if static.instruction.operands else None
        if static.kind is Kind.BRANCH and static.text:
            return Observation(static.text, None if blind else self.side_taken(event), "condition")
        return None

    def _returned(self, event: int, static: StaticSite) -> Observation:
        """What a return gave back: the result that the call behind it got."""
        trace = self.trace
        following = int(trace.columns.events[event]["segment"]) + 1
        raw = None
        if following < trace.segments and trace.columns.segments[following]["source"] == event + 1:
            raw = trace.value(int(trace.columns.segments[following]["event"]))
        operand = static.instruction.operands[0]
        return Observation(RETURN_VALUE, None if raw is None else static.show(operand, raw), "returned")

    def _registers_used(self, event: int) -> frozenset[str]:
        """The registers that instructions of an event's function use; what a call gave is no news where none does."""
        function = self.static(event).function
        if id(function) not in self._used:
            instructions = function.instructions()
            self._used[id(function)] = frozenset(operand.text for i in instructions for operand in i.operands)
        return self._used[id(function)]

    def _received(self, event: int, argument: int) -> int | None:
        """What the function that was called got as an argument: the value with which it filled its parameter."""
        trace, columns = self.trace, self.trace.columns
        entry = int(columns.events[event]["segment"]) + 1
        if entry >= trace.segments:
            return None
        row = columns.segments[entry]
        segment = trace.plan.segments[row["id"]]
        if not segment["flags"] & ENTRY or columns.frames[row["frame"]]["call"] != entry - 1:
            return None
        formals = self.subject.program.functions[int(segment["function"])].function.parameters
        first, count = int(row["event"]), int(trace.plan.segments[row["id"] + 1]["site_start"] - segment["site_start"])
        for stored in range(first, first + count):
            static = self.static(stored)
            if static.kind is Kind.STORE and static.instruction.operands[0].text == formals[argument].text:
                return trace.value(stored)
        return None

    def broke_off(self, event: int) -> bool:
        """Whether the run ended before the event was done: its value is not known."""
        return self.trace.shows_end and self._end <= event < self._last_stretch[1]

    @cached_property
    def _last_stretch(self) -> tuple[int, int]:
        """The events of the last segment that the thread ran which ended the run: the first, and one past the last."""
        trace = self.trace
        if not trace.segments or trace.header.end == "exit":
            return trace.events, trace.events
        row = trace.columns.segments[trace.segments - 1]
        first, segment = int(row["event"]), int(row["id"])
        starts = trace.plan.segments["site_start"]
        return first, first + int(starts[segment + 1] - starts[segment])

    @cached_property
    def _end(self) -> int:
        """The first event that was not done when a signal ended the run, a large number where all were."""
        first, end = self._last_stretch
        faulting = self.trace.fault_address
        for event in range(first, end):
            address = self.trace.address(event)
            size = max(1, int(self.trace.plan.sites[self.trace.site(event)]["size"]))
            if address == 0 or (address is not None and faulting > 0 and address <= faulting < address + size):
                return event
        return end

    def side_taken(self, event: int) -> str | None:
        """Which way a branch went: ``true``, ``false``, ``case 3``, ``default``, or the label that a computed ``goto``
        went to; None when the run ended there.
        """
        following = self.next_block(event)
        if following is None:
            return None
        branch = self.trace.instruction(event)
        label = self.subject.program.block(following).label
        if label not in branch.labels:
            return None
        if branch.opcode == "br":
            return "true" if branch.labels[0] == label else "false"
        if branch.opcode != "switch":
            return label
        position = branch.labels.index(label)
        return "default" if position == 0 else f"case {self._case(event, branch.operands[position])}"

    def _case(self, event: int, constant: Operand) -> str:
        """A constant of a switch, as the type of what is tested has it."""
        static = self.static(event)
        ctype = static.explainer.value(static.function, static.instruction.operands[0]).type
        if ctype is None or not constant.text.lstrip("-").isdigit():
            return constant.text
        return format_constant(int(constant.text) & ((1 << 64) - 1), ctype)

    def next_block(self, event: int) -> int | None:
        """The block (its number in the program) that followed an event's block in the same frame."""
        columns = self.trace.columns
        if event < self.trace.first_event:
            return None
        segment = int(columns.events[event]["segment"])
        frame = columns.segments[segment]["frame"]
        rows = columns.segments[segment + 1 : self.trace.segments]
        for start in range(0, len(rows), 4096):
            found = np.flatnonzero(rows["frame"][start : start + 4096] == frame)
            if len(found):
                return int(self.trace.plan.segments[rows[start + int(found[0])]["id"]]["block"])
        return None

    # ---- Sentences ---------------------------------------------------------------------------------------------------

    def action(self, event: int) -> str:
        """What an event did, to follow "line N ...": ``gave `n` the value -1``; empty where nothing is worth saying."""
        static = self.static(event)
        if self.broke_off(event):
            return self._last_action(event, static)
        seen = self.observation(event)
        if seen is None:
            text = static.text if static.kind is not Kind.PHI else ""
            return f"executed `{text}`" if text else ""
        if seen.name == RETURN_VALUE:
            return f"returned {seen.value}"
        if static.kind is Kind.STORE:
            return f"gave `{seen.name}` the value {seen.value}"
        if static.kind is Kind.BRANCH:
            return f"found `{seen.name}` {seen.value}" if seen.value in {"true", "false"} else f"went to `{seen.value}`"
        if static.kind is Kind.RESULT:
            return f"got {seen.value} from `{seen.name}`"
        verb = "passed" if static.kind is Kind.ARG else "read"
        return f"{verb} `{seen.name}`, which was {seen.value}"

    def _last_action(self, event: int, static: StaticSite) -> str:
        """What an event did at which the run ended."""
        if event > self._end or self.trace.header.end != "signal" or static.path is None or not static.path.text:
            return ""
        return f"crashed {'writing' if static.kind is Kind.STORE else 'reading'} `{_short(static.path.text)}`"

    def use(self, event: int, place: str) -> str:
        """How a later event used a value, to follow "used by ...": ``the loop test `i < n` on line 45``."""
        static = self.static(event)
        if static.kind is Kind.BRANCH:
            loop = static.label.startswith(LOOP_LABELS)
            return f"the {'loop ' if loop else ''}test{f' `{static.text}`' if static.text else ''} on {place}"
        if static.kind in {Kind.ARG, Kind.CALL, Kind.RESULT}:
            return f"the call of `{callee_of(static)}` on {place}"
        if static.kind is Kind.RET:
            return f"the return on {place}"
        if static.kind is Kind.STORE and static.path and static.path.text:
            name = _short(static.path.text)
            return f"the return on {place}" if name == RETURN_VALUE else f"the assignment to `{name}` on {place}"
        return place


def _accessed(static: StaticSite, raw: int | None) -> Observation | None:
    """What a load or store read or wrote."""
    path = static.path
    if path is None or path.text == "":
        return None
    role = "returned" if path.text == RETURN_VALUE else "written" if static.kind is Kind.STORE else "read"
    shown = None
    if raw is not None:
        shown = path.show(raw) if path.type is not None else format_untyped(raw, static.instruction.type)
    return Observation(_short(path.text), shown, role)


def _argument(static: StaticSite, raw: int | None) -> Observation | None:
    """What a call was given; constants and addresses of variables are no news."""
    operand = static.instruction.operands[static.argument]
    text = _short(static.explainer.value(static.function, operand).text)
    if not operand.is_register or text.startswith("&"):
        return None
    return Observation(text, None if raw is None else static.show(operand, raw), "argument")


def _result(static: StaticSite, raw: int | None) -> Observation | None:
    """What a call gave."""
    call = static.instruction
    if call.result is None:
        return None
    return Observation(
        static.text, None if raw is None else static.show(Operand(call.type, call.result), raw), "returned"
    )


def callee_of(static: StaticSite) -> str:
    """What a call calls, in C: a function's name, or the expression that holds its address."""
    callee = static.instruction.callee or ""
    if callee.startswith("@"):
        return plain_name(callee[1:])
    return _short(static.explainer.value(static.function, Operand("ptr", callee)).text)


def _short(text: str) -> str:
    """An expression that fits into a sentence."""
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


EDGE_NAMES = {
    Edge.VALUE: "data",
    Edge.ADDRESS: "data",
    Edge.MEMORY: "data",
    Edge.CONTROL: "control",
    Edge.CALL: "call",
    Edge.LIBRARY: "library",
}


def json_value(seen: Observation) -> dict[str, Any]:
    """An observation as results hold it."""
    return {"name": seen.name, "value": seen.value, "role": seen.role}
