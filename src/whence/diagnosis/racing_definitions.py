"""Data races at what a failure came of: what figure 6.1 of the dissertation asks of them in lines 10 to 13.

The recorded run of an execution has all that line 10 would watch for, so nothing is run again for that. Whether a race
is harmful is decided under the same suppression as the execution that failed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from whence.findings import Statement
from whence.probe.instrument import Variant
from whence.subject.memory_check import Checker as Objects
from whence.techniques.execution_suppression.algorithm import LEAST, SHARE, RaceAt, Step
from whence.techniques.execution_suppression.definitions import Definition, Definitions
from whence.techniques.races.at_definition import RacesAt
from whence.techniques.races.check import Checker, Race
from whence.techniques.races.explanation import FoundRaces
from whence.techniques.races.other_order import LONGER, OtherOrder, PlacedRun
from whence.techniques.races.technique import suspects

if TYPE_CHECKING:
    from whence.alter.suppression import SuppressedRuns
    from whence.investigation.investigation import Investigation
    from whence.run.schedule import Schedule
    from whence.subject.recorder import Recording
    from whence.trace.trace import Trace

MOST_DEFINITIONS = 16  # of an execution at which races are looked for


def races_of(investigation: Investigation, runs: SuppressedRuns) -> RacesAtDefinitions:
    """What looks for races in suppressed runs, compiled if that has not been done."""
    found = RacesAtDefinitions(runs, lambda: investigation.clock.left)
    found.checker.compile()
    found.objects.compile()
    return found


class RacesAtDefinitions:
    """Looks for races at the definitions of executions (``RaceSearch``). ``seconds`` gives the time that is left."""

    def __init__(self, runs: SuppressedRuns, seconds: Callable[[], float]) -> None:
        self._runs, self._seconds = runs, seconds
        self.checker = Checker(runs.subject)
        self.objects = Objects(runs.subject, variant=Variant.SUPPRESS)

    def at(self, step: Step) -> list[RaceAt]:
        """Races of an execution's definitions with what came before them, then with what was read of them."""
        trace = step.recording.trace
        if trace.header.threads < 2:
            return []
        races, definitions = RacesAt(self.checker, trace), Definitions(trace)
        if not races.checked.races:
            return []
        places = [(d.event, ranges) for d in _shown(step) if (ranges := definitions.locations(d))]
        found = [race for event, ranges in places for race in races.before(event, ranges)]
        found += [race for event, ranges in places for race in races.behind(event, ranges)]
        return self._judged(found, races, step, step)

    def behind(self, step: Step, following: Step) -> list[RaceAt]:
        """Races of an execution's definitions with what was read of them only in the one that suppressed them."""
        trace = following.recording.trace
        if trace.header.threads < 2:
            return []
        races, definitions = RacesAt(self.checker, trace), Definitions(step.recording.trace)
        old, new = PlacedRun(step.recording), PlacedRun(following.recording)
        done = {int(n): int(old.steps.number[old.steps.thread == n].max()) for n in np.unique(old.steps.thread)}
        found: list[Race] = []
        for definition in _shown(step):
            event, ranges = new.event(old.place(definition.event)), definitions.locations(definition)
            if event >= 0 and ranges:
                found += races.behind(event, ranges, done)
        return self._judged(found, races, step, following)

    def _judged(self, found: list[Race], races: RacesAt, step: Step, shown: Step) -> list[RaceAt]:
        """Races that an execution has ``shown``, each run in its other order as ``step`` was, up to a harmful one."""
        told = FoundRaces(self._runs.subject, races.checked, self.objects)
        judged: list[RaceAt] = []
        for race in _distinct(found, races.checked.trace):
            judged.append(self._with_harm(race, told, step, shown))
            judged[-1].shown["text"] += races.checked.remarks
            if judged[-1].is_harmful:
                break
        return judged

    def _with_harm(self, race: Race, told: FoundRaces, step: Step, shown: Step) -> RaceAt:
        """A race in the user's words, with what its other order does."""

        def record(schedule: Schedule) -> Recording:
            time = max(self._seconds() * SHARE, LEAST)
            room = LONGER * shown.recording.trace.bytes_used
            return self._runs.run_under(schedule, room, step.points, step.ordering, time).recording

        before, row = self._runs.count, told.json(race)
        if self._seconds() > 0:
            row["harm"] = OtherOrder(self._runs.subject, record, shown.recording, step.recording).harm(race).json()
        row["text"].insert(1, f"{row['harm']['verdict']}: {row['harm']['text']}")
        places = dict.fromkeys(Statement(access["file"], access["line"]) for access in suspects(row))
        return RaceAt(row, tuple(places), self._runs.count - before)


def _distinct(found: list[Race], trace: Trace) -> Iterable[Race]:
    """Of races of the same two threads at the same two places the first: bytes are often written one by one."""
    one: dict[tuple[int, ...], Race] = {}
    for race in found:
        accesses = (race.first, race.second)
        one.setdefault((*(trace.site(a.event) for a in accesses), *(a.thread for a in accesses)), race)
    return one.values()


def _shown(step: Step) -> Iterator[Definition]:
    """The definitions of an execution, the last ones where there are many: a loop wrote them one by one."""
    yield from sorted(step.definitions, key=lambda d: -d.event)[:MOST_DEFINITIONS]
