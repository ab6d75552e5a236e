"""Implicit dependences: what a read has from code that was not executed, verified by switching branches.

Where a branch goes the wrong way and skips an assignment, the old value flows on, and no dynamic slice has the branch.
Relevant slicing adds every branch that *could* have changed what the slice reads, which is a great many. Here each of
these is switched in a run of its own, and becomes an edge of the slice only when

- the point that corresponds to the read (``alignment``) is reached again, and has another value, which something wrote
  after the switch; or
- the run passes, or its first wrong byte moves to a later one, where the branch could have changed what was printed.

The slice is then grown from that branch, and the reads that this adds are treated in the same way, until nothing is
new. Reads that the switched run does not reach tell nothing. (Zhang, Tallam, Gupta and Gupta, "Towards locating
execution omission errors", 2007.)
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whence.alter.changes import Batch, Verdict
from whence.alter.session import Session
from whence.dependence.last_writes import NO_READ, last_written
from whence.dependence.potential import Candidates
from whence.dependence.predicate_switching import corrected
from whence.dependence.predicates import Predicates
from whence.dependence.slices import Start, by_line, compute, place_of
from whence.errors import TraceError
from whence.findings import Findings, Statement, Symptom, plural
from whence.probe.layout import Kind
from whence.subject.trace_reader import TraceReader
from whence.trace.execution_index import Regions, align, align_events
from whence.trace.slicing import Slice
from whence.trace.trace import Trace

Integers = NDArray[np.int64]
TICKS = 3.0  # how many times as long as the unaltered run a recorded one may take
PASSES, CORRECTS = "what makes the run pass", "what corrects a part of the output"
ABOUT_OUTPUT = ("wrong-output", "missing-output", "extra-output")  # symptoms that depend on all that is printed


@dataclass(slots=True)
class Dependence:
    """A verified implicit dependence of an event on a branch instance.

    ``row`` is the alternative that was switched (ALTERNATIVE), ``use`` the event that depends on it. ``skipped`` says
    what it would have done. ``strong``: the switched run passes.
    """

    row: np.void
    use: int
    skipped: str = ""
    strong: bool = False


@dataclass(slots=True)
class Growth:
    """A slice grown along implicit dependences, and what that took.

    ``candidates`` counts the potential dependences on branches outside of the slice, ``tried`` those that were
    switched, ``lost`` those of them whose run could not be recorded; ``stopped``: the time was over before all were.
    ``is_verified``: none was taken for real without a switched run.
    """

    found: Slice
    dependences: list[Dependence] = field(default_factory=list)
    candidates: int = 0
    tried: int = 0
    lost: int = 0
    stopped: bool = False
    is_verified: bool = True


# ---- Verifying -------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Effect:
    """What switching one branch instance did.

    ``changed`` are the events of the unaltered run whose reads have another value, ascending, and ``writers`` says for
    each what wrote that in the switched run (`x` = 3 on line 14).
    """

    changed: Integers
    writers: list[str]


NO_EFFECT = Effect(np.zeros(0, np.int64), [])


class Verifier:
    """Switches branch instances of one case's run, and looks what became of its reads.

    ``lost`` counts the switched runs whose trace cannot be read: they tell nothing.
    """

    def __init__(self, session: Session, predicates: Predicates) -> None:
        self._session, self._predicates = session, predicates
        self._reader = predicates.reader
        self._since = last_written(self._reader.trace)
        self._regions = Regions(self._reader.trace)
        self._baseline = session.observe(0).result
        self.lost = 0

    def judge(self, rows: NDArray[np.void]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """For each of some alternatives whether the run passes, and whether more of its output is right."""
        results = self._session.run(Batch.single(self._predicates.changes(rows))).records
        return np.asarray(results["verdict"] == Verdict.PASS), corrected(results, self._baseline)

    def effect(self, row: np.void) -> Effect:
        """The effect of an alternative on reads."""
        change = self._predicates.changes(np.array([row]))
        try:
            second = self._session.trace(change, TICKS).trace
        except TraceError:
            self.lost += 1
            return NO_EFFECT
        return self._reads(int(row["event"]), second)

    def _reads(self, branch: int, second: Trace) -> Effect:
        """The effect on reads: those that were written before the branch, and after it in the ``second`` run."""
        first = self._reader.trace
        common = int(first.columns.events["segment"][branch]) + 1
        events = branch + 1 + np.flatnonzero(self._since[branch + 1 :] <= branch)
        if second.segments <= common or not len(events):
            return NO_EFFECT
        regions = Regions(second)
        others = align_events(self._regions, regions, align(self._regions, regions, common), events)
        reached = np.flatnonzero((others >= 0) & (others < second.events))
        events, others = events[reached], others[reached]
        since = last_written(second)[others]
        chosen = (since > branch) & (since < NO_READ)
        return self._compare(events[chosen], others[chosen], since[chosen], TraceReader(self._reader.subject, second))

    def _compare(self, events: Integers, others: Integers, since: Integers, other_reader: TraceReader) -> Effect:
        """The effect by corresponding reads, and when the others were written; those of equal value are no effect."""
        changed, writers = [], []
        for event, other, writer in zip(events.tolist(), others.tolist(), since.tolist(), strict=True):
            value = self._reader.trace.value(event)
            if other_reader.broke_off(other) or (value is not None and value == other_reader.trace.value(other)):
                continue
            changed.append(event)
            writers.append(_written(other_reader, writer))
        return Effect(np.array(changed, np.int64), writers)


def _written(reader: TraceReader, writer: int) -> str:
    """What an event wrote, and where."""
    seen, place = reader.named(writer), reader.statement(writer)
    what = "" if seen is None else f"`{seen.name}`" + ("" if seen.value is None else f" = {seen.value}")
    where = "" if place is None else f"on line {place.line}"
    return " ".join(filter(None, [what, where])) or "a library's doing"


# ---- Growing ---------------------------------------------------------------------------------------------------------


def grow(
    reader: TraceReader,
    start: Start,
    session: Session | None,
    symptom: Symptom | None = None,
    *,
    deadline: float = float("inf"),
    progress: Callable[[int, int], None] | None = None,
) -> Growth:
    """The slice from ``start``, grown along its implicit dependences until nothing is new, or the time is over.

    ``session`` runs the case of ``reader``; without one, all potential dependences are taken for real, unverified, as
    in relevant slicing. ``symptom`` is the failure, where the slice starts at it: then what becomes of the failure
    counts, too. ``deadline`` is of ``time.monotonic``.
    """
    predicates = Predicates(reader)
    verifier = Verifier(session, predicates) if session is not None else None
    return _Growing(predicates, start, verifier, symptom, deadline, progress).all()


class _Growing:
    """The work of ``grow``."""

    def __init__(
        self,
        predicates: Predicates,
        start: Start,
        verifier: Verifier | None,
        symptom: Symptom | None,
        deadline: float,
        progress: Callable[[int, int], None] | None,
    ) -> None:
        self._predicates, self._verifier = predicates, verifier
        self._deadline, self._progress = deadline, progress
        self._trace = predicates.reader.trace
        self._failure = symptom is not None
        self._prints = symptom is not None and symptom.kind in ABOUT_OUTPUT
        self._point = start.event if start.event >= 0 else self._trace.events - 1
        self._since = last_written(self._trace)
        self._candidates = Candidates(predicates)
        self._effects: dict[int, Effect] = {}  # by row
        self._verdicts: dict[int, tuple[bool, bool]] = {}  # by row: whether it passes, whether more of it is right
        self._seen: set[int] = set()
        self.growth = Growth(compute(self._trace, start.references), is_verified=verifier is not None)
        self._include_call()

    def _include_call(self) -> None:
        """Where the slice starts at what a library's call was given, what the call reads is the criterion's, too."""
        event, kinds = self._point, self._trace.plan.sites["kind"]
        while event < self._trace.events and kinds[self._trace.site(event)] == Kind.ARG:
            event += 1
        if event > self._point and self._since[event] != NO_READ and not self.growth.found.event_depth[event]:
            self.growth.found.event_depth[event] = 1

    def all(self) -> Growth:
        """Grow until nothing is new, or the time is over."""
        while self._round() and not self.growth.stopped:
            pass
        self.growth.candidates, self.growth.tried = len(self._seen), len(self._effects)
        self.growth.lost = self._verifier.lost if self._verifier is not None else 0
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
        printed = self._point if self._prints else -1
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
            return Dependence(alternative, self._point)
        if row not in self._effects:
            self._effects[row] = self._verifier.effect(alternative)
        effect, depths = self._effects[row], self.growth.found.event_depth
        passes, later = self._verdicts[row]
        hits = np.flatnonzero(depths[effect.changed])
        if len(hits):
            nearest = int(hits[np.argmin(depths[effect.changed[hits]])])
            return Dependence(alternative, int(effect.changed[nearest]), effect.writers[nearest], passes)
        if self._failure and (passes or later):
            return Dependence(alternative, self._point, PASSES if passes else CORRECTS, passes)
        return None

    def _add(self, dependence: Dependence) -> None:
        """Join the slice from the dependence's branch to the slice, as far from the criterion as its way is long."""
        branch = int(dependence.row["event"])
        found, more = self.growth.found, compute(self._trace, [branch + 1])
        before = max(1, int(found.event_depth[dependence.use]))
        for depths, parents, new_depths, new_parents in (
            (found.event_depth, found.event_parent, more.event_depth, more.event_parent),
            (found.cell_depth, found.cell_parent, more.cell_depth, more.cell_parent),
        ):
            nearer = (new_depths > 0) & ((depths == 0) | (depths > new_depths + before))
            depths[nearer] = new_depths[nearer] + before
            parents[nearer] = new_parents[nearer]
        if found.event_depth[branch] == before + 1:
            found.event_parent[branch] = dependence.use + 1


# ---- Findings --------------------------------------------------------------------------------------------------------


def add_to(findings: Findings, reader: TraceReader, growth: Growth, plain: Slice) -> None:
    """Add the dependences to the findings of the grown slice: edges, and how far it has grown over the ``plain`` one.

    The edge of a line comes before its others: what it says is not in the trace.
    """
    lines = {(line["file"], line["line"]): line["edges"] for line in findings.parts["slice"]}
    for (use, branch), dependence in reversed(_by_statement(reader, growth).items()):
        if (use.file, use.line) in lines:
            lines[use.file, use.line].insert(0, _edge(reader, branch, dependence))
    before = set(by_line(reader, plain).statements)
    added = [entry for entry in findings.ranking if entry.statement not in before]
    for entry in added:
        skipped = "was skipped" if growth.is_verified else "may have been skipped"
        entry.evidence |= {"implicit": True, "text": f"{entry.evidence['text']}, through what {skipped}"}
    findings.parts["implicit"] = {
        "candidates": growth.candidates,
        "switched": growth.tried,
        "verified": len(growth.dependences) if growth.is_verified else 0,
        "lines": len(added),
        "stopped": growth.stopped,
    }
    findings.summary.append(_summary(growth, len(added)))


def _by_statement(reader: TraceReader, growth: Growth) -> dict[tuple[Statement, Statement], Dependence]:
    """The first dependence of each statement on each branch's statement, a strong one if there is one."""
    found: dict[tuple[Statement, Statement], Dependence] = {}
    for dependence in sorted(growth.dependences, key=lambda d: not d.strong):
        use, branch = place_of(reader, dependence.use), reader.statement(int(dependence.row["event"]))
        if use is not None and branch is not None and use != branch:
            found.setdefault((use, branch), dependence)
    return found


def _edge(reader: TraceReader, branch: Statement, dependence: Dependence) -> dict[str, Any]:
    """An edge of the part ``slice``."""
    seen = reader.named(int(dependence.row["event"]))
    named = {"name": seen.name, "value": seen.value} if seen else {"name": "", "value": None}
    place = {"to_file": branch.file, "to_line": branch.line, "kind": "implicit"}
    return {**place, **named, "skipped": dependence.skipped}


def _summary(growth: Growth, added: int) -> str:
    if not growth.is_verified:
        taken = plural(len(growth.dependences), "potential dependence")
        return f"took {taken} for real, without switching a branch; {plural(added, 'more line')} in the slice"
    strong = sum(dependence.strong for dependence in growth.dependences)
    text = (
        f"switched {growth.tried:,} of {plural(growth.candidates, 'branch instance')} that may have skipped something: "
        f"{len(growth.dependences):,} did"
    )
    if strong:
        text += f", of which {strong:,} {'makes' if strong == 1 else 'make'} the run pass"
    if growth.lost:
        text += f"; {plural(growth.lost, 'switched run')} could not be recorded"
    text += f"; {plural(added, 'more line')} in the slice"
    return text + (", and the time was over before all was tried" if growth.stopped else "")
