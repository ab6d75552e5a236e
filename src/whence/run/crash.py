"""Where a crash shows: the access at the faulting address, the call that did not come back, the division by zero.

What was accessed is told by the address that the trace holds of each access, and by the processor's state in its header
(``trace/fault.py``). Where a pointer is at fault, the text names it and says what its value looks like.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator

from whence.probe.layout import ACCESSES
from whence.probe.layout import Kind as Site
from whence.probe.plan import FIRST
from whence.program.model import Instruction, Operand
from whence.run.aborted import find_abort
from whence.run.evidence import Evidence
from whence.run.oracle import signal_name
from whence.run.outcome import Outcome
from whence.run.point import Point, is_odd, pointer_text
from whence.run.result import RunResult
from whence.run.smashed import find_smashed

DIVISIONS = frozenset({"sdiv", "udiv", "srem", "urem"})
DEEP = 5_000  # open calls from which on a crash may be a stack overflow
STACK_PREFIXES = (0x7F, 0x75)  # bits 40 and up of addresses below the system's stacks, and below a session's
REACH = 1 << 16  # bytes from a pointer within which an access may have been meant


def find_crash(evidence: Evidence, result: RunResult, outcome: Outcome) -> Point:
    """Where a run that a signal ended shows its failure; without an event where the trace does not tell."""
    finder, number = _Finder(evidence), result.signal
    ways: dict[int, Callable[[], Point | None]] = {
        signal.SIGFPE: finder.division,
        signal.SIGSEGV: finder.stack_overflow,
        signal.SIGABRT: lambda: find_abort(evidence, result.stderr),
    }
    point = find_smashed(evidence, result) or ways.get(number, lambda: None)() or finder.access()
    if point.event >= 0:
        point.text = f"{outcome.text}: {point.label}{point.more}"
        point.label = f"{signal_name(number)}: {point.label}"
    return point


class _Finder:
    def __init__(self, evidence: Evidence) -> None:
        self.evidence, self.trace = evidence, evidence.trace
        self.plan, self.columns = evidence.plan, evidence.columns

    # ---- Accesses ------------------------------------------------------------------------------------------

    def access(self) -> Point:
        """The access at the faulting address, else what came last."""
        address = self.trace.fault_address
        event = self._faulting(address)
        if event < 0:
            return Point()
        kind = self.trace.kind(event)
        if kind is Site.CALL:
            return self._call(event, address)
        if kind is Site.BRANCH:
            return Point(event, [event + 1], label=f"after `{self.evidence.expression(event)}` was decided")
        if kind is Site.COPY:
            label = f"copying in `{self.evidence.expression(event)}` at address {address:#x}"
        else:
            verb = "writing" if kind is Site.STORE else "reading"
            label = f"{verb} {self.evidence.accessed(event)} at address {self.trace.address(event) or 0:#x}"
        return Point(event, [event + 1], label=label, more=self._pointer(event, address))

    def _faulting(self, address: int) -> int:
        """The event that crashed: the access at the address, else the call that was entered, else the last access.

        An access at address 0 looks as if it had not been reached: the first of those is meant.
        """
        last = self.evidence.last_event(self.trace.segments - 1) if self.trace.segments else -1
        if last < 0:
            return -1
        first = int(self.columns.segments[self.trace.segments - 1]["event"])
        accesses = [e for e in range(first, last + 1) if self._is_recorded_access(e)]
        reached = [e for e in accesses if self.trace.reached(e)]
        at_null = [e for e in accesses if e not in reached][:1]
        for event in [*at_null, *reversed(reached)]:
            if any(start <= address < start + max(size, 1) for start, size in self.trace.ranges(event)):
                return event
        if reached == accesses and self.trace.kind(last) is Site.CALL:
            return last
        return reached[-1] if reached else self.evidence.control(last)

    def _is_recorded_access(self, event: int) -> bool:
        """Whether the event is a load, store or copy whose address the trace holds."""
        return self.trace.kind(event) in ACCESSES and self.trace.address(event) is not None

    def _pointer(self, event: int, address: int) -> str:
        """The pointer behind an access whose value is no address, in words; empty where it looks like one."""
        pointers = [o for o in self.trace.instruction(event).operands if o.type == "ptr" and o.is_register]
        for pointer in pointers:
            for leaf in self.evidence.leaves(event, pointer):
                value = self.trace.value(leaf)
                near = value is not None and abs(address - value) < REACH
                if near and value and is_odd(value) and self.trace.instruction(leaf).type == "ptr":
                    name = self.evidence.operand_text(event, _result(self.trace.instruction(leaf)))
                    return f": `{name}` is {pointer_text(value)}"
        return ""

    # ---- Calls ---------------------------------------------------------------------------------------------

    def _call(self, event: int, address: int) -> Point:
        """A call that did not come back, and the argument that was no good, if one is near the faulting address."""
        arguments = list(self.evidence.arguments(event))
        target = self.trace.target(event)
        if target is not None and (target == address or is_odd(target)):
            label = f"calling `{self.evidence.expression(event)}`: the function pointer is {pointer_text(target)}"
            return Point(event, [event + 1, *(a + 1 for a in arguments)], label=label)
        label, more = f"in the call of {self.evidence.callee_name(event)}", ""
        near = [(a, v) for a in arguments if (v := self._near(a, address)) is not None and not self._is_left_out(a)]
        odd = [(a, value) for a, value in near if value == 0 or is_odd(value)]
        below = sorted((address - value, a) for a, value in near if value < address)
        if odd:
            more = f": `{self._named(event, odd[0][0])}` is {pointer_text(odd[0][1])}"
            arguments.sort(key=lambda a: a != odd[0][0])
        elif below:
            more = f": at address {address:#x}, {below[0][0]:,} bytes from `{self._named(event, below[0][1])}` on"
        return Point(event, [event + 1, *(a + 1 for a in arguments)], label=label, more=more)

    def _is_left_out(self, argument: int) -> bool:
        """Whether an argument is a null pointer that the source spells out beside other pointers: it stands for
        something that the caller does not want, and is no reason for the call to fail.
        """
        operands = self.trace.instruction(argument).operands  # those of the call
        own = operands[int(self.plan.sites[self.trace.site(argument)]["aux"])]
        return own.text == "null" and sum(o.type == "ptr" for o in operands) > 1

    def _near(self, argument: int, address: int) -> int | None:
        """The value of an argument that is a pointer from which the call may have come to an address; else None."""
        operand = self.trace.instruction(argument).operands[int(self.plan.sites[self.trace.site(argument)]["aux"])]
        value = self.trace.value(argument)
        is_near = operand.type == "ptr" and value is not None and abs(address - value) < REACH and address >= 0
        return value if is_near else None

    def _named(self, call: int, argument: int) -> str:
        number = int(self.plan.sites[self.trace.site(argument)]["aux"])
        return self.evidence.operand_text(call, self.trace.instruction(call).operands[number])

    def stack_overflow(self) -> Point | None:
        """The call that took the stack too deep, if the run was deep in calls and broke off at a high address."""
        if self.trace.fault_address >> 40 not in STACK_PREFIXES:
            return None
        depth = len(self.evidence.open_frames(self.trace.segments - 1))
        if depth < DEEP:
            return None
        event = self._entry()
        label = f"the stack overflowed, {depth} calls deep, in the call of {self.evidence.callee_name(event)}"
        return Point(event, [event + 1], label=label)

    def _entry(self) -> int:
        """The call by which the last frame was entered, -1."""
        frame = self.columns.segments[self.trace.segments - 1]["frame"]
        call = int(self.columns.frames[frame]["call"])
        return self.evidence.last_event(call) if call >= 0 else -1

    # ---- Divisions -----------------------------------------------------------------------------------------

    def division(self) -> Point | None:
        """The integer division that raised SIGFPE, in the last segment, and what its divisor comes from.

        One by what is known to be 0, else the first by what is not known to be another number.
        """
        segment = self.trace.segments - 1
        last = self.evidence.last_event(segment) if segment >= 0 else -1
        if last < 0:
            return None
        divisions = [i for i in self._instructions(segment) if i.opcode in DIVISIONS]
        candidates = [(i, self.evidence.leaves(last, i.operands[1])) for i in divisions]
        divisors = [self._loaded(leaves, i.operands[1].text) for i, leaves in candidates]
        by = {value: c for c, value in zip(candidates[::-1], divisors[::-1], strict=True)}
        found = by.get(0) or by.get(None)
        if found is None:
            return None
        instruction, divisor = found
        label = f"dividing by zero in `{self.evidence.expression(last, instruction)}`"
        criteria = [event + 1 for event in divisor] or [last + 1]
        return Point(criteria[0] - 1, criteria, label=label, location=instruction.location)

    def _loaded(self, events: list[int], register: str) -> int | None:
        """The value of a register that one of the events made; None where it was computed."""
        return next((self.trace.value(e) for e in events if self.trace.instruction(e).result == register), None)

    def _instructions(self, segment: int) -> Iterator[Instruction]:
        """The instructions of a segment instance, in order."""
        identity = int(self.columns.segments[segment]["id"])
        row = self.plan.segments[identity]
        start, end = int(row["site_start"]), int(self.plan.segments[identity + 1]["site_start"])
        first = int(self.trace.program.block_starts[int(row["block"])])
        if not row["flags"] & FIRST:
            first = int(self.plan.sites[start - 1]["instruction"]) + 1
        for number in range(first, int(self.plan.sites[end - 1]["instruction"]) + 1):
            yield self.trace.program.instruction(number)


def _result(instruction: Instruction) -> Operand:
    """What an instruction gives, as an operand of others."""
    return Operand(instruction.type, instruction.result or "")
