"""Whether a race is harmful: the run with the two accesses in the other order (section 6.1.2 of the dissertation).

The first access's thread is stopped right before it, and the other thread has the turn, again and again where it
sleeps, yields or is long about it, until it has done the second one. If it cannot come that far, since it waits for the
first, other threads are let go on first. Then both go on. A race is harmful where the run ends otherwise, or where what
is read, or is there in the end, has another value; one that is looked at again until it is as it was in the first run
does no harm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from whence.errors import SubjectError, TraceError
from whence.run.schedule import DEFAULT, Point, Schedule
from whence.subject.trace_reader import TraceReader
from whence.trace.steps import Steps

if TYPE_CHECKING:
    from whence.subject.recorder import Recorder, Recording
    from whence.subject.subject import Subject
    from whence.techniques.races.check import Race
    from whence.trace.trace import Trace

HARMFUL, HARMLESS, NOT_TRIED = VERDICTS = ("harmful", "harmless", "not tried")
OTHERS = 3  # threads that are let go on in place of the second one
TURNS = 8  # that the second thread may take beyond those that it had between the two accesses
LONGER = 2  # times the trace of the first order that the other one's may be

Record = Callable[[Schedule], "Recording"]


@dataclass(slots=True, frozen=True)
class Harm:
    """What the other order does; ``points`` of the schedule that makes it, ``passes``: a failing case passes then."""

    verdict: str
    text: str
    points: tuple[Point, ...] = ()
    passes: bool = False

    def json(self) -> dict[str, Any]:
        """As results hold it (docs/json.md)."""
        return {"verdict": self.verdict, "text": self.text, "points": [asdict(point) for point in self.points]}


def recorded_by(recorder: Recorder, like: Recording) -> Record:
    """What records the case of a recording under another schedule, as far as accesses may lie behind."""
    room = LONGER * like.trace.bytes_used
    return lambda schedule: recorder.record(replace(like.case, schedule=schedule), may_be_cut=True, room=room)


@dataclass(slots=True, frozen=True)
class Place:
    """An access as another run has it, too: a site in a step of a thread."""

    thread: int
    step: int
    site: int


@dataclass(slots=True)
class PlacedRun:
    """A recorded run with the threads of its segments: finds accesses that another run has, too."""

    recording: Recording
    steps: Steps = field(init=False)

    def __post_init__(self) -> None:
        self.steps = Steps(self.trace)

    @property
    def trace(self) -> Trace:
        """What was recorded."""
        return self.recording.trace

    def place(self, event: int) -> Place:
        """Where an access of this run is."""
        return Place(*self.steps.of_event(event), self.trace.site(event))

    def event(self, place: Place) -> int:
        """The event of an access in this run, -1 where it was not done."""
        steps, columns = self.steps, self.trace.columns
        rows = np.flatnonzero((steps.thread == place.thread) & (steps.number == place.step))
        for row in rows:
            static = int(columns.segments[row]["id"])
            starts = self.trace.plan.segments["site_start"]
            if starts[static] <= place.site < starts[static + 1]:
                return int(columns.segments[row]["event"]) + place.site - int(starts[static])
        return -1

    def again(self, place: Place) -> list[int]:
        """All events of a thread at the site of an access."""
        static = int(self.trace.plan.sites[place.site]["segment"])
        ids = self.trace.columns.segments["id"][: self.trace.segments]
        rows = np.flatnonzero((ids == static) & (self.steps.thread == place.thread))
        offset = place.site - int(self.trace.plan.segments[static]["site_start"])
        return [int(event) + offset for event in self.trace.columns.segments["event"][rows]]


def _followed(run: PlacedRun, points: tuple[Point, ...]) -> tuple[Point, ...]:
    """Those points of a run's schedule that made it, as far as it could tell of them."""
    followed = run.recording.result.followed
    return points if followed is None or followed.lost else followed.points


class OtherOrder:
    """Runs a case with the accesses of its races in the other order.

    ``record`` makes these runs, ``recording`` is the run that has the accesses. What ``record`` makes is compared with
    ``before``: that run, unless it was made in another way. There the second access may not have been done.
    """

    def __init__(self, subject: Subject, record: Record, recording: Recording, before: Recording | None = None) -> None:
        self._subject, self._record = subject, record
        self._run = PlacedRun(recording)
        self._before = self._run if before is None else PlacedRun(before)

    def harm(self, race: Race) -> Harm:
        """What the other order of a race's accesses does."""
        case = self._run.recording.case
        if case.schedule is None:
            return Harm(NOT_TRIED, "the order of turns of a test suite's processes is not changed")
        first, second = self._run.place(race.first.event), self._run.place(race.second.event)
        for points in self._points(race, first, second):
            try:
                run = PlacedRun(self._record(Schedule(points)))
            except (SubjectError, TraceError) as error:
                return Harm(NOT_TRIED, f"the run with the other order could not be recorded: {error}")
            one, other = run.event(first), run.event(second)
            if other >= 0 and (one < 0 or other < one):
                return self._compare(race, run, (first, second), _followed(run, points))
        return Harm(NOT_TRIED, f"the other order did not come about: thread {first.thread} has to go on before")

    def _points(self, race: Race, first: Place, second: Place) -> Iterator[tuple[Point, ...]]:
        """Schedules that may bring the other order: the second thread goes on, or another one before it."""
        case, steps = self._run.recording.case, self._run.steps
        schedule = case.schedule or DEFAULT
        at = int(self._run.trace.columns.events[race.first.event]["segment"])
        before = []
        for point in schedule.points:
            own = np.flatnonzero(steps.thread[:at] == point.thread)
            if (
                len(own)
                and point.step <= steps.number[own[-1]]
                and (point.thread, point.step) != (first.thread, first.step)
            ):
                before.append(point)
        back = Point(second.thread, second.step + 1, first.thread)
        others = [int(t) for t in np.unique(steps.thread) if t not in (first.thread, second.thread)]
        hold = [Point(first.thread, first.step, second.thread)] * self._turns(race, second.thread, schedule.slice)
        yield (*before, *hold, back)
        for thread in others[:OTHERS]:
            yield (*before, Point(first.thread, first.step, thread), *hold, back)

    def _turns(self, race: Race, thread: int, slice_: int) -> int:
        """How many turns a thread may need from the first access on until it has done the second one."""
        rows = self._run.trace.columns.events["segment"]
        begin, end = int(rows[race.first.event]), int(rows[race.second.event])
        is_own = self._run.steps.thread[begin : end + 1] == thread
        steps = np.count_nonzero(is_own & self._run.steps.is_step[begin : end + 1])
        return int(np.count_nonzero(np.diff(is_own.astype(np.int8)) > 0) + steps // slice_) + TURNS

    def _compare(self, race: Race, run: PlacedRun, places: tuple[Place, Place], points: tuple[Point, ...]) -> Harm:
        """What is otherwise in the run with the other order."""
        old, new = self._before.recording, run.recording
        passes = old.outcome.failed and new.outcome.passed
        if old.result.observed != new.result.observed:
            ending = new.outcome.text or str(new.outcome.kind)
            if new.outcome.kind is old.outcome.kind:
                ending = "the outputs differ"
            return Harm(HARMFUL, f"with the two in the other order the run ends otherwise: {ending}", points, passes)
        changed = self._values(race, run, places)
        if not changed:
            text = "in the other order the values are the same, and so is what the run does"
            return Harm(HARMLESS, text, points)
        if all(self._settles(place, run) for place in places if not self._writes(race, place, places)):
            return Harm(HARMLESS, f"in the other order {changed}, but it is looked at again and the run ends the same")
        return Harm(HARMFUL, f"in the other order {changed}", points)

    def _writes(self, race: Race, place: Place, places: tuple[Place, Place]) -> bool:
        return race.first.writes if place is places[0] else race.second.writes

    def _values(self, race: Race, run: PlacedRun, places: tuple[Place, Place]) -> str:
        """What has another value in the other order, in words; empty where nothing has."""
        first, second = places
        if race.first.writes and race.second.writes:
            old, new = self._shown(self._before, second), self._shown(run, first)
            return f"{new} is left there instead of {old}" if None not in (old, new) and old != new else ""
        place = second if race.first.writes else first
        old, new = self._shown(self._before, place), self._shown(run, place)
        if race.first.writes and self._before.event(second) < 0:
            old = self._shown(self._before, first)  # which is what would have been read
        return f"{new} is read instead of {old}" if None not in (old, new) and old != new else ""

    def _shown(self, run: PlacedRun, place: Place) -> str | None:
        """The value of an access in a run; None where it is not known."""
        event = run.event(place)
        seen = TraceReader(self._subject, run.trace).observation(event) if event >= 0 else None
        return seen.value if seen is not None else None

    def _settles(self, place: Place, run: PlacedRun) -> bool:
        """Whether a place reads again and again, and the last time the same in both runs."""
        old, new = self._before.again(place), run.again(place)
        repeated = len(old) > 1 or len(new) > 1
        return repeated and bool(old and new) and self._before.trace.value(old[-1]) == run.trace.value(new[-1])
