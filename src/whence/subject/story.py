"""Events in the user's words: the place in the source, the variable, the value as C prints it, and what happened there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whence.findings import Statement
from whence.probe.layout import Kind
from whence.program.expression import Expressions, explain
from whence.program.model import Function, Instruction, Operand
from whence.program.values import format_untyped, format_value
from whence.subject.subject import Subject, is_statement
from whence.trace.dependence import Edge
from whence.trace.trace import Trace

LOOP_LABELS = ("for.cond", "while.cond", "do.cond", "for.inc")
LONGEST = 60  # characters of an expression that is quoted


@dataclass(slots=True, frozen=True)
class Observation:
    """A value seen at an event: ``role`` is ``read``, ``written``, ``argument``, ``returned`` or ``condition``."""

    name: str
    value: str
    role: str


class Story:
    """Tells what the events of one trace were."""

    def __init__(self, subject: Subject, trace: Trace) -> None:
        self.subject, self.trace = subject, trace
        self._expressions = explain(subject.program)

    # ---- Places --------------------------------------------------------------------------------------------

    @cached_property
    def statements(self) -> list[Statement]:
        """All statements that have a site, in order of file and line."""
        return sorted({s for s in self._statement_of_site if s is not None})

    @cached_property
    def _statement_of_site(self) -> list[Statement | None]:
        program, found = self.subject.program, []
        places: dict[int, Statement | None] = {}
        for number in self.trace.plan.sites["instruction"][:-1].tolist():
            if number not in places:
                block = program.block(program.block_of_instruction(number))
                instruction = program.instruction(number)
                written = is_statement(block, instruction)
                place = self.subject.relative(instruction.location) if written else None
                places[number] = Statement(*place) if place else None
            found.append(places[number])
        return found

    @cached_property
    def statement_numbers(self) -> NDArray[np.int32]:
        """For each site the number of its statement in ``statements``; -1 for code without a place."""
        numbers = {statement: n for n, statement in enumerate(self.statements)}
        return np.array([numbers[s] if s else -1 for s in self._statement_of_site], np.int32)

    def statement(self, event: int) -> Statement | None:
        """The statement that an event belongs to."""
        return self._statement_of_site[self.trace.site(event)]

    def events_of(self, statement: Statement) -> NDArray[np.int64]:
        """All events of a statement, in order of time."""
        if statement not in self.statements:
            return np.zeros(0, np.int64)
        number = self.statements.index(statement)
        everything = np.arange(self.trace.events, dtype=np.int64)
        return np.flatnonzero(self.statement_numbers[self.trace.sites(everything)] == number)

    # ---- Values --------------------------------------------------------------------------------------------

    def _context(self, event: int) -> tuple[Expressions, Function, Instruction]:
        number = int(self.trace.plan.sites["instruction"][self.trace.site(event)])
        ref = self.subject.program.function_of_instruction(number)
        return self._expressions[ref.module], ref.function, self.subject.program.instruction(number)

    def observation(self, event: int) -> Observation | None:
        """The variable or expression of an event with its value; None where it has none worth showing."""
        kind = self.trace.kind(event)
        if kind in {Kind.LOAD, Kind.STORE, Kind.RMW}:
            return self._accessed(event, "written" if kind is Kind.STORE else "read")
        if kind is Kind.ARG:
            return self._argument(event)
        if kind is Kind.RESULT:
            return self._returned(event)
        if kind is Kind.BRANCH:
            return self._condition(event)
        return None

    def _accessed(self, event: int, role: str) -> Observation | None:
        expressions, function, instruction = self._context(event)
        path = expressions.accessed(function, instruction)
        raw = self.trace.value(event)
        if path is None or path.text == "" or raw is None:
            return None
        shown = path.show(raw) if path.type is not None else format_untyped(raw, instruction.type)
        return Observation(_short(path.text), shown, role)

    def _argument(self, event: int) -> Observation | None:
        expressions, function, call = self._context(event)
        operand = call.operands[int(self.trace.plan.sites["aux"][self.trace.site(event)])]
        text = _short(expressions.value(function, operand).text)
        raw = self.trace.value(event)
        if raw is None or not operand.is_register:
            return None
        return Observation(text, self._show(expressions, function, operand, raw), "argument")

    def _show(self, expressions: Expressions, function: Function, operand: Operand, raw: int) -> str:
        """A value as the type of the operand's expression has it."""
        ctype = expressions.value(function, operand).type
        return format_value(raw, ctype) if ctype is not None else format_untyped(raw, operand.type)

    def _returned(self, event: int) -> Observation | None:
        expressions, function, call = self._context(event)
        raw = self.trace.value(event)
        if raw is None or call.result is None:
            return None
        shown = self._show(expressions, function, Operand(call.type, call.result), raw)
        return Observation(_short(expressions.expression(function, call)), shown, "returned")

    def _condition(self, event: int) -> Observation | None:
        expressions, function, branch = self._context(event)
        text = expressions.expression(function, branch)
        side = self.side_taken(event)
        return Observation(_short(text), side, "condition") if text and side else None

    def side_taken(self, event: int) -> str:
        """Which way a branch went: ``true``, ``false``, or a switch's case; empty when the run ended there."""
        following = self.next_block(event)
        if following is None:
            return ""
        branch = self.trace.instruction(event)
        label = self.subject.program.block(following).label
        if label not in branch.labels:
            return ""
        if branch.opcode == "br":
            return "true" if branch.labels[0] == label else "false"
        position = branch.labels.index(label)
        return "default" if position == 0 else branch.operands[position].text

    def next_block(self, event: int) -> int | None:
        """The block (its number in the program) that followed an event's block in the same frame."""
        columns = self.trace.columns
        segment = int(columns.events[event]["segment"])
        frame = columns.segments[segment]["frame"]
        rows = columns.segments[segment + 1 : self.trace.segments]
        for start in range(0, len(rows), 4096):
            found = np.flatnonzero((rows["frame"][start : start + 4096] == frame))
            if len(found):
                return int(self.trace.plan.segments[rows[start + int(found[0])]["id"]]["block"])
        return None

    # ---- Sentences -----------------------------------------------------------------------------------------

    def deed(self, event: int) -> str:
        """What an event did, to follow "line N ...": ``gave `n` the value -1``; empty where nothing is worth saying."""
        kind = self.trace.kind(event)
        seen = self.observation(event)
        if kind is Kind.STORE and seen:
            return f"gave `{seen.name}` the value {seen.value}"
        if kind in {Kind.LOAD, Kind.RMW} and seen:
            return f"read `{seen.name}`, which was {seen.value}"
        if kind is Kind.BRANCH and seen:
            return f"found `{seen.name}` {seen.value}" if seen.value in {"true", "false"} else f"went to {seen.value}"
        if kind is Kind.ARG and seen:
            return f"passed `{seen.name}`, which was {seen.value}"
        if kind is Kind.RESULT and seen:
            return f"got {seen.value} from `{seen.name}`"
        expressions, function, instruction = self._context(event)
        text = _short(expressions.expression(function, instruction)) if kind is not Kind.PHI else ""
        return f"executed `{text}`" if text else ""

    def use(self, event: int, place: str) -> str:
        """How a later event used a value, to follow "used by ...": ``the loop test `i < n` on line 45``."""
        kind = self.trace.kind(event)
        expressions, function, instruction = self._context(event)
        if kind is Kind.BRANCH:
            seen = self._condition(event)
            loop = self._block_label(event).startswith(LOOP_LABELS)
            return f"the {'loop ' if loop else ''}test{f' `{seen.name}`' if seen else ''} on {place}"
        if kind in {Kind.ARG, Kind.CALL, Kind.RESULT}:
            return f"the call of `{(instruction.callee or '').lstrip('@%')}` on {place}"
        seen = self.observation(event)
        if kind is Kind.STORE and seen:
            return f"the assignment to `{seen.name}` on {place}"
        return place

    def _block_label(self, event: int) -> str:
        number = int(self.trace.plan.sites["instruction"][self.trace.site(event)])
        return self.subject.program.block(self.subject.program.block_of_instruction(number)).label


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
