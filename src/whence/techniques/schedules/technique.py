"""The search for a failing schedule as a technique: which cases, how long, and what is told."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whence.build.toolchain import whence_home
from whence.errors import SubjectError, TraceError
from whence.findings import Entry, Findings, Symptom, plural
from whence.probe.instrument import Variant
from whence.probe.library import FUNCTIONS
from whence.run.outcome import Kind
from whence.run.schedule import DEFAULT, Point, Schedule, ScheduleFile, Way
from whence.techniques.schedules.guide import Guide
from whence.techniques.schedules.search import Failing, Search
from whence.techniques.schedules.strategies import NAMES, Rank, strategies

if TYPE_CHECKING:
    from whence.findings import Statement
    from whence.investigation.investigation import Investigation
    from whence.run.cases import Case
    from whence.run.outcome import Outcome
    from whence.run.runner import Runner
    from whence.subject.recorder import Recording
    from whence.techniques.schedules.explanation import Explanation
    from whence.trace.accesses import Accesses

ORDERING = re.compile(r"(pthread_(mutex|cond|rwlock|spin|barrier|once|join|cancel)|mtx_|cnd_|thrd_join|call_once|sem_)")
ANALYSIS = 0.25  # of the time, for making a schedule short and comparing runs
PHASES = (0.5, 0.75)  # of the schedules, after so many threads are changed where they share something often; everywhere
OFTEN = 200  # times that a place is executed by the default schedule, above which it is one of those
QUICK, SLOWER = 1.0, 10  # seconds, and times the recorded run, after which a run counts as endless
SHORT = 0.25  # seconds, or as many times a run by default, after which one counts so until it is made again
ENDLESS = 1e9  # seconds
NEIGHBOURS = 6  # passing schedules that are compared with a failing one, at most
FIRM = 8  # schedules of priorities that do not fall
DRAWN = 20  # schedules that each of two strategies draws, at the places and anywhere
CLOSE = 3  # steps to either side of a point at which a passing schedule is looked for


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedules:
    """Schedules under which cases fail: of the case that the setup names, else of the first that has one, or of all.

    ``names`` of the strategies (``strategies.NAMES``), ``most`` runs a case; ``output``: where the schedule is written
    (None: in Whence's own folder). With ``every`` the search goes on after the first case that fails.
    """

    names: tuple[str, ...] = NAMES
    most: int = 10_000
    every: bool = False
    output: Path | None = None

    def run(self, investigation: Investigation) -> Findings:
        """The lines whose order decides, of the first failing schedule; ``parts["schedules"]`` has all of it."""
        if not investigation.subject.has_threads:
            what = f"{investigation.subject.name} starts no threads: it has one schedule only"
            raise SubjectError(what, "`whence locate` explains failures of programs without threads")
        investigation.build(Variant.COVER)
        investigation.build(Variant.RECORD)
        found = _Found(investigation)
        cases = _chosen(investigation)
        try:
            for number, case in enumerate(cases):
                if found.searched and investigation.clock.left <= 0:
                    found.remarks.append(f"{plural(len(cases) - number, 'more case')}: the time is used up")
                    break
                share = 1 / (len(cases) - number)
                found.add(_Searched(self, investigation, case, share).result())
                if found.first is not None and not self.every:
                    break
        except KeyboardInterrupt:
            if not found.searched:
                raise
            found.remarks.append("interrupted: what was found by then")
        return found.findings(self)


def _chosen(investigation: Investigation) -> list[Case]:
    """The cases to search: the one that the setup names, or all that run the program itself."""
    subject, name = investigation.subject, investigation.setup.case
    cases = [case for case in subject.cases if case.command is None and (name is None or case.name == name)]
    if not cases:
        if subject.cases and name is None:
            raise SubjectError(
                "all cases are commands of a test suite: a schedule is searched for a program's own run",
                "describe the run as a case with `arguments` and `stdin`",
            )
        raise SubjectError(
            f"no case is named '{name}'" if subject.cases else "no case to search", "add one with --fails"
        )
    return cases


def explained_run(
    investigation: Investigation, case: Case, schedule: Schedule, outcome: Outcome
) -> tuple[str, dict[Statement, list[str]]]:
    """What kind of error a case shows that fails under a schedule, and the lines that decide, the main one first.

    Nothing where no schedule next to it passes, and it is no deadlock.
    """
    investigation.build(Variant.COVER)
    explanation = _Searched(Schedules(), investigation, case, 1.0).explained(schedule, outcome)
    return (explanation.kind, explanation.statements()) if explanation and explanation.kind else ("", {})


@dataclass(slots=True)
class _Case:
    """What was found for one case."""

    case: Case
    part: dict[str, Any]
    failing: Failing | None = None
    explanation: Explanation | None = None
    symptom: Symptom | None = None


class _Searched:
    """The search for one case in a share of the time."""

    def __init__(self, options: Schedules, investigation: Investigation, case: Case, share: float) -> None:
        self._options, self._investigation, self._case = options, investigation, case
        self._subject = investigation.subject
        self._ends = investigation.clock.within(share)
        self._remarks: list[str] = []
        self._rank: Rank = lambda _: 0

    def result(self) -> _Case:
        """The first failing schedule, made short and told; or how far the search came."""
        investigation = self._investigation
        investigation.watcher.busy(f"searching the schedules of the case {self._case.name}")
        sites, recording = self._default()
        base = Schedule(sites=sites[-1])
        with self._subject.runner(Variant.COVER) as runner:
            limits = runner.limits
            if recording is not None:
                wall = max(QUICK, SLOWER * recording.result.wall)
                runner.limits = replace(limits, time=min(limits.time or float("inf"), wall))
            search = self._search(runner)
            is_minimal = True
            found = _by_default(search, recording) if recording is not None else None
            if found is not None:
                search.short = QUICK if found.result.timed_out else 0.0
            else:
                recording = None
                usual = search.run([DEFAULT])
                search.short = max(SHORT, SLOWER * usual[0].wall) if usual else 0.0
                found = self._find(search, sites)
                if found is not None:
                    self._publish(self._told(search, found, False))
                    found, is_minimal = search.fewest(found)
            searched = self._told(search, found, is_minimal)
            if found is not None:
                self._publish(searched)
                self._explain(search, found, searched, base, recording)
            return searched

    def explained(self, schedule: Schedule, outcome: Outcome) -> Explanation | None:
        """What a run under a schedule that is known does otherwise than a passing one next to it."""
        with self._subject.runner(Variant.COVER) as runner:
            search = self._search(runner)
            run = next(iter(search.run([schedule])), None)
            if run is None:
                return None
            found = Failing(schedule, run, outcome, "given", 1)
            told = self._told(search, found, True)
            self._explain(search, found, told, DEFAULT)
            return told.explanation

    def _search(self, runner: Runner) -> Search:
        clock = self._investigation.clock
        import time

        silent = self._memory_error if self._case.comparison.memory else None
        return Search(runner, self._case, lambda: min(clock.left, self._ends - time.monotonic()), silent=silent)

    def _memory_error(self, case: Case) -> Outcome | None:
        """The memory error of a run that passes in all else; None: it has none, or cannot be recorded."""
        try:
            outcome = self._investigation.recorder.record(case).outcome
        except (SubjectError, TraceError):
            return None
        return outcome if outcome.kind is Kind.MEMORY else None

    def _default(self) -> tuple[tuple[bytes, bytes], Recording | None]:
        """The places at which threads share something by the default schedule, and its recording.

        First those places that are not executed often, then all of them.
        """
        try:
            with self._investigation.watcher.first_use():
                recording = self._investigation.recorder.record_or_beginning(replace(self._case, schedule=DEFAULT))
        except (SubjectError, TraceError) as error:
            self._remarks.append(f"not recorded: {error}; threads are changed at every step")
            return (b"", b""), None
        accesses = self._accesses(recording)
        self._rank = Guide(accesses).rank
        return (_shared(accesses, OFTEN), _shared(accesses)), recording

    def _find(self, search: Search, sites: tuple[bytes, bytes]) -> Failing | None:
        """Search where threads share something now and then, then where they do so often; then everywhere."""
        most, names = self._options.most, self._options.names
        whole, found = search.left, None
        begun = min(whole(), ENDLESS)
        with self._investigation.watcher.search("schedules") as report:
            search.report = lambda done: report(done, most)
            for part, own in zip((*PHASES, 1.0), (*sites, b""), strict=True):
                ends = begun * (1 - part * (1 - ANALYSIS))
                search.left = lambda ends=ends: whole() - ends  # type: ignore[misc]
                found = search.find(strategies(names, Schedule(sites=own), self._rank), int(most * part))
                if found is not None:
                    break
        search.left = whole
        return found

    # ---- Recordings --------------------------------------------------------------------------------------------------

    def _record(self, schedule: Schedule, expected: Outcome | None) -> Recording:
        case = replace(self._case, schedule=schedule)
        with self._investigation.watcher.first_use():
            return self._investigation.recorder.record(case, expected)

    def _accesses(self, recording: Recording) -> Accesses:
        from whence.trace.accesses import Accesses

        return Accesses(recording.trace, _ordering())

    # ---- Telling -----------------------------------------------------------------------------------------------------

    def _told(self, search: Search, found: Failing | None, is_minimal: bool) -> _Case:
        """What the search did and found, as results hold it."""
        remarks = list(self._remarks)
        part: dict[str, Any] = {
            "case": self._case.name,
            "runs": dict(search.tally.runs),
            "threads": search.tally.threads,
            "steps": search.tally.considered,
            "outcome": str(found.outcome.kind) if found else "pass",
            "found": None,
            "remarks": remarks,
        }
        if search.tally.unrepeatable:
            times = plural(search.tally.unrepeatable, "schedule")
            remarks.append(f"{times} failed once, but not when it was made again: something else varies")
        if search.tally.full:
            remarks.append("a run wanted more threads than can be held (4,096): those were not started")
        if found is not None:
            part["found"] = {
                "failure": found.outcome.text or str(found.outcome.kind),
                "strategy": found.strategy,
                "run": found.number,
                "minimal": is_minimal,
                "schedule": [_plain(point) for point in found.schedule.points],
            }
        return _Case(self._case, part, found)

    def _explain(
        self, search: Search, found: Failing, searched: _Case, base: Schedule, recording: Recording | None = None
    ) -> None:
        """Tell the accesses whose order decides; ``recording``: that of the failing run, where there is one."""
        from whence.subject.symptoms import symptom_of
        from whence.techniques.schedules.explanation import Explanation

        part, remarks = searched.part["found"], searched.part["remarks"]
        try:
            recording = recording or self._record(found.schedule, found.outcome)
            failing = self._accesses(recording)
            searched.symptom = symptom_of(recording, self._subject.folder)
        except (SubjectError, TraceError) as error:
            remarks.append(f"the failing run was not recorded: {error}")
            return
        explanation = Explanation(self._subject, found.outcome, found.schedule.points, failing)
        passing = self._nearest_passing(search, found, failing, base)
        if passing is not None:
            explanation.beside(passing[1])
            part["passing"] = [_plain(point) for point in passing[0].points]
        else:
            remarks.append("no schedule was found under which the case passes: its outcome may not depend on one")
        searched.explanation = explanation
        part |= explanation.json()

    def _publish(self, searched: _Case) -> None:
        """Make the schedule known, and write it, before its run is recorded and compared, which may take too long."""
        found = _Found(self._investigation)
        found.add(searched)
        best = self._investigation.current(found.findings(self._options))
        self._investigation.watcher.best(best, self._subject.folder)

    def _nearest_passing(
        self, search: Search, found: Failing, failing: Accesses, base: Schedule
    ) -> tuple[Schedule, Accesses] | None:
        """The passing schedule whose run comes apart from the failing one in the fewest places, with its accesses."""
        from whence.techniques.schedules.comparison import distance

        best: tuple[int, Schedule, Accesses] | None = None
        for schedule in self._passing_near(search, found, failing, base):
            if best is not None and self._investigation.clock.left < 1:
                break
            try:
                accesses = self._accesses(self._record(schedule, None))
            except (SubjectError, TraceError):
                continue
            apart = distance(failing, accesses)
            if best is None or apart < best[0]:
                best = apart, schedule, accesses
        return best[1:] if best is not None else None

    def _passing_near(self, search: Search, found: Failing, failing: Accesses, base: Schedule) -> list[Schedule]:
        """Passing schedules with one point less, or with one at another step; else any other."""
        near = list(_neighbours(found.schedule, failing))
        runs = zip(near, search.run(near), strict=False)
        passing = [schedule for schedule, run in runs if search.outcome(run).passed]
        if not passing and found.schedule != DEFAULT:
            passing = [DEFAULT for run in search.run([DEFAULT]) if search.outcome(run).passed]
        if not passing:
            # Where a run fails early, a place may be shared with what it did not come to: so also anywhere.
            firm = [Schedule(way=Way.PRIORITIES, seed=seed, length=1) for seed in range(1, FIRM + 1)]
            drawing = [one for where in (base, DEFAULT) for one in strategies(("priorities", "walk"), where)]
            drawn = [*firm, *(schedule for one in drawing for _ in range(DRAWN) if (schedule := one.next()))]
            at_once = FIRM if found.result.timed_out else len(drawn)  # each may take as long as a run that ends is let
            followed: list[tuple[Point, ...]] = []
            while drawn and not followed:
                results = search.run(drawn[:at_once], short=True)
                followed = [run.followed.points for run in results if search.outcome(run).passed and run.followed]
                drawn = drawn[at_once:] if results else []
            passing = [Schedule(points) for points in sorted(followed, key=len)[:1]]
        return passing[:NEIGHBOURS]


def _by_default(search: Search, recording: Recording) -> Failing | None:
    """The default schedule, where the case fails by it: run again, or as recorded where there is no time for that, or
    where that run did not end.
    """
    if not recording.outcome.failed:
        return None
    again = [] if recording.result.timed_out else search.run([DEFAULT])
    run = next(iter(again), recording.result)
    if run.followed is not None:
        search.note(run.followed)
    outcome = search.outcome(run)
    return Failing(DEFAULT, run, outcome, "default", 1) if outcome.failed else None


def _neighbours(schedule: Schedule, failing: Accesses) -> Iterator[Schedule]:
    """The schedule with one of its points at another step at which threads share something, or without it."""
    points = schedule.points
    rows = sorted({row for rows in failing.by_place.values() for row in rows})
    for number in reversed(range(len(points))):
        point = points[number]
        table = failing.table[rows]
        own = sorted({int(step) for step in table["step"][table["thread"] == point.thread]} | {point.step})
        at = own.index(point.step)
        others = [] if point.waits else [own[n] for n in range(max(at - CLOSE, 0), at + CLOSE + 1) if n < len(own)]
        for step in sorted(set(others) - {point.step}, key=lambda s: (abs(s - point.step), s)):
            yield replace(schedule, points=(*points[:number], replace(point, step=step), *points[number + 1 :]))
        yield replace(schedule, points=points[:number] + points[number + 1 :])


def _plain(point: Point) -> dict[str, Any]:
    return {"thread": point.thread, "step": point.step, "next": point.next, "waits": point.waits}


def _ordering() -> frozenset[int]:
    """The library functions by which threads are ordered, as a plan numbers what is called."""
    return frozenset(-2 - function.number for function in FUNCTIONS.values() if ORDERING.match(function.name))


def _shared(accesses: Accesses, often: int | None = None) -> bytes:
    """A bit for each segment of the program at which threads can share something: as seen, or since it was not run.

    Without those that were executed more than ``often`` times.
    """
    import numpy as np

    trace = accesses.trace
    wanted = np.ones(len(trace.plan.segments), np.bool_)
    wanted[trace.columns.segments["id"][: trace.segments]] = False
    wanted[list(accesses.shared_segments())] = True
    if often is not None:
        counts = np.bincount(trace.columns.segments["id"][: trace.segments], minlength=len(wanted))
        wanted[counts[: len(wanted)] > often] = False
    return np.packbits(wanted, bitorder="little").tobytes()


@dataclass(slots=True)
class _Found:
    """What was found for all cases."""

    investigation: Investigation
    searched: list[_Case] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    first: _Case | None = None

    def add(self, case: _Case) -> None:
        """One more case has been searched."""
        self.searched.append(case)
        if case.failing is not None and self.first is None:
            self.first = case

    def findings(self, options: Schedules) -> Findings:
        """All of it; the ranking is that of the first case that fails, whose schedule is written to a file."""
        subject = self.investigation.subject
        found = Findings("schedules", subject.name, parts={"schedules": [case.part for case in self.searched]})
        first = self.first
        if first is not None and first.failing is not None:
            path = options.output or _own_file(first.case.name, subject.fingerprint)
            path.parent.mkdir(parents=True, exist_ok=True)
            ScheduleFile(first.case.name, subject.fingerprint, first.failing.schedule).write(path)
            first.part["found"]["file"] = str(path)
            found.symptom = first.symptom
            found.ranking = _ranking(first)
        found.summary = [line for case in self.searched for line in _lines(case)] + self.remarks
        return found


def _own_file(case: str, fingerprint: int) -> Path:
    name = re.sub(r"[^\w.-]+", "-", case)[:60]
    return Path(whence_home()) / "schedules" / f"{name}-{fingerprint:016x}.json"


def _ranking(found: _Case) -> list[Entry]:
    """The lines that decide; where none can be told, that of the symptom."""
    statements = found.explanation.statements() if found.explanation is not None else {}
    at = found.symptom.statement if found.symptom else None
    if not statements and at is not None:
        statements = {at: ["here the failure shows"]}
    kind = (found.explanation.kind if found.explanation is not None else "") or "schedules"
    entries = []
    for number, (statement, texts) in enumerate(statements.items(), 1):
        reasons = [{"technique": kind, "text": text} for text in texts]
        evidence = {"reasons": reasons, "text": "; ".join(texts)}
        entries.append(Entry(statement, 1.0 / number, number, number, evidence))
    return entries


def _lines(case: _Case) -> Sequence[str]:
    """What was done for a case, and its schedule."""
    part = case.part
    runs = sum(part["runs"].values())
    lines = [f"`{part['case']}`: {plural(runs, 'schedule')} of {plural(part['threads'], 'thread')} run"]
    found = part["found"]
    if found is None:
        lines[0] += ", none of them fails"
    elif found["strategy"] == "default":
        lines[0] = f"`{part['case']}` fails by the default schedule: {found['failure']}"
    else:
        kind = found.get("kind") or "failure"
        lines[0] += f"; number {found['run']:,} ({found['strategy']}) fails: {found['failure']}"
        count = plural(len(found["schedule"]), "point")
        lines.append(f"{kind} under a schedule of {count}" + (", none of which can go" if found["minimal"] else ""))
        lines += [f"  {number}. {point['text']}" for number, point in enumerate(found.get("points", []), 1)]
    if found is not None:
        lines.append(f"the schedule was written to {found['file']}")
    return [*lines, *part["remarks"]]
