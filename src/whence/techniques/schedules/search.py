"""The search: runs under many schedules until one fails, made again from its points, which are then as few as can
be."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from whence.inputs.judge import Verdict
from whence.inputs.reduce import reduce_units
from whence.run.cases import Case
from whence.run.oracle import judge
from whence.run.outcome import Outcome
from whence.run.result import RunResult
from whence.run.runner import RunLost, Runner
from whence.run.schedule import End, Followed, Point, Schedule
from whence.techniques.schedules.strategies import Strategy

BATCH = 48  # runs between two looks at what they gave
SAME = 2  # times that a failing schedule has to fail in the same way when it is made again

Left = Callable[[], float]  # seconds that there are still
Silent = Callable[[Case], Outcome | None]  # what goes wrong silently in a run that passes: it takes a recording
Report = Callable[[int], None]


@dataclass(slots=True, frozen=True)
class Failing:
    """A schedule under which a case fails, with the run; ``strategy`` found it in its ``number``-th run."""

    schedule: Schedule
    result: RunResult
    outcome: Outcome
    strategy: str
    number: int


@dataclass(slots=True)
class Tally:
    """What a search has done: runs by strategy, schedules that did not fail again, threads and steps of the runs."""

    runs: dict[str, int] = field(default_factory=dict)
    unrepeatable: int = 0
    threads: int = 0
    considered: int = 0
    full: bool = False  # a run wanted more threads than can be held

    @property
    def total(self) -> int:
        """All runs."""
        return sum(self.runs.values())


def signature(outcome: Outcome) -> tuple[str, str]:
    """What two runs have in common that fail in the same way."""
    assertion = outcome.assertion
    is_told = assertion is not None or outcome.text.startswith(("killed", "deadlock", "exit status"))
    return str(outcome.kind), outcome.text if is_told else ""


class Search:
    """Runs of one case under schedules, on the runner of its program's cover variant.

    ``left`` are the seconds that are left for looking at new schedules, ``rest`` those for what comes of one that
    fails. A run that takes longer than ``short`` seconds (0: as long as the runner lets it) counts as one that does not
    end, until it is made again: then it has all the time. Runs that pass are looked at for what is ``silent``, if that
    is given.
    """

    def __init__(
        self, runner: Runner, case: Case, left: Left, report: Report = lambda _: None, silent: Silent | None = None
    ) -> None:
        self._runner, self._case, self._silent = runner, case, silent
        self._known: dict[tuple[Point, ...], Outcome | None] = {}  # what is silent under some points
        self.left, self.rest, self.report = left, left, report
        self.short, self._limits = 0.0, runner.limits
        self.tally = Tally()

    def run(self, schedules: Sequence[Schedule], left: Left | None = None, short: bool = False) -> list[RunResult]:
        """The runs under some schedules, as many as there is time for (``left``, else that for new ones)."""
        left = left or self.left
        limit = min(self.short, self._limits.time or self.short) if short and self.short else self._limits.time
        self._runner.limits = replace(self._limits, time=limit)
        cases = [replace(self._case, schedule=schedule) for schedule in schedules]
        results: list[RunResult] = []
        while len(results) < len(cases) and left() > 0:
            try:
                for result in self._runner.iterate(cases[len(results) :]):
                    results.append(result)
                    if left() <= 0:
                        break
                else:
                    break
            except RunLost:
                cases = cases[: len(results)]
        return results

    def outcome(self, result: RunResult) -> Outcome:
        """The verdict of a run. While there is time, one that passes is made again and recorded, where that counts."""
        found, followed = judge(self._case, result), result.followed
        if found.failed or self._silent is None or followed is None or followed.lost:
            return found
        points = followed.points
        if points not in self._known:
            if self.rest() <= 0:
                return found
            self._known[points] = self._silent(replace(self._case, schedule=Schedule(points)))
        return self._known[points] or found

    # ---- Finding -----------------------------------------------------------------------------------------------------

    def find(self, strategies: Sequence[Strategy], most: int) -> Failing | None:
        """The first schedule that fails, and fails again; None where ``most`` runs, or the time, were used up."""
        count = len(strategies)  # at first, since some learn from their first run what there is to try
        while self.tally.total < most and self.left() > 0:
            batch = list(_mixed(strategies, min(count, most - self.tally.total)))
            count = BATCH
            if not batch:
                return None
            if found := self._first_failing(batch):
                return found
            self.report(self.tally.total)
        return None

    def _first_failing(self, batch: Sequence[tuple[Strategy, Schedule]]) -> Failing | None:
        failing: list[Failing] = []
        for (strategy, schedule), result in zip(batch, self.run([s for _, s in batch], short=True), strict=False):
            self.tally.runs[strategy.name] = self.tally.runs.get(strategy.name, 0) + 1
            followed = result.followed
            assert followed is not None
            self.note(followed)
            outcome = self.outcome(result)
            if outcome.failed and not followed.lost:
                failing.append(Failing(schedule, result, outcome, strategy.name, self.tally.total))
                if self._silent is not None:
                    break  # it takes a recording to judge each of the others
            elif not outcome.failed:
                strategy.learn(schedule, followed)
        for found in sorted(failing, key=lambda f: len(_points(f.result))):
            if again := self.again(found):
                return again
            self.tally.unrepeatable += self.rest() > 0 and not found.result.timed_out
        return None

    def note(self, followed: Followed) -> None:
        """Let a run count in what is said of threads and steps."""
        self.tally.threads = max(self.tally.threads, followed.threads)
        self.tally.considered = max(self.tally.considered, followed.considered)
        self.tally.full |= followed.end is End.FULL

    def again(self, found: Failing) -> Failing | None:
        """The same failure from its points alone; None where it does not come again each time."""
        points = _points(found.result)
        schedule = Schedule(points, slice=found.schedule.slice)
        runs = self.run([schedule] * SAME, self.rest)
        same = [run for run in runs if signature(self.outcome(run)) == signature(found.outcome)]
        return replace(found, schedule=schedule, result=same[0]) if len(same) == SAME else None

    # ---- Fewest points -----------------------------------------------------------------------------------------------

    def fewest(self, found: Failing) -> tuple[Failing, bool]:
        """The failure with as few points as it can have; and whether none of them can be left out."""
        judge_points = _PointsJudge(self, found)
        units = [_encoded(point) for point in found.schedule.points]
        left = reduce_units(judge_points, units) if units else []
        schedule = replace(found.schedule, points=tuple(_decoded(unit) for unit in left))
        reduced = self.again(replace(found, result=self._with(found.result, schedule.points), schedule=schedule))
        return (reduced, not judge_points.stopped) if reduced else (found, False)

    @staticmethod
    def _with(result: RunResult, points: tuple[Point, ...]) -> RunResult:
        assert result.followed is not None
        return replace(result, followed=replace(result.followed, points=points))


def _mixed(strategies: Sequence[Strategy], count: int) -> Iterator[tuple[Strategy, Schedule]]:
    """Schedules of all strategies in turn; fewer where none of them has one now."""
    while count > 0:
        before = count
        for strategy in strategies:
            schedule = strategy.next() if count else None
            if schedule is not None:
                yield strategy, schedule
                count -= 1
        if count == before:
            return


def _points(result: RunResult) -> tuple[Point, ...]:
    return result.followed.points if result.followed is not None else ()


def _encoded(point: Point) -> bytes:
    return b"".join(number.to_bytes(8, "little") for number in (point.thread, point.at, point.next))


def _decoded(unit: bytes) -> Point:
    thread, at, other = (int.from_bytes(unit[n : n + 8], "little") for n in (0, 8, 16))
    return Point(thread, at >> 1, other, bool(at & 1))


UNIT = len(_encoded(Point(0, 0, 0)))


class _PointsJudge:
    """Tells for the reducer of inputs whether some of the points fail in the same way."""

    def __init__(self, search: Search, found: Failing) -> None:
        self._search, self._found = search, found
        self._wanted = signature(found.outcome)
        self._known: dict[bytes, Verdict] = {}

    @property
    def stopped(self) -> str:
        """Why no more is tried; empty as long as there is time."""
        return "" if self._search.left() > 0 else "time"

    def batch_size(self, _: int) -> int:
        """How many are tried together."""
        return BATCH

    def is_same(self, data: bytes) -> bool:
        """Whether these points fail in the same way."""
        return self.judge([data])[0] is Verdict.SAME

    def judge(self, candidates: Sequence[bytes]) -> list[Verdict]:
        """The verdict of each."""
        new = [data for data in dict.fromkeys(candidates) if data not in self._known]
        schedules = [replace(self._found.schedule, points=_split(data)) for data in new]
        for data, result in zip(new, self._search.run(schedules, short=True), strict=False):
            same = signature(self._search.outcome(result)) == self._wanted
            self._known[data] = Verdict.SAME if same else Verdict.OTHER
        return [self._known.get(data, Verdict.OTHER) for data in candidates]


def _split(data: bytes) -> tuple[Point, ...]:
    return tuple(_decoded(data[n : n + UNIT]) for n in range(0, len(data), UNIT))
