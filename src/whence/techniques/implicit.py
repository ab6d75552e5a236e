"""Implicit dependences: what a read has from code that was not executed, verified by switching branches.

Where a branch goes the wrong way and skips an assignment, the old value flows on, and no dynamic slice has the branch.
Relevant slicing adds every branch that *could* have changed what the slice reads, which is a great many. Here each of
these is switched in a run of its own, and becomes an edge of the slice only when

- the point that corresponds to the read (``alignment``) is reached again, and has another value, which something wrote
  after the switch; or
- the run passes, or its first wrong byte moves to a later one, where the branch could have changed what was printed.

The slice is then grown from that branch, and the reads that this adds are treated in the same way, until nothing is
new. (Zhang, Tallam, Gupta and Gupta, "Towards locating execution omission errors", 2007; implicit dependence is also
defined in Sumner and Zhang 2009, section 3. Reads that the switched run does not reach tell nothing here.)
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from whence.alter.changes import Batch, Verdict
from whence.alter.session import Session
from whence.findings import Statement
from whence.probe.layout import Kind
from whence.subject.story import Story
from whence.techniques.alignment import align, align_events
from whence.techniques.potential import Candidates
from whence.techniques.predicates import Predicates
from whence.techniques.slicing import Start, compute
from whence.techniques.switching import corrected
from whence.trace.columns import CellKind
from whence.trace.shadow import MAX_CELLS
from whence.trace.slicing import Slice
from whence.trace.trace import Trace

Integers = NDArray[np.int64]
NEVER = -1  # when something was written that nothing recorded wrote
NO_READ = 1 << 62  # "since" of an event that reads nothing
READS = (int(CellKind.COPY), int(CellKind.READ), int(CellKind.BYVAL))


@dataclass(slots=True)
class Dependence:
    """A verified implicit dependence of an event on a branch instance.

    ``row`` is the alternative that was switched (ALTERNATIVE), ``use`` the event that depends on it. ``writer`` is the
    statement that was skipped, and ``deed`` what it does in the switched run ("": it is not known). ``strong``: the
    switched run passes.
    """

    row: np.void
    use: int
    writer: Statement | None = None
    deed: str = ""
    strong: bool = False


@dataclass(slots=True)
class Growth:
    """A slice grown along implicit dependences, and what that took.

    ``candidates`` counts the potential dependences on branches outside of the slice, ``tried`` those that were
    switched; ``stopped``: the time was over before all were.
    """

    found: Slice
    dependences: list[Dependence] = field(default_factory=list)
    candidates: int = 0
    tried: int = 0
    stopped: bool = False


# ---- When things were written ----------------------------------------------------------------------------------------


def _written(trace: Trace, references: NDArray[np.int32]) -> Integers:
    """For each reference the event that wrote what it stands for, of several the last one; NEVER: none did."""
    columns = trace.columns
    parents = columns.cells["parent"][: trace.cells]
    found = np.where(references > 0, references.astype(np.int64) - 1, NEVER)
    cells = np.flatnonzero((references < 0) & (references >= -MAX_CELLS))
    found[cells] = parents[-references[cells] - 1]
    for index in np.flatnonzero(references < -MAX_CELLS).tolist():
        number = -int(references[index]) - MAX_CELLS - 1
        several = columns.multi_reference[columns.multi_start[number] : columns.multi_start[number + 1]]
        found[index] = _written(trace, several).max(initial=NEVER)
    return found


def last_written(trace: Trace) -> Integers:
    """For each event when what it reads was last written: an event, NEVER; NO_READ for events that read no memory.

    Reads are loads, and copies and calls of the library by the cells that they made.
    """
    found = np.full(trace.events, NO_READ, np.int64)
    cells = trace.columns.cells[: trace.cells]
    cells = cells[np.isin(cells["kind"], READS)]
    found[cells["parent"]] = NEVER
    np.maximum.at(found, cells["parent"], _written(trace, cells["definition"]))
    loads = np.flatnonzero(trace.plan.sites["kind"][trace.sites(np.arange(trace.events))] == Kind.LOAD)
    found[loads] = _written(trace, trace.columns.events["definition"][loads])
    return found


# ---- Verifying -------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Effect:
    """What switching one branch instance did.

    ``changed`` are the events of the unaltered run whose reads have another value, ascending, and ``writers`` for each
    the statement that wrote it and what it did.
    """

    changed: Integers
    writers: list[tuple[Statement | None, str]]


class Verifier:
    """Switches branch instances of one case's run, and looks what became of its reads."""

    def __init__(self, session: Session, predicates: Predicates) -> None:
        self._session, self._predicates = session, predicates
        self._story = predicates.story
        self._since = last_written(self._story.trace)
        self._baseline = session.observe(0).result

    def judge(self, rows: NDArray[np.void]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """For each of some alternatives whether the run passes, and whether more of its output is right."""
        results = self._session.run(Batch.single(self._predicates.changes(rows))).records
        return np.asarray(results["verdict"] == Verdict.PASS), corrected(results, self._baseline)

    def effect(self, row: np.void) -> Effect:
        """The effect of an alternative on reads."""
        change = self._predicates.changes(np.array([row]))
        return self._reads(int(row["event"]), self._session.trace(change).trace)

    def _reads(self, branch: int, second: Trace) -> Effect:
        """The effect on reads: those that were written before the branch, and after it in the ``second`` run."""
        first = self._story.trace
        common = int(first.columns.events["segment"][branch]) + 1
        events = branch + 1 + np.flatnonzero(self._since[branch + 1 :] <= branch)
        if second.segments <= common or not len(events):
            return Effect(events[:0], [])
        others = align_events(first, second, align(first, second, common), events)
        reached = np.flatnonzero((others >= 0) & (others < second.events))
        events, others = events[reached], others[reached]
        since = last_written(second)[others]
        chosen = (since > branch) & (since < NO_READ)
        return self._compare(events[chosen], others[chosen], since[chosen], Story(self._story.subject, second))

    def _compare(self, events: Integers, others: Integers, since: Integers, told: Story) -> Effect:
        """The effect by corresponding reads, and when the others were written; those of equal value are no effect."""
        changed, writers = [], []
        for event, other, writer in zip(events.tolist(), others.tolist(), since.tolist(), strict=True):
            value = self._story.trace.value(event)
            if told.broke_off(other) or (value is not None and value == told.trace.value(other)):
                continue
            changed.append(event)
            writers.append((told.statement(writer), told.deed(writer)))
        return Effect(np.array(changed, np.int64), writers)


# ---- Growing ---------------------------------------------------------------------------------------------------------


class Growing:
    """Grows a slice along implicit dependences.

    ``start`` is the slice's criterion. ``failure``: it is where the failure shows, so that what becomes of the failure
    counts, too. Without a ``verifier`` all potential dependences count. ``deadline`` is of ``time.monotonic``.
    """

    def __init__(
        self,
        predicates: Predicates,
        found: Slice,
        start: Start,
        verifier: Verifier | None,
        failure: bool = False,
        deadline: float = float("inf"),
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self._predicates, self._start, self._verifier = predicates, start, verifier
        self._failure, self._deadline, self._progress = failure, deadline, progress
        self._trace = predicates.story.trace
        self._since = last_written(self._trace)
        self._candidates = Candidates(predicates)
        self._effects: dict[int, Effect] = {}  # by row
        self._verdicts: dict[int, tuple[bool, bool]] = {}  # by row: whether it passes, whether more of it is right
        self._seen: set[int] = set()
        self.growth = Growth(found)

    def all(self) -> Growth:
        """Grow until nothing is new, or the time is over."""
        while self._round() and not self.growth.stopped:
            pass
        self.growth.candidates, self.growth.tried = len(self._seen), len(self._effects)
        return self.growth

    def _round(self) -> bool:
        """Look at all candidates of the slice as it is; whether it has grown."""
        before = len(self.growth.dependences)
        rows = [row for row in self._rows() if not self._is_in(row)]
        self._judge([row for row in rows if row not in self._seen])
        self._seen.update(rows)
        for done, row in enumerate(rows):
            if self._progress is not None:
                self._progress(done, len(rows))
            if time.monotonic() >= self._deadline:
                self.growth.stopped = True
                break
            if not self._is_in(row) and (dependence := self._dependence(row)) is not None:
                self.growth.dependences.append(dependence)
                self._add(dependence)
        return len(self.growth.dependences) > before

    def _rows(self) -> list[int]:
        """The rows on which the slice potentially depends."""
        uses = self.growth.found.events
        uses = uses[self._since[uses] != NO_READ]
        depths = self.growth.found.depth_of(uses).astype(np.int64)
        printed = self._start.event if self._failure else -1
        rows: list[int] = self._candidates.of(uses, self._since[uses], depths, printed).tolist()
        return rows

    def _judge(self, rows: list[int]) -> None:
        """Run all alternatives for their verdicts: that takes a fraction of what a recording takes."""
        if self._verifier is not None and rows:
            passes, later = self._verifier.judge(self._predicates.rows[rows])
            self._verdicts |= dict(zip(rows, zip(passes.tolist(), later.tolist(), strict=True), strict=True))

    def _is_in(self, row: int) -> bool:
        """Whether the slice has the branch instance of a row."""
        return bool(self.growth.found.event_depth[self._predicates.rows["event"][row]])

    def _dependence(self, row: int) -> Dependence | None:
        """The dependence of the slice on a row, if there is one."""
        alternative = self._predicates.rows[row]
        if self._verifier is None:
            return Dependence(alternative, self._start.event)
        if row not in self._effects:
            self._effects[row] = self._verifier.effect(alternative)
        effect, depths = self._effects[row], self.growth.found.event_depth
        passes, later = self._verdicts[row]
        hits = np.flatnonzero(depths[effect.changed])
        if len(hits):
            nearest = int(hits[np.argmin(depths[effect.changed[hits]])])
            return Dependence(alternative, int(effect.changed[nearest]), *effect.writers[nearest], passes)
        if self._failure and (passes or later):
            return Dependence(alternative, self._start.event, strong=passes)
        return None

    def _add(self, dependence: Dependence) -> None:
        """Join the slice from the dependence's branch to the slice, as far from the criterion as its way is long."""
        branch = int(dependence.row["event"])
        found, more = self.growth.found, compute(self._trace, [branch + 1])
        before = int(found.event_depth[dependence.use]) if dependence.use >= 0 else 1
        for depths, parents, new_depths, new_parents in (
            (found.event_depth, found.event_parent, more.event_depth, more.event_parent),
            (found.cell_depth, found.cell_parent, more.cell_depth, more.cell_parent),
        ):
            nearer = (new_depths > 0) & ((depths == 0) | (depths > new_depths + before))
            depths[nearer] = new_depths[nearer] + before
            parents[nearer] = new_parents[nearer]
        if found.event_depth[branch] == before + 1:
            found.event_parent[branch] = dependence.use + 1
