"""Data races in the user's words: both accesses, the object, and what was missing between them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from whence.probe.layout import Kind as Site
from whence.probe.synchronisation import ATOMIC, Sync
from whence.run.context import stack_at
from whence.run.evidence import Evidence
from whence.run.point import statement_of
from whence.subject.memory_check import Checked as CheckedMemory
from whence.subject.memory_check import Checker as Objects
from whence.subject.memory_words import FoundErrors
from whence.subject.trace_reader import TraceReader, callee_of
from whence.techniques.races.check import Access, Checked, Race
from whence.trace.columns import FrameKind
from whence.trace.effects import STATE_BASE
from whence.trace.happens_before import START

if TYPE_CHECKING:
    from whence.findings import Statement
    from whence.subject.subject import Subject

ACCESSES = frozenset({Site.LOAD, Site.STORE, Site.RMW, Site.COPY, Site.SET})
HIDDEN = {257: "`strtok`", 258: "`getopt`", 261: "the conversions of wide characters"}
VERBS = {True: "write", False: "read"}


@dataclass(slots=True, frozen=True)
class Place:
    """What races that are one share: the two statements, in their order, the object, and how the two name it."""

    one: Statement | None
    other: Statement | None
    object: str
    expressions: frozenset[str]


class FoundRaces:
    """Tells the races of one checked run."""

    def __init__(self, subject: Subject, checked: Checked, objects: Objects) -> None:
        self._subject, self._checked, self._trace = subject, checked, checked.trace
        self._reader = TraceReader(subject, checked.trace)
        self._all_objects = objects

    @cached_property
    def _evidence(self) -> Evidence:
        return Evidence(self._trace)

    @cached_property
    def _objects(self) -> CheckedMemory:
        return self._all_objects.check(self._trace)

    @cached_property
    def _words(self) -> FoundErrors:
        return FoundErrors(self._subject, self._objects)

    # ---- Races that are one ------------------------------------------------------------------------------------------

    def described(self) -> list[tuple[Place, Race, dict[str, Any]]]:
        """The races as results hold them (docs/json.md), in order of time.

        Of several between the same two lines on the same object, the one with a read, if any, tells them all.
        """
        found: dict[Place, Race] = {}
        for race in self._checked.races:
            place = self._place(race)
            known = found.get(place)
            if known is None:
                found[place] = race
            elif known.first.writes and known.second.writes and not (race.first.writes and race.second.writes):
                found[place] = replace(race, count=race.count + known.count)
            else:
                found[place] = replace(known, count=race.count + known.count)
        return [(place, race, self.json(race)) for place, race in found.items()]

    def _place(self, race: Race) -> Place:
        one, other = (self._statement(access.event) for access in (race.first, race.second))
        if (other is not None and one is not None and other < one) or one is None:
            one, other = other, one
        expressions = frozenset(self._expression(access.event) for access in (race.first, race.second))
        owner = self._object(race)
        return Place(one, other, owner["text"] if owner else "", expressions)

    def _object(self, race: Race) -> dict[str, Any] | None:
        """What both accessed."""
        hidden = race.address >= STATE_BASE
        number = 0 if hidden else self._objects.at(race.address, race.second.event)
        return self._words.described(number) if number else None

    def _statement(self, event: int) -> Statement | None:
        return statement_of(self._trace.location(event), self._subject.folder)

    # ---- One race ----------------------------------------------------------------------------------------------------

    def json(self, race: Race) -> dict[str, Any]:
        """A race as results hold it."""
        accesses = [self._access(access) for access in (race.first, race.second)]
        owner = self._object(race)
        missing = self._missing(race, accesses)
        return {
            "kind": "-".join(VERBS[access.writes] for access in (race.first, race.second)),
            "accesses": accesses,
            "object": owner,
            "name": self._name(race, owner, accesses),
            "address": f"{race.address:#x}",
            "bytes": race.length,
            "count": race.count,
            "missing": missing,
            "harm": {"verdict": "not tried", "text": "the other order was not run"},
            "text": [text for text in self._sentences(race, accesses, owner, missing) if text],
        }

    def _access(self, access: Access) -> dict[str, Any]:
        """One side of a race as results hold it."""
        event = access.event
        at, location = self._statement(event), self._trace.location(event)
        seen = self._reader.observation(event)
        instruction = self._trace.instruction(event)
        held = self._checked.held(access)
        return {
            "thread": self.thread(access.thread),
            "writes": access.writes,
            "file": at.file if at else None,
            "line": at.line if at else None,
            "column": location.column if location else 0,
            "clock": self._trace.clock(event),
            "event": event,
            "expression": self._expression(event),
            "value": str(seen.value) if seen is not None and seen.value is not None else None,
            "atomic": bool(self._checked.order_bits(event) & ATOMIC),
            "volatile": instruction.volatile,
            "held": [{"address": f"{address:#x}", "name": self._lock_name(taken)} for address, taken in held],
            "stack": stack_at(self._evidence, event, self._subject.folder),
        }

    def _expression(self, event: int) -> str:
        """The access in C."""
        static = self._reader.static(event)
        if static.kind in ACCESSES and static.path is not None and static.path.text:
            return static.path.text
        return static.text or (f"{callee_of(static)}()" if static.kind is Site.CALL else "memory")

    def thread(self, number: int) -> dict[str, Any]:
        """A thread: its number in order of starts, its first function, and where it was started."""
        first = self._checked.first_event_of(number)
        function, at = "main" if number == 0 else None, None
        if number and 0 <= first < self._trace.events:
            columns = self._trace.columns
            segment = int(columns.events[first]["segment"])
            while (call := int(columns.frames[int(columns.segments[segment]["frame"])]["call"])) >= 0:
                if columns.frames[int(columns.segments[segment]["frame"])]["kind"] == FrameKind.THREAD:
                    event = self._evidence.last_event(call)
                    at = self._statement(event)
                    break
                segment = call
            frame = columns.frames[int(columns.segments[segment]["frame"])]
            function = self._subject.program.functions[int(frame["function"])].name
        return {
            "number": number,
            "function": function,
            "file": at.file if at else None,
            "line": at.line if at else None,
        }

    def _lock_name(self, taken: int) -> str:
        """How the call that took a lock names it."""
        columns = self._trace.columns
        previous = int(columns.segments[int(columns.events[taken]["segment"])]["previous"])
        call = self._evidence.last_event(previous)
        instruction = self._trace.instruction(call)
        argument = 1 if "_wait" in (instruction.callee or "") or "timedwait" in (instruction.callee or "") else 0
        if len(instruction.operands) <= argument:
            return "a lock"
        return self._evidence.operand_text(call, instruction.operands[argument]).removeprefix("&")

    def _name(self, race: Race, owner: dict[str, Any] | None, accesses: list[dict[str, Any]]) -> str:
        """What the two access, in a few words."""
        if race.address >= STATE_BASE:
            return f"the hidden state of {HIDDEN.get((race.address & ~int(STATE_BASE)) >> 3, 'the library')}"
        direct = [a["expression"] for a in accesses if self._reader.static(a["event"]).kind in ACCESSES]
        if direct:
            return f"`{direct[0]}`"
        return owner["text"] if owner else "memory"

    # ---- What was missing --------------------------------------------------------------------------------------------

    def _missing(self, race: Race, accesses: list[dict[str, Any]]) -> str:
        """Which synchronisation was missing between the two."""
        first, second = accesses
        one, other = self._called(race)
        parts = [self._locks(first, second, one, other)]
        if first["atomic"] != second["atomic"]:
            plain, atomic = (other, one) if first["atomic"] else (one, other)
            parts.insert(0, f"{atomic} is atomic, {plain} is not")
        if first["volatile"] or second["volatile"]:
            parts.append("`volatile` orders nothing")
        parts.append(self._join(race))
        return "; ".join(part for part in parts if part)

    def _called(self, race: Race) -> tuple[str, str]:
        """Words for the two accesses that tell them apart."""
        one, other = VERBS[race.first.writes], VERBS[race.second.writes]
        if one != other:
            return f"the {one}", f"the {other}"
        return f"the first {one}", f"the second {other}"

    def _locks(self, first: dict[str, Any], second: dict[str, Any], one: str, other: str) -> str:
        held, also = first["held"], second["held"]
        if not held and not also:
            return "neither holds a lock"
        common = {lock["address"] for lock in held} & {lock["address"] for lock in also}
        if common:
            name = next(lock["name"] for lock in held if lock["address"] in common)
            return f"both hold `{name}`, but for reading only"
        return f"{one} holds {_locks(held)}, {other} holds {_locks(also)}"

    def _join(self, race: Race) -> str:
        """Where one of the threads waits for the other's end, or started it, on the wrong side of the access."""
        for row in self._checked.log:
            pair = {int(row["thread"]), int(row["other"])}
            if pair != {race.first.thread, race.second.thread} or row["sync"] not in (Sync.JOIN, START):
                continue
            at = self._statement(min(int(row["event"]), self._trace.events - 1))
            where = f" on {at.file}:{at.line}" if at else ""
            if row["sync"] == Sync.JOIN and row["event"] > race.second.event:
                return f"the thread's end is waited for only later{where}"
        return ""

    # ---- Words -------------------------------------------------------------------------------------------------------

    def _sentences(
        self, race: Race, accesses: list[dict[str, Any]], owner: dict[str, Any] | None, missing: str
    ) -> list[str]:
        first, second = accesses
        name = self._name(race, owner, accesses)
        what = (
            f"data race on {name}: {_access(first)}, then {_access(second)}, and nothing orders the two"
            f"{f'; {race.count:,} times in this run' if race.count > 1 else ''}"
        )
        about = ""
        if owner is not None:
            about = f"{name} lies in {owner['text']}" if owner["kind"] == "heap" else owner["text"]
            about += (
                f", declared on {owner['file']}:{owner['line']}" if owner["kind"] != "heap" and owner["line"] else ""
            )
        calls = [f"{self._called(race)[n]}: in {_stack(a['stack'])}" for n, a in enumerate(accesses)]
        return [what, missing, about, "; ".join(calls)]


def _access(access: dict[str, Any]) -> str:
    thread = access["thread"]
    who = f"thread {thread['number']}" + (f" (`{thread['function']}`)" if thread["function"] else "")
    what = "writes" if access["writes"] else "reads"
    value = f" {access['value']}" if access["value"] is not None else ""
    where = f" on {access['file']}:{access['line']}" if access["file"] else ""
    return f"{who} {what}{value}{where}"


def _locks(held: list[dict[str, Any]]) -> str:
    names = list(dict.fromkeys(f"`{lock['name']}`" for lock in held))
    return " and ".join(names) if names else "none"


def _stack(stack: dict[str, Any]) -> str:
    """The open calls in one line, the innermost first."""
    calls = [f"`{c['function']}` ({c['file']}:{c['line']})" for c in stack["first"]]
    if stack["left_out"]:
        calls.append(f"... {stack['left_out']} more ...")
    calls += [f"`{c['function']}` ({c['file']}:{c['line']})" for c in stack["last"]]
    return ", called by ".join(calls)
