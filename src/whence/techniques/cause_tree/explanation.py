"""A cause tree in the user's words: for each node the condition, its values, the contradiction, the lines to read."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whence.findings import Statement
from whence.formula.path import Assumption
from whence.probe.layout import Kind
from whence.techniques.cause_tree.declarations import Declarations
from whence.techniques.cause_tree.tree import Cause, Node, Tree
from whence.trace.dependence import Edge
from whence.trace.slicing import dependences

HOPS = 4  # steps from a condition to the named values in it
VALUES = 8  # that are shown of one condition
READS = 40  # of one cause, the nearest, whose neighbours are looked for
CORE = 5  # assumptions of a core that are named in a sentence


@dataclass(slots=True)
class Line:
    """A statement of a cause: the event nearest to the condition, and the statements from there to the symptom.

    ``beside`` is the event of the cause that read the same object elsewhere; -1 where the statement's own event is of
    the cause. ``text`` says what a declaration did to the event.
    """

    statement: Statement
    event: int
    way: tuple[Statement, ...]
    beside: int = -1
    text: str = ""


class Explanation:
    """Says what the nodes of a tree are."""

    def __init__(self, tree: Tree) -> None:
        self.tree, self.reader = tree, tree.reader
        self._declarations = Declarations(tree.reader, tree.path)
        self._ways: dict[int, tuple[Statement, ...]] = {}
        self._lines: dict[int, list[Line]] = {}
        self._chains: dict[int, dict[int, tuple[int, ...]]] = {}  # by cause and event: numbers of statements

    # ---- Lines -------------------------------------------------------------------------------------------------------

    def way(self, node: Node) -> tuple[Statement, ...]:
        """The statements to read from the symptom to a node's condition, both included."""
        if node.number not in self._ways:
            before = self.way(node.parent) + self._chain(node) if node.parent is not None else ()
            own = self.reader.statement(node.event) if node.event >= 0 else None
            self._ways[node.number] = _distinct([*before, *([own] if own else [])])
        return self._ways[node.number]

    def _chain(self, node: Node) -> tuple[Statement, ...]:
        """The statements on the way from what a condition decided over to its parent's condition."""
        assert node.parent is not None
        for cause in node.parent.causes:
            if node.use >= 0 and cause.found.holds(node.use):
                return self._statements(cause, node.use)
        return ()

    def _statements(self, cause: Cause, event: int) -> tuple[Statement, ...]:
        """The statements on the way from a cause's goal to one of its events; ways share their beginnings."""
        known = self._chains.setdefault(id(cause), {})
        new: list[int] = []
        chain: tuple[int, ...] = ()
        for passed in cause.found.way(event):
            if passed in known:
                chain = known[passed]
                break
            new.append(passed)
        for passed in reversed(new):
            number = self.reader.statement_numbers.item(self.reader.trace.site(passed))
            known[passed] = chain = chain if number < 0 or number in chain else (*chain, number)
        return tuple(self.reader.statements[number] for number in chain)

    def lines(self, node: Node) -> list[Line]:
        """The statements of a node's causes, the nearest to its condition first."""
        if node.number not in self._lines:
            found: dict[Statement, Line] = {}
            for cause in node.causes:
                for statement, event in self._nearest(cause):
                    if statement not in found and statement not in self.tree.fine:
                        way = _distinct([*self.way(node), *self._statements(cause, event)])
                        found[statement] = Line(statement, event, way)
            for line in self._declared(node):
                found.setdefault(line.statement, line)
            own = sorted(found.values(), key=lambda line: len(line.way))
            self._lines[node.number] = [*own, *self._neighbours(node, set(found))]
        return self._lines[node.number]

    def _declared(self, node: Node) -> Iterator[Line]:
        """The declarations that values of a node's causes come from."""
        known: set[Statement] = set()
        for cause in node.causes:
            unwritten, stored = self.tree.influence.unwritten(cause.events), self._stores(cause.events)
            for events in (unwritten, stored):
                for event in events[np.argsort(cause.found.depth_of(events), kind="stable")][:READS].tolist():
                    found = self._declarations.behind(event, events is unwritten)
                    if found is not None and found[0] not in known | self.tree.fine:
                        known.add(found[0])
                        way = _distinct([*self.way(node), *self._statements(cause, event), found[0]])
                        yield Line(found[0], event, way, text=found[1])

    def _stores(self, events: NDArray[np.int64]) -> NDArray[np.int64]:
        kinds = self.reader.trace.plan.sites["kind"][self.reader.sites(events)]
        return np.asarray(events[kinds == Kind.STORE], np.int64)

    def _neighbours(self, node: Node, known: set[Statement]) -> list[Line]:
        """The other statements that stored beside what a node's causes read, those of the nearest reads first."""
        found: list[Line] = []
        influence = self.tree.influence
        for cause in node.causes:
            reads = influence.reads(cause.events)
            for read in reads[np.argsort(cause.found.depth_of(reads), kind="stable")][:READS].tolist():
                before = self._statements(cause, read)
                for store in influence.neighbours.of(read):
                    for event in (store, influence.call_of(store)):
                        statement = self.reader.statement(event) if event >= 0 else None
                        if statement is not None and statement not in known | self.tree.fine:
                            known.add(statement)
                            way = _distinct([*self.way(node), *before, statement])
                            found.append(Line(statement, event, way, read))
        return sorted(found, key=lambda line: len(line.way))

    def _nearest(self, cause: Cause) -> list[tuple[Statement, int]]:
        """Each statement of a cause with its event nearest to the goal, of equally near ones one with a value."""
        events = np.union1d(cause.events, cause.calls)
        numbers = self.reader.statement_numbers[self.reader.sites(events)]
        order = np.lexsort((-events, cause.found.depth_of(events), numbers))
        kept, first = np.unique(numbers[order], return_index=True)
        found = []
        for number, start in zip(kept.tolist(), first.tolist(), strict=True):
            if number >= 0:
                same = events[order[start : start + 4]]
                same = same[numbers[order[start : start + 4]] == number]
                event = next((e for e in same.tolist() if self.reader.observation(e)), int(same[0]))
                found.append((self.reader.statements[number], event))
        return found

    # ---- Words -------------------------------------------------------------------------------------------------------

    def values(self, event: int) -> list[dict[str, Any]]:
        """The variables and results in a condition, or what an event read or wrote: ``{"name", "value"}``."""
        found: dict[str, str | None] = {}
        own = self.reader.observation(event)
        if own is not None and self.reader.trace.kind(event) is not Kind.BRANCH:
            found[own.name] = own.value
        self._gather(event + 1, HOPS, found)
        return [{"name": name, "value": value} for name, value in found.items()][:VALUES]

    def _gather(self, reference: int, hops: int, found: dict[str, str | None]) -> None:
        trace = self.reader.trace
        for target, kind in dependences(trace.plan, trace.columns, reference, control=False):
            if target <= 0 or kind is not Edge.VALUE:
                continue
            seen = self.reader.observation(target - 1)
            if seen is not None:
                found.setdefault(seen.name, seen.value)
            elif hops and trace.kind(target - 1) is Kind.PHI:
                self._gather(target, hops - 1, found)

    def action(self, line: Line) -> str:
        """What happened at a line; of a neighbour, what it left as it was."""
        if line.text:
            return line.text
        action = self.reader.action(line.event)
        left = self.reader.named(line.beside) if line.beside >= 0 else None
        return f"{action}, and left `{left.name}`" if action and left is not None else action

    def goal(self, node: Node) -> str:
        """What should have been at a node."""
        if node.causes and node.causes[0].goal.text:
            texts = dict.fromkeys(cause.goal.text for cause in node.causes)
            return " or ".join(texts)
        return "this had not to happen" if node.level else ""

    def contradiction(self, node: Node) -> str:
        """Why it could not be: the values, and what else held on the way."""
        if not node.causes:
            return ""
        cause = node.causes[0]
        values = [] if cause.goal.is_place else self.values(cause.goal.event)
        shown = [f"`{v['name']}` was {v['value']}" for v in values if v["value"] is not None]
        text = f"{cause.goal.text}, but {_listed(shown)}" if shown else cause.goal.text
        if not cause.contradiction.complete and not cause.contradiction.core:
            text += "; no value that flows into it could make it so"
        held = list(dict.fromkeys(self.assumption(a) for a in cause.contradiction.core))
        if held:
            more = f" and {len(held) - CORE} more" if len(held) > CORE else ""
            text += f"; it cannot be together with {', '.join(held[:CORE])}{more}"
        return text

    def assumption(self, assumption: Assumption) -> str:
        """An assumption of a core: ``n > 0` true on line 7``."""
        event, reader = assumption.event, self.reader
        place = reader.statement(event)
        where = f" on line {place.line}" if place is not None else ""
        if reader.trace.kind(event) is Kind.BRANCH:
            return f"`{reader.static(event).text}` {reader.side_taken(event) or ''}".rstrip() + where
        seen = reader.named(event)
        return f"the address of `{seen.name}`{where}" if seen is not None else f"an address{where}"

    def notes(self, node: Node) -> list[str]:
        """What has to be known about a node's answer."""
        found = []
        if any(c.contradiction.is_free for c in node.causes) and node.level:
            found.append("the condition depends on what nothing recorded tells; all that it comes from is listed")
        elif any(not c.contradiction.is_decided for c in node.causes):
            found.append("not all questions were answered; a nearer contradiction and a shorter cause may exist")
        if len(node.instances) > 1 and node.level:
            seen = "" if len(node.causes) == len(node.instances) else f", {len(node.causes)} of them looked into"
            found.append(f"stands for {len(node.instances):,} instances{seen}")
        return found

    # ---- The part of a result ----------------------------------------------------------------------------------------

    def part(self, nodes: Sequence[Node]) -> list[dict[str, Any]]:
        """Nodes as results hold them; of their children those among these nodes are named, others counted."""
        numbers = {node.number for node in nodes}
        return [self._node(node, numbers) for node in nodes]

    def _node(self, node: Node, told: Container[int]) -> dict[str, Any]:
        place = self.reader.statement(node.event) if node.event >= 0 else None
        kind = "symptom" if node.parent is None else "indirect" if node.indirect else "direct"
        return {
            "number": node.number,
            "parent": None if node.parent is None else node.parent.number,
            "level": node.level,
            "file": place.file if place else None,
            "line": place.line if place else None,
            "kind": kind,
            "goal": self.goal(node),
            "values": self.values(node.event) if node.event >= 0 else [],
            "contradiction": self.contradiction(node),
            "core": self._core(node),
            "cause": [self._line(line) for line in self.lines(node)],
            "instances": len(node.instances),
            "children": [child.number for child in node.children or [] if child.number in told],
            "unopened": sum(child.number not in told for child in node.children or []),
            "notes": self.notes(node),
        }

    def _line(self, line: Line) -> dict[str, Any]:
        return {
            "file": line.statement.file,
            "line": line.statement.line,
            "deed": self.action(line),
            "to_read": len(line.way),
        }

    def _core(self, node: Node) -> list[dict[str, Any]]:
        found = []
        for assumption in node.causes[0].contradiction.core if node.causes else ():
            place = self.reader.statement(assumption.event)
            if place is not None:
                found.append({"file": place.file, "line": place.line, "text": self.assumption(assumption)})
        return found


def _distinct(statements: list[Statement]) -> tuple[Statement, ...]:
    return tuple(dict.fromkeys(statements))


def _listed(items: list[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
