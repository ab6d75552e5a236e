"""The suppression algorithm (figures 5.3 and, with threads, 6.1) and the one with re-ordered variables (figure 5.7).

Of figure 6.1, line 1 is the schedule that the case has in every execution. What lines 10 to 13 ask of data races is
answered by a ``RaceSearch``, which is given from outside: techniques do not know each other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from whence.errors import BuildError, TraceError
from whence.findings import Symptom, plural
from whence.run.outcome import Kind
from whence.run.point import statement_of
from whence.subject.symptoms import symptom_of
from whence.techniques.execution_suppression.definitions import Definition, Definitions
from whence.techniques.execution_suppression.reordering import identity, orderings
from whence.techniques.execution_suppression.returns import over_return_address
from whence.trace.blocks import Blocks

if TYPE_CHECKING:
    from whence.alter.suppression import Execution, Ordering, Point, SuppressedRuns
    from whence.findings import Statement
    from whence.subject.recorder import Recording
    from whence.trace.trace import Trace

CRASHES = frozenset({Kind.CRASH, Kind.ASSERTION})
GUARD = 16  # bytes behind a block, as in probe/runtime/suppress/guards.c
SHARE = 0.4  # of the time left that one execution may take: to read its recording takes as long again
LEAST = 1.0  # seconds that it may take in any case
TIME_UP = "the time is used up"
RACES = "it came of a data race"
NOT_COMPARED = "what a run with suppression prints and returns is not what it would be without"


@dataclass(frozen=True, slots=True)
class RaceAt:
    """A data race at what a failure came of: as results hold it (docs/json.md), and its statements, suspects first.

    ``runs``: how many were made to see what the other order does.
    """

    shown: dict[str, Any]
    statements: tuple[Statement, ...]
    runs: int

    @property
    def is_harmful(self) -> bool:
        """Whether the run with the two accesses in the other order does otherwise."""
        return bool(self.shown["harm"]["verdict"] == "harmful")


class RaceSearch(Protocol):
    """Looks for data races at what failures came of. Races are told up to the first harmful one."""

    def at(self, step: Step) -> list[RaceAt]:
        """Those of an execution's definitions, as far as it came (lines 10 to 12, and what is in it of 13)."""
        ...

    def behind(self, step: Step, following: Step) -> list[RaceAt]:
        """Those of its definitions with what only the ``following`` one did, in which they are suppressed (line 13)."""
        ...


@dataclass(slots=True)
class Step:
    """One execution: with which points of suppression and order, how it ended, and what its failure came of."""

    execution: Execution
    points: list[Point]
    ordering: Ordering | None = None
    symptom: Symptom | None = None
    definitions: list[Definition] = field(default_factory=list)
    added: list[Point] = field(default_factory=list)
    races: list[RaceAt] = field(default_factory=list)

    @property
    def recording(self) -> Recording:
        """The recorded run."""
        return self.execution.recording

    @property
    def crashed(self) -> bool:
        """Whether the execution ended in a crash."""
        return self.recording.outcome.kind in CRASHES


@dataclass(slots=True)
class Suppressed:
    """The executions that were followed, and why the last one was the last: empty where its failure was gone.

    ``race`` is the harmful one that the last failure came of. ``exposed`` are the orders that made a run crash;
    ``remarks`` say how many were tried, and what was left out.
    """

    steps: list[Step] = field(default_factory=list)
    why: str = ""
    race: RaceAt | None = None
    exposed: list[Ordering] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Suppression:
    """Runs one case. ``seconds`` gives the time that is left; ``report`` is given each execution when its
    failure has been traced back, ``check`` the unaltered one. ``races``: None where there is one thread.
    """

    runs: SuppressedRuns
    folder: Path
    seconds: Callable[[], float]
    report: Callable[[Step], None]
    check: Callable[[Step], None]
    races: RaceSearch | None = None

    def suppress(self, reorder: bool = False) -> Suppressed:
        """Figure 5.3 or 6.1; with ``reorder`` 5.7: goes on while an order of variables makes the last run crash."""
        found = Suppressed()
        points, ordering = self._follow(found, [], None, not reorder)
        while reorder and not found.why:
            exposing = self._expose(found, points, ordering)
            if exposing is None:
                break
            found.exposed.append(exposing)
            points, ordering = self._follow(found, points, exposing, False)
        return found

    def _time(self) -> float:
        """Seconds that the next execution may take."""
        return max(SHARE * self.seconds(), LEAST)

    def _follow(
        self, found: Suppressed, points: list[Point], ordering: Ordering | None, any_failure: bool
    ) -> tuple[list[Point], Ordering | None]:
        """Figure 5.3 or 6.1 from an execution on; ``any_failure``: the first one's counts where it is no crash, too."""
        before: Step | None = None
        while True:
            try:
                step = Step(self.runs.run(points, ordering, self._time()), list(points), ordering)
            except TraceError as error:
                found.why = str(error)
                return points, ordering
            found.steps.append(step)
            if not points and ordering is None:
                self.check(step)
            counts = step.crashed or (before is None and any_failure and step.recording.outcome.failed)
            if before is not None and self.races is not None:
                self._add_races(found, step, self.races.behind(before, step))
            if found.race is None and step.recording.outcome.kind is Kind.TIMEOUT:
                found.why = "the run did not end in its time"
            elif found.race is None and counts:
                found.why = self._trace_back(step)
                if self.races is not None and not found.why:
                    self._add_races(found, step, self.races.at(step))
            elif before is not None and not before.crashed and step.recording.outcome.failed and not found.why:
                found.why = NOT_COMPARED
            self.report(step)
            if not counts or found.why:
                return points, ordering
            if self.seconds() <= 0:
                found.why = TIME_UP
                return points, ordering
            points, before = points + step.added, step

    def _add_races(self, found: Suppressed, step: Step, races: list[RaceAt]) -> None:
        """Keep the races that an execution has shown; a harmful one is what is looked for (lines 12 and 13)."""
        step.races += races
        found.race = next((race for race in races if race.is_harmful), None)
        if found.race is not None:
            found.why = RACES

    def _trace_back(self, step: Step) -> str:
        """Find what a failure came of; why there is nothing to suppress, or nothing."""
        definitions = Definitions(step.recording.trace)
        if step.execution.overwritten:
            step.symptom, step.definitions = self._over_guard(step)
        else:
            step.symptom = symptom_of(step.recording, self.folder)
            step.definitions = self._over_return(step) or definitions.of_failure(step.symptom)
        known = set(step.points)
        step.added = [p for p in map(definitions.point, step.definitions) if p not in known]
        if not step.definitions:
            return "what it came of is not in the recording"
        return "" if step.added else "it came of what was suppressed already"

    def _over_return(self, step: Step) -> list[Definition]:
        """What wrote over a return address, where locals were laid out anew."""
        if step.ordering is None or not step.ordering.places:
            return []
        trace = step.recording.trace
        return _of_one_site(trace, over_return_address(self.runs.subject, trace, step.ordering))

    def _over_guard(self, step: Step) -> tuple[Symptom, list[Definition]]:
        """The symptom of a guard that was written over, and what wrote there first."""
        trace, at = step.recording.trace, step.execution.overwritten
        blocks = Blocks(trace)
        block = next((b for b in reversed(blocks.all) if b.start <= at < b.end + GUARD), None)
        if block is None:
            return Symptom("crash", "memory that is no block's was written over"), []
        taken = statement_of(trace.location(block.taken), self.folder)
        named = f"the block of {plural(block.length, 'byte')}" + (
            f" that {taken.file}:{taken.line} took" if taken else ""
        )
        if at < block.end:
            text, writers = f"{named} was written to", blocks.writes(block.start, block.end, block.freed)
            text += " after it was given back"
        else:
            text = f"what lies behind {named} was written over"
            writers = blocks.writes(block.end, block.end + GUARD, block.taken)
        place = statement_of(trace.location(writers[0]), self.folder) if writers else None
        return Symptom("crash", text, place), _of_one_site(trace, writers)

    # ---- Figure 5.5 --------------------------------------------------------------------------------------------------

    def _expose(self, found: Suppressed, points: list[Point], before: Ordering | None) -> Ordering | None:
        """An order of variables with which the last execution crashes; None where none does."""
        last, movable = found.steps[-1], self.runs.subject.movable
        corrupt = [start for point in points for start, _ in point.ranges]
        tried = 0
        try:
            if before is None:
                same = self.runs.run(points, identity(movable), self._time()).recording
                if same.outcome.kind is not last.recording.outcome.kind:
                    kind = same.outcome.kind
                    found.remarks.append(f"not re-ordered: with variables that can be moved the run ends with {kind}")
                    return None
            for ordering in orderings(movable, last.recording.trace, corrupt):
                if self.seconds() <= 0:
                    found.remarks.append(f"re-ordering: {TIME_UP} after {plural(tried, 'order')}")
                    return None
                tried += 1
                if self.runs.run(points, ordering, self._time()).recording.outcome.kind in CRASHES:
                    found.remarks.append(f"order {tried} exposed a crash ({ordering.space}: {ordering.text})")
                    return ordering
        except (BuildError, TraceError) as error:
            found.remarks.append(f"not re-ordered: {error}")
            return None
        found.remarks.append(f"{plural(tried, 'order')} of variables tried, none of which makes the run crash")
        return None


def _of_one_site(trace: Trace, writers: list[int]) -> list[Definition]:
    """The first of these events, and those of the same instruction: bytes are often written one by one."""
    return [Definition(w, w) for w in writers if trace.site(w) == trace.site(writers[0])]
