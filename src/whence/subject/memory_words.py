"""Memory errors in the user's words: the object, the access, by how much it missed, what it hit, both call stacks."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from whence.findings import Statement
from whence.probe.layout import Kind as Site
from whence.probe.layout import Role
from whence.probe.plan import PARAMETER, SAME_BLOCK
from whence.program.types import member_offset
from whence.run.context import stack_at
from whence.run.evidence import Evidence
from whence.run.outcome import Kind as Verdict
from whence.run.outcome import Outcome
from whence.run.point import statement_of
from whence.subject.declared import declared_variable
from whence.subject.memory_check import Checked, Error, Kind
from whence.subject.trace_reader import TraceReader, callee_of
from whence.trace import objects
from whence.trace.dependence import event_in_block
from whence.trace.given import ARRAYS, WORD
from whence.trace.handles import FAMILIES

if TYPE_CHECKING:
    from whence.program.debug import CType, Variable
    from whence.subject.subject import Subject

ACCESSES = frozenset({Site.LOAD, Site.STORE, Site.RMW, Site.COPY, Site.SET})
DECIDES = {
    objects.BRANCHES: "decides which way the program goes",
    objects.ADDRESSES: "decides which address is accessed",
    objects.CALLS_WITH: "is given to",
    objects.EXITS: "is the exit status",
}


class FoundErrors:
    """Tells the errors of one checked run."""

    def __init__(self, subject: Subject, checked: Checked) -> None:
        self._checked, self._folder = checked, subject.folder
        self._subject = subject
        self._reader = TraceReader(subject, checked.trace)

    @cached_property
    def _evidence(self) -> Evidence:
        return Evidence(self._checked.trace)

    def statement(self, error: Error) -> Statement | None:
        """The line that did it; of a leak the one that took the block."""
        event = error.event
        if error.kind is Kind.LEAK:
            event = int(self._checked.table[error.object]["declared"])
        return self._statement(event)

    def _statement(self, event: int) -> Statement | None:
        return statement_of(self._checked.trace.location(event), self._folder) if event >= 0 else None

    def json(self, error: Error) -> dict[str, Any]:
        """One error as results hold it (docs/json.md), with its sentences in ``text``."""
        at = self.statement(error)
        leak = error.kind is Kind.LEAK
        event = int(self._checked.table[error.object]["declared"]) if leak else error.event
        location = self._checked.trace.location(event)
        owner = self.object(error) if error.object else None
        hit = self.hit(error)
        told = {
            "kind": str(error.kind),
            "file": at.file if at else None,
            "line": at.line if at else None,
            "column": location.column if location else 0,
            "clock": self._checked.trace.clock(event),
            "event": event,
            "count": error.count,
            "access": {
                "writes": bool(error.writes) and error.kind not in (Kind.UNDEFINED, Kind.LEAK),
                "expression": self._expression(error),
                "bytes": error.length,
                "address": f"{error.address:#x}",
                "values": self._values(error),
            },
            "object": owner,
            "origin": self.origin(error),
            "beyond": self._beyond(error),
            "hit": hit,
            "stack": stack_at(self._evidence, event, self._folder),
            "text": [text for text in self._sentences(error, owner, hit) if text],
        }
        return told | {"reachable": bool(error.writes)} if leak else told

    def brief(self, error: Error) -> str:
        """One error in a few words, with its place: ``a write beyond `name` at FILE:LINE``."""
        at = f"at {_place(self.statement(error))}"
        if error.kind is Kind.UNDEFINED and (made := self._made_from(error)):
            never = f"{made['name']} at {made['file']}:{made['line']}, which was never given a value"
            return f"the use of {self._never_given(error)} {at}, made from {never}"
        if error.kind is Kind.UNDEFINED:
            return f"the use of {self._never_given(error)}, which was never given a value, {at}"
        if error.kind is Kind.OVERLAP:
            return f"an overlapping copy {at}"
        described = self.described(error.object)
        if self._is_handle(error):
            what, when = ("closing", "twice") if error.kind is Kind.TWICE else ("the use of", "after it was closed")
            return f"{what} {described['text']} {when}, {at}"
        if described["name"]:
            return f"{self._way(error)} `{described['name']}`{self._gone(error)} {at}"
        what, _, how = self._way(error).partition(" ")  # "a write", "giving back"
        more, _, preposition = how.partition(" ")
        return " ".join(filter(None, [what, more, at, preposition, f"{described['text']}{self._gone(error)}"]))

    def _way(self, error: Error) -> str:
        """What an error did to its object."""
        if error.kind in (Kind.TWICE, Kind.NO_BLOCK):
            return "giving back"
        if error.kind is Kind.LEAK:
            return "the loss of"
        access = "a write" if error.writes else "a read"
        if error.kind is Kind.BOUNDS:
            beyond = self._beyond(error)
            return f"{access} {'before' if beyond and beyond['side'] == 'before' else 'beyond'}"
        return f"{access} of"

    def _gone(self, error: Error) -> str:
        """When that was, of an object that was not to be used any more."""
        return {
            Kind.FREED: " after it was given back",
            Kind.RETURNED: " after its function returned",
            Kind.LEFT: " outside of its braces",
            Kind.TWICE: " twice",
            Kind.NO_BLOCK: ", which is no block,",
        }.get(error.kind, "")

    # ---- Objects -----------------------------------------------------------------------------------------------------

    def object(self, error: Error) -> dict[str, Any]:
        """The object of an error, with its size at that time."""
        found = self.described(error.object)
        found["size"] = error.size
        row = self._checked.table[error.object]
        made = int(row["declared"]) if row["kind"] in (objects.HEAP, objects.HANDLE) else -1
        found["stack"] = stack_at(self._evidence, made, self._folder) if made >= 0 else None
        died = error.death
        if error.kind in {Kind.FREED, Kind.RETURNED, Kind.TWICE} and died >= 0:
            place = self._statement(died)
            found["gone"] = {
                "file": place.file if place else None,
                "line": place.line if place else None,
                "stack": stack_at(self._evidence, died, self._folder),
            }
        return found

    def described(self, number: int) -> dict[str, Any]:
        """Name, type, size and origin of an object."""
        row = self._checked.table[number]
        if row["parent"]:
            return self._described_member(row)
        kind, declared = int(row["kind"]), int(row["declared"])
        common = {"base": f"{int(row['base']):#x}", "size": int(row["size"])}
        if kind == objects.HEAP:
            at = self._statement(declared)
            made = callee_of(self._reader.static(declared))
            text = f"the block of {_bytes(int(row['size']))} that `{made}` made on {_place(at)}"
            return {"kind": "heap", "name": None, "type": None, "text": text, **_where(at), **common}
        if kind == objects.HANDLE:
            return self._handle(declared) | common
        if kind == objects.GIVEN:
            return self._given(row) | _where(None) | common
        variable, module = declared_variable(self._subject, self._checked.declarations, kind, declared)
        if variable is None:
            return {"kind": _KINDS[kind], "name": None, "type": None, "text": module, **_where(None), **common}
        spelling = variable.type.spelling if variable.type else None
        owner = "" if kind == objects.STATIC else f", {self._owner(kind, declared)}"
        named = f"`{variable.name}` ({spelling or 'no type'}, {_bytes(int(row['size']))}{owner})"
        at = statement_of(_location(variable), self._folder)
        return {"kind": _KINDS[kind], "name": variable.name, "type": spelling, "text": named, **_where(at), **common}

    def _handle(self, opened: int) -> dict[str, Any]:
        """Name, type and words of a handle of the C library, with the call that opened it."""
        at, opener = self._statement(opened), callee_of(self._reader.static(opened))
        family = next(family for family in FAMILIES if opener in family.opens)
        text = f"the {family.word} that `{opener}` made on {_place(at)}"
        return {"kind": "handle", "name": None, "type": None, "text": text, **_where(at)}

    def _is_handle(self, error: Error) -> bool:
        return bool(self._checked.table[error.object]["kind"] == objects.HANDLE)

    def _given(self, row: Any) -> dict[str, Any]:
        """Name, type and words of what ``main`` was given: an array, or one of its strings."""
        rows = self._checked.table
        arrays = rows[np.flatnonzero(rows["kind"] == objects.GIVEN)[:ARRAYS]]
        counts, size = (arrays["size"] // WORD - 1).tolist(), _bytes(int(row["size"]))
        number, names = int(row["declared"]), ("argv", "environ")
        if number < ARRAYS:
            of = ("argument", "variable")[number]
            text = f"`{names[number]}` ({counts[number]} {of}s and a null pointer, {size})"
            kind, name, ctype = _KINDS_GIVEN[number], names[number], f"char *[{counts[number] + 1}]"
        else:
            number -= ARRAYS
            is_variable = number >= counts[0]
            number -= counts[0] if is_variable else 0
            kind, name = _KINDS_GIVEN[is_variable], f"{names[is_variable]}[{number}]"
            what = "a variable of the environment" if is_variable else f"argument {number}"
            text, ctype = f"`{name}` ({what}, {size})", f"char [{int(row['size'])}]"
        return {"kind": kind, "name": name, "type": ctype, "text": text}

    def _described_member(self, row: Any) -> dict[str, Any]:
        """The same of an array inside of an object."""
        module, array = self._checked.declarations.members[int(row["member"]) - 1]
        whole, size = self.described(int(row["parent"])), int(row["size"])
        start = 8 * member_offset(array.structure, array.member, self._subject.program.modules[module])
        structure = self._subject.expressions[module].debug.tagged(array.structure) or self._type_around(row, start)
        known = structure.plain.members if structure is not None else ()
        member = next((m for m in known if m.offset == start and m.type.size == size), None)
        spelling = member.type.spelling if member is not None else None
        named = f"`{member.name}` ({spelling}, {_bytes(size)})" if member is not None else f"array of {_bytes(size)}"
        name = member.name if member is not None else None
        return whole | {
            "name": name,
            "type": spelling,
            "text": f"the member {named} of {whole['text']}",
            "base": f"{int(row['base']):#x}",
            "size": size,
        }

    def _type_around(self, part: Any, start: int) -> CType | None:
        """The type of the variable that a member array lies in, where it is at bit ``start`` of it; None: of none."""
        whole = self._checked.table[int(part["parent"])]
        kind = int(whole["kind"])
        if kind not in _KINDS or kind == objects.HEAP or 8 * int(part["base"] - whole["base"]) != start:
            return None
        declared = int(whole["declared"])
        variable, _ = declared_variable(self._subject, self._checked.declarations, kind, declared)
        return variable.type if variable is not None else None

    def _owner(self, kind: int, declared: int) -> str:
        function = self._subject.program.functions[self._checked.declarations.locals[declared].function]
        word = "parameter" if kind == objects.COPIED else "local"
        return f"{word} of `{function.name}`"

    def hit(self, error: Error) -> dict[str, Any] | None:
        """The object that the first byte outside belongs to; None: none that is known."""
        if error.kind is not Kind.BOUNDS:
            return None
        row = self._checked.table[error.object]
        base = int(row["base"])
        outside = error.address if error.address < base else max(error.address, base + error.size)
        number = self._checked.at(outside, error.event)
        if row["parent"] and number == self._checked.whole(error.object):
            return self.described(number) | {"text": "other members of it"}
        return self.described(number) if number not in (0, error.object) else None

    def _beyond(self, error: Error) -> dict[str, Any] | None:
        """On which side of the object and how far away the first byte outside is, and how many bytes are outside."""
        if error.kind is not Kind.BOUNDS:
            return None
        base = int(self._checked.table[error.object]["base"])
        end = base + error.size
        if error.address < base:
            return {
                "side": "before",
                "distance": base - error.address,
                "bytes": min(error.length, base - error.address),
            }
        over = error.address + error.length - end
        return {"side": "behind", "distance": max(0, error.address - end), "bytes": min(error.length, over)}

    # ---- Words -------------------------------------------------------------------------------------------------------

    def _expression(self, error: Error) -> str | None:
        """The access in C."""
        if error.kind is Kind.LEAK:
            return None
        static = self._reader.static(error.event)
        if static.kind in ACCESSES and static.path is not None and static.path.text:
            return static.path.text
        return static.text or None

    def _values(self, error: Error) -> list[dict[str, str]]:
        """Names and values behind the access: the pointer, the index, what was written."""
        if error.kind is Kind.LEAK:
            return []
        events = [*self._operands(error.event), error.event]
        if self._reader.static(error.event).kind is Site.CALL:
            events = [*self._evidence.arguments(error.event)]
        seen = [self._reader.observation(event) for event in dict.fromkeys(events)]
        found = {o.name: str(o.value) for o in seen if o is not None and o.value is not None}
        return [{"name": name, "value": value} for name, value in found.items()]

    def _operands(self, event: int) -> list[int]:
        """The events of the same frame that an access takes its address from."""
        trace = self._checked.trace
        plan, columns, site = trace.plan, trace.columns, trace.site(event)
        segment = int(columns.events[event]["segment"])
        found = []
        for ref in plan.refs[plan.sites[site]["ref_start"] : plan.sites[site + 1]["ref_start"]]:
            if ref["role"] != Role.ADDRESS or ref["outer"] == PARAMETER:
                continue
            place = columns.segments[segment]["outer"] + ref["outer"]
            home = segment if ref["outer"] == SAME_BLOCK else int(columns.outer[place])
            source = event_in_block(plan, columns, home, int(ref["target"]))
            if source >= 0:
                found.append(int(source))
        return found

    def _sentences(self, error: Error, owner: dict[str, Any] | None, hit: dict[str, Any] | None) -> list[str]:
        """What happened; where the object comes from; where it went; through which calls."""
        first = self._access(error, owner, hit)
        values = [f"`{v['name']}` = {v['value']}" for v in self._values(error)]
        if values and error.kind is not Kind.UNDEFINED:
            first += f" ({', '.join(values)})"
        if error.count > 1:
            first += f"; {error.count:,} times in this run"
        made = self.origin(error)
        held = f"{made['name']} lies in {made['object']['text']}" if made and made["object"] else ""
        return [first, held, self._origin(owner), self._calls(error)]

    def _access(self, error: Error, owner: dict[str, Any] | None, hit: dict[str, Any] | None) -> str:
        named = owner["text"] if owner else "an object that is not known"
        kind = error.kind
        if kind is Kind.UNDEFINED:
            return self._undefined(error)
        if kind is Kind.LEAK:
            end = (
                "could still be reached, and was not given back," if error.writes else "was lost: nothing pointed to it"
            )
            return f"{named} {end} when the run ended"
        shown = f"`{self._expression(error)}`"
        if kind is Kind.OVERLAP:
            distance = abs(error.address - error.other)
            where = f"a place {_bytes(distance)} away" if distance else "where they are"
            return f"{shown} copies {_bytes(error.length)} to {where}: the two overlap"
        if self._is_handle(error):
            does, again = ("closes", " again") if kind is Kind.TWICE else ("uses", " after it was closed")
            return f"{shown} {does} {named}{again}"
        if kind is Kind.TWICE:
            return f"{shown} gives back what was given back before: {named}"
        if kind is Kind.NO_BLOCK:
            offset = error.address - int(self._checked.table[error.object]["base"])
            inside = f" at byte {offset}" if owner and owner["kind"] == "heap" else ""
            what = "an address inside" if inside else "what `malloc` did not make:"
            return f"{shown} gives back {what} {named}{inside}"
        verb = "writes" if error.writes else "reads"
        if kind is Kind.BOUNDS:
            return f"{shown} {verb} {self._missed(error)} of {named}, {_hit(hit)}"
        when = {Kind.FREED: "after it was given back", Kind.RETURNED: "after its function returned"}
        then = when.get(kind, "outside of the braces that it lives in")
        return f"{shown} {verb} {_bytes(error.length)} of {named} {then}"

    def _missed(self, error: Error) -> str:
        found = self._beyond(error)
        assert found is not None
        far, outside = int(found["distance"]), int(found["bytes"])
        if found["side"] == "before":
            return f"{_bytes(error.length)}, beginning {_bytes(far)} before the start"
        if far:
            return f"{_bytes(error.length)}, {_bytes(far)} behind the end"
        return f"{_bytes(outside)} behind the end" + (f" ({error.length} in all)" if error.length != outside else "")

    def _never_given(self, error: Error) -> str:
        """What an undefined value is called."""
        if error.missing:
            return f"{error.missing} of {self.described(error.object)['text']}"
        name = self._reader.called(error.argument)
        return f"what {name} points to" if error.length else name

    def origin(self, error: Error) -> dict[str, Any] | None:
        """Where an undefined value, or what it was made from, was read first; None: that is not known."""
        if error.kind is not Kind.UNDEFINED or error.missing or error.length:
            return None
        event = self._checked.origin(error.argument)
        if (place := self._statement(event)) is None:
            return None
        held = next((self._checked.at(start, event) for start, _ in self._checked.trace.ranges(event)), 0)
        owner = self.described(held) if held else None
        name = self._reader.called(event)
        return {"file": place.file, "line": place.line, "event": event, "name": name, "object": owner}

    def _made_from(self, error: Error) -> dict[str, Any] | None:
        """The origin of an undefined value that is another one than the value itself."""
        if (origin := self.origin(error)) is None:
            return None
        read = Statement(origin["file"], origin["line"]), origin["name"]
        return None if read == (self._statement(error.argument), self._reader.called(error.argument)) else origin

    def _undefined(self, error: Error) -> str:
        what = DECIDES[error.writes]
        if error.writes == objects.CALLS_WITH:
            what += f" `{callee_of(self._reader.static(error.event))}`"
        never = self._never_given(error)
        if made := self._made_from(error):
            never += f" was made from {made['name']} on {made['file']}:{made['line']}, which"
        return f"{never} was never given a value, and {what}"

    def _origin(self, owner: dict[str, Any] | None) -> str:
        """Where the object was made, and where it went."""
        if owner is None:
            return ""
        parts = []
        if owner["stack"]:
            parts.append(f"made in {_stack(owner['stack'])}")
        elif owner["line"]:
            parts.append(f"declared on {owner['file']}:{owner['line']}")
        if owner.get("gone"):
            verb = "closed in" if owner["kind"] == "handle" else "gone since"
            parts.append(f"{verb} {_stack(owner['gone']['stack'])}")
        return "; ".join(parts)

    def _calls(self, error: Error) -> str:
        return "" if error.kind is Kind.LEAK else f"in {_stack(stack_at(self._evidence, error.event, self._folder))}"


def memory_outcome(subject: Subject, checked: Checked) -> Outcome | None:
    """The outcome of a checked run that failed in nothing else: its first memory error; None: it has none."""
    if not checked.errors:
        return None
    first = checked.errors[0]
    behind = (first.event, first.argument, first.death)  # an undefined value, where the object was given back
    events = tuple(dict.fromkeys(event for event in behind if event >= 0))
    return Outcome(Verdict.MEMORY, FoundErrors(subject, checked).brief(first), events=events)


_KINDS_GIVEN = ("argument", "environment")
_KINDS = {
    objects.LOCAL: "stack",
    objects.COPIED: "stack",
    objects.HEAP: "heap",
    objects.STATIC: "static",
}


def _location(variable: Variable) -> Any:
    from whence.program.model import Location

    return Location(variable.file, variable.line, 0, variable.scope)


def _where(at: Statement | None) -> dict[str, Any]:
    return {"file": at.file if at else None, "line": at.line if at else None}


def _place(at: Statement | None) -> str:
    return f"{at.file}:{at.line}" if at else "an unknown line"


def _bytes(number: int) -> str:
    return f"{number:,} byte" if number == 1 else f"{number:,} bytes"


def _hit(hit: dict[str, Any] | None) -> str:
    return f"and hits {hit['text']}" if hit else "where no variable or block is known"


def _stack(stack: dict[str, Any]) -> str:
    """The open calls in one line, the innermost first."""
    calls = [f"`{c['function']}` ({c['file']}:{c['line']})" for c in stack["first"]]
    if stack["left_out"]:
        calls.append(f"... {stack['left_out']} more ...")
    calls += [f"`{c['function']}` ({c['file']}:{c['line']})" for c in stack["last"]]
    return ", called by ".join(calls)
