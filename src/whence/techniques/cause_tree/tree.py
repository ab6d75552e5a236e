"""The cause tree: causes level by level, each with the conditions that decided over it as children (Algorithm 3).

A node asks of a branch instance why it did not go the other way (the root: why the symptom's value was not right). Its
cause is the answer: the contradiction, and the transforming instances of what is in it. The branches that decided over
these are the children. A branch instance stands in the tree once, at its lowest level. Nodes are opened on demand.
"""

from __future__ import annotations

import itertools
import time
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from whence.dependence.critical_conditions import Influence, Reached
from whence.findings import Statement
from whence.formula.goals import Goal, Goals
from whence.formula.path import Path
from whence.techniques.cause_tree.weakest_precondition import Contradiction, Preconditions

BUDGET, INTERRUPT = "budget", "interrupt"  # why a tree was not opened as far as was asked for
REPRESENTATIVES = 3  # instances of a loop's branch whose causes are looked into: the first, the middle, the last
NO_EVENTS = np.zeros(0, np.int64)


@dataclass(slots=True)
class Cause:
    """Why a goal could not be met: the contradiction, and its transforming instances ``events``.

    ``found`` has the ways from these to the goal, and from the ``calls`` of the functions in which they happened.
    """

    goal: Goal
    contradiction: Contradiction
    found: Reached
    events: NDArray[np.int64]
    calls: NDArray[np.int64]


@dataclass(slots=True, eq=False)
class Node:
    """A place of the tree.

    ``instances`` are the events it stands for, ascending: one, or those of one branch of a loop. ``use`` is the event
    of the parent's cause that it decided over, ``indirect``: by keeping something else from happening. ``children`` is
    None until it is opened.
    """

    number: int
    level: int
    parent: Node | None
    instances: list[int]
    use: int = -1
    indirect: bool = False
    causes: list[Cause] = field(default_factory=list)
    children: list[Node] | None = None

    @property
    def event(self) -> int:
        """The latest instance."""
        return self.instances[-1] if self.instances else -1


@dataclass(slots=True, frozen=True)
class Settings:
    """``loops``: instances of one branch of one call become one node. ``fine`` are statements known to be right."""

    loops: bool = True
    fine: frozenset[Statement] = frozenset()


class Tree:
    """A tree that grows as its nodes are opened.

    ``nodes`` are all that there are, in the order in which they were found; ``stopped``: why not all were opened that
    were asked for (the deadline, of ``time.monotonic``, or Ctrl-C); empty where they were. ``influence`` is what it is
    made from.
    """

    def __init__(
        self,
        influence: Influence,
        goals: Goals,
        preconditions: Preconditions,
        settings: Settings | None = None,
        deadline: float = float("inf"),
    ) -> None:
        self.influence, self._goals, self._preconditions = influence, goals, preconditions
        self._settings, self._deadline = settings or Settings(), deadline
        self.reader = influence.reader
        self.nodes: list[Node] = []
        self.stopped = ""
        self._placed: dict[object, Node] = {}
        self._answers: dict[int, Cause] = {}
        self._keys: dict[int, object] = {}

    def plant(self, goals: list[Goal], references: list[int], silent: Iterable[int] = (), text: str = "") -> Node:
        """Make the root, opened: its causes are those of the goals, and what the references come from.

        ``silent`` are branches that may have kept from happening what was expected instead. ``text`` says what should
        have been where there are no goals.
        """
        root = Node(0, 0, None, sorted({goal.event for goal in goals}))
        self.nodes = [root]
        root.causes = [self._answer(goal, goal.event + 1) for goal in goals]
        if not goals:
            nothing = Goal(references[0] - 1 if references else -1, -1, text, is_place=True)
            found = self.influence.transforming(references)
            free = Contradiction(-1, is_free=True)
            root.causes = [Cause(nothing, free, found, found.events, NO_EVENTS)] if references else []
            root.instances = [max(0, r - 1) for r in references[:1]]
        self._grow(root, self._deciding(references, bool(goals)), silent)
        return root

    def open(self, node: Node) -> list[Node]:
        """The children of a node; computed when it is opened for the first time."""
        if node.children is None:
            chosen = self._representatives(node.instances)
            node.causes = [self._answer(self._goals.otherwise(event), event + 1) for event in chosen]
            self._grow(node)
        assert node.children is not None
        return node.children

    def opened(self, depth: int) -> list[Node]:
        """The nodes up to a level that have been opened, level by level."""
        return [node for node in self.nodes if node.children is not None and node.level <= depth]

    def explore(self, depth: int) -> None:
        """Open all nodes up to a level, level by level, until the deadline or Ctrl-C."""
        try:
            self._explore(depth)
        except KeyboardInterrupt:  # a node that was being opened stays closed
            self.stopped = INTERRUPT

    def _explore(self, depth: int) -> None:
        level = [node for node in self.nodes if node.level == 0]
        for _ in range(depth):
            following = [child for parent in level for child in parent.children or []]
            for node in following:
                if time.monotonic() >= self._deadline:
                    self.stopped = BUDGET
                    return
                self.open(node)
            level = following

    @property
    def fine(self) -> frozenset[Statement]:
        """The statements known to be right."""
        return self._settings.fine

    @property
    def path(self) -> Path:
        """The path whose events are explained."""
        return self._preconditions.path

    # ---- Causes ------------------------------------------------------------------------------------------------------

    def _answer(self, goal: Goal, reference: int) -> Cause:
        """The cause of a goal (Algorithm 1), each computed once.

        What lies before the contradiction is left out where it can be reached through the branches of the core. Where
        there are none, the way in which values are computed, or a type, may be wrong: then it stays.
        """
        if goal.event not in self._answers:
            contradiction = self._preconditions.contradiction(goal)
            found = self.influence.transforming([reference, *(a.event + 1 for a in contradiction.core)])
            events = found.events
            core = [self._has_way(assumption.event) for assumption in contradiction.core]
            if not contradiction.complete and core and all(core):
                events = events[events >= contradiction.step]
            found, calls = self.influence.with_calls(found, events)
            self._answers[goal.event] = Cause(goal, contradiction, found, events, calls)
        return self._answers[goal.event]

    def _representatives(self, instances: list[int]) -> list[int]:
        """A few of the instances, the latest first."""
        if len(instances) <= REPRESENTATIVES:
            return instances[::-1]
        steps = np.linspace(len(instances) - 1, 0, REPRESENTATIVES)
        return [instances[int(step)] for step in steps]

    # ---- Children ----------------------------------------------------------------------------------------------------

    def _grow(self, node: Node, first: Iterable[int] = (), last: Iterable[int] = ()) -> None:
        """Make the children: the critical conditions of the node's causes that stand nowhere else.

        Before these ``first``, after them ``last``, which are indirect.
        """
        groups: dict[object, Node] = {}
        seen = set(self.nodes[0].instances)
        direct, indirect_ones = ((b, -1, False) for b in first), ((b, -1, True) for b in last)
        for branch, use, indirect in itertools.chain(direct, self._critical(node), indirect_ones):
            if branch in seen or not self._has_way(branch) or self._is_fine(branch):
                continue
            seen.add(branch)
            key = self._key(branch)
            known = groups.get(key) or self._placed.get(key)
            if known is not None:
                self._join(known, branch)
                continue
            child = Node(len(self.nodes), node.level + 1, node, [branch], use, indirect)
            groups[key] = self._placed[key] = child
            self.nodes.append(child)
        node.children = list(groups.values())

    def _join(self, node: Node, branch: int) -> None:
        """Count another instance; of a node that is open already the causes stay."""
        position = bisect_left(node.instances, branch)
        if position == len(node.instances) or node.instances[position] != branch:
            node.instances.insert(position, branch)

    def _critical(self, node: Node) -> Iterable[tuple[int, int, bool]]:
        """The critical conditions of a node's causes (Algorithm 2): branch, the event it decided over, how.

        Beyond the paper, the branches of the core count: the contradiction is gone when one of them goes another way,
        and what they come from may lie before the step at which the walk ended.
        """
        for cause in node.causes:
            events = self._not_fine(cause.events)
            events = events[np.argsort(cause.found.depth_of(events), kind="stable")]
            branches = np.array(self.influence.direct(events), np.int64)
            for index in np.sort(np.unique(branches, return_index=True)[1]).tolist():
                yield int(branches[index]), int(events[index]), False
            yield from ((assumption.event, assumption.event, False) for assumption in cause.contradiction.core)
            yield from ((b, -1, True) for b in self.influence.indirect(cause.found, np.sort(events)).tolist())

    def _deciding(self, references: list[int], has_goals: bool) -> list[int]:
        """The branches that let the symptom's events happen; without goals also those among them: they decided it."""
        events = np.array([reference - 1 for reference in references if reference > 0], np.int64)
        return [*self.influence.direct(events), *([] if has_goals else events.tolist())]

    def _has_way(self, branch: int) -> bool:
        return branch in self._preconditions.path.branches

    def _key(self, event: int) -> object:
        """What stands in the tree once: a branch instance; with loops recognised, a branch in frames of one call."""
        if event not in self._keys:
            self._keys[event] = self._made_key(event) if self._settings.loops and self._has_way(event) else event
        return self._keys[event]

    def _made_key(self, event: int) -> object:
        trace = self.reader.trace
        frame = trace.columns.frames[trace.columns.segments[trace.columns.events[event]["segment"]]["frame"]]
        call = int(frame["call"])
        caller = int(trace.columns.segments[call]["id"]) if call >= 0 else -1
        return trace.site(event), caller

    # ---- Statements that are fine ------------------------------------------------------------------------------------

    def _is_fine(self, event: int) -> bool:
        return bool(self._settings.fine) and self.reader.statement(event) in self._settings.fine

    def _not_fine(self, events: NDArray[np.int64]) -> NDArray[np.int64]:
        """Those events that belong to no statement known to be right."""
        if not self._settings.fine:
            return events
        fine = [n for n, statement in enumerate(self.reader.statements) if statement in self._settings.fine]
        return events[~np.isin(self.reader.statement_numbers[self.reader.sites(events)], fine)]
