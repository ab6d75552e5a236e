"""Data races as a technique: which runs are checked, and what their threads did to each other as findings."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from whence.errors import SubjectError, TraceError
from whence.findings import Findings, Statement, plural
from whence.investigation.checked_runs import CheckedRuns, ranked
from whence.investigation.chosen import chosen_cases
from whence.probe.instrument import Variant
from whence.run.schedule import DEFAULT, End, Schedule, Way
from whence.subject.memory_check import Checker as Objects
from whence.techniques.races.check import Checked, Checker
from whence.techniques.races.explanation import FoundRaces, Place
from whence.techniques.races.other_order import HARMFUL, HARMLESS, NOT_TRIED, VERDICTS, Harm, OtherOrder, recorded_by

if TYPE_CHECKING:
    from whence.investigation.investigation import Investigation
    from whence.run.cases import Case
    from whence.subject.recorder import Recording
    from whence.techniques.races.check import Race

ORDER = (HARMFUL, NOT_TRIED, HARMLESS)  # in which races are told
SHARE = 0.5  # of the time left that one more order may take
MOST_CHANGES = 3  # priorities that fall in an order
MOST_TRIED = 200  # races of a case whose other order is run


@dataclass(frozen=True, slots=True, kw_only=True)
class DataRaces:
    """Races of the runs of one case, or with ``every`` of all; a case is run in so many ``orders`` of turns.

    The case is the one that the setup names, else the first failing one, else the first.
    """

    every: bool = False
    orders: int = 8

    def run(self, investigation: Investigation) -> Findings:
        """Statements of the races: harmful ones first, then in order of time."""
        investigation.build(Variant.RECORD)
        cases = chosen_cases(investigation, self.every)
        found = CheckedRuns(investigation)
        watcher = investigation.watcher
        with watcher.progress("checking runs", len(cases)) as report, watcher.first_use():
            checkers = Checker(investigation.subject), Objects(investigation.subject)
            for checker in checkers:
                checker.compile()
            found.check(cases, report, lambda case: _Case(self, investigation, checkers, case).result())
        return _findings(found)


class _Case:
    """The races of one case, under as many orders of turns as the options and the time allow."""

    def __init__(self, options: DataRaces, investigation: Investigation, checkers: tuple[Checker, Objects], case: Case):
        has_turns = investigation.subject.has_threads and case.command is None
        self._case = replace(case, schedule=case.schedule or DEFAULT) if has_turns else case
        self._options, self._investigation, self._checkers = options, investigation, checkers
        self._found: dict[Place, dict[str, Any]] = {}
        self._remarks: list[str] = []
        self._tried = 0

    def result(self) -> dict[str, Any]:
        """As results hold it (docs/json.md)."""
        begun = time.monotonic()
        recording, checked = self._check(self._case)
        self._remarks += checked.remarks
        if recording.process:
            self._remarks.append(f"the process {recording.process}")
        if recording.is_cut:
            self._remarks.append("only the beginning of the run was recorded")
        if recording.result.followed is not None and recording.result.followed.end is End.FULL:
            self._remarks.append("the run wanted more threads than can be held (4,096): those were not started")
        took = time.monotonic() - begun
        orders = 1
        for schedule in self._others(recording, checked):
            if self._investigation.clock.left * SHARE < took:
                self._remarks.append(f"no time for more than {plural(orders, 'order')} of turns (--budget 10m)")
                break
            begun = time.monotonic()
            try:
                self._check(replace(self._case, schedule=schedule))
            except (SubjectError, TraceError) as error:
                self._remarks.append(f"another order of turns: {error}")
                break
            orders, took = orders + 1, time.monotonic() - begun
        return {
            "case": self._case.name,
            "verdict": str(recording.outcome.kind),
            "threads": checked.threads,
            "orders": orders,
            "races": list(self._found.values()),
            "remarks": self._remarks,
        }

    def _others(self, recording: Recording, checked: Checked) -> Iterator[Schedule]:
        """Other orders of turns: threads have priorities by chance, some of which fall on the way.

        They fall where threads order themselves, since that decides what is ordered, and at accesses that race, since
        what is done may hang on these.
        """
        if self._case.schedule != DEFAULT or checked.threads < 2 or recording.result.followed is None:
            return
        trace, wanted = recording.trace, self._checkers[0].ordering_segments.copy()
        racing = [access.event for race in checked.races for access in (race.first, race.second)]
        executed = trace.columns.segments["id"][: trace.segments]
        wanted[executed[trace.columns.events["segment"][racing]]] = True
        sites = np.packbits(wanted, bitorder="little").tobytes()
        length = max(1, int(np.count_nonzero(wanted[executed])))
        for seed in range(1, self._options.orders):
            yield Schedule(way=Way.PRIORITIES, seed=seed, changes=seed % (MOST_CHANGES + 1), length=length, sites=sites)

    def _check(self, case: Case) -> tuple[Recording, Checked]:
        """Record one run and add its races; the other order of each is run as well."""
        checker, objects = self._checkers
        subject, recorder = self._investigation.subject, self._investigation.recorder
        recording = recorder.record_or_beginning(case, lambda trace: len(checker.check(trace).races))
        checked = checker.check(recording.trace)
        if not checked.races:
            return recording, checked
        followed = recording.result.followed
        if followed is not None and case.schedule is not None:
            recording.case = replace(case, schedule=Schedule(followed.points))
        other = OtherOrder(subject, recorded_by(recorder, recording), recording)
        for place, race, row in FoundRaces(subject, checked, objects).described():
            known = self._found.get(place)
            if known is not None and known["harm"]["verdict"] == HARMFUL:
                continue
            if known is None or known["harm"]["verdict"] != HARMFUL:
                harm = self._harm(other, race)
                row["harm"] = harm.json()
                row["text"].insert(1, f"{harm.verdict}: {harm.text}")
                if known is None or VERDICTS.index(harm.verdict) < VERDICTS.index(known["harm"]["verdict"]):
                    self._found[place] = row
        return recording, checked

    def _harm(self, other: OtherOrder, race: Race) -> Harm:
        if self._tried >= MOST_TRIED or self._investigation.clock.left <= 0:
            return Harm(NOT_TRIED, "no time was left for the run with the other order")
        self._tried += 1
        return other.harm(race)


def _findings(found: CheckedRuns) -> Findings:
    """All of it. Where several runs have the same race, the first one tells it."""
    races = [race for run in found.checked for race in run["races"]]
    races.sort(key=lambda race: ORDER.index(race["harm"]["verdict"]))  # stable: else in order of time
    placed = ((Statement(access["file"], access["line"]), race) for race in races for access in suspects(race))
    findings = Findings("races", found.investigation.subject.name)
    findings.ranking = ranked(placed, _places, _evidence)
    findings.parts["races"] = found.checked
    findings.summary = found.summary("races", "data races", _counts)
    return findings


def _counts(run: dict[str, Any]) -> list[str]:
    counts = {name: sum(race["harm"]["verdict"] == name for race in run["races"]) for name in ORDER}
    shown = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
    races = f"{plural(len(run['races']), 'data race')} ({shown})" if run["races"] else "no data race"
    orders = f" in {run['orders']:,} orders of their turns" if run["orders"] > 1 else ""
    return [f"{plural(run['threads'], 'thread')}{orders}, {races}"]


def suspects(race: dict[str, Any]) -> list[dict[str, Any]]:
    """The accesses of a race that have a place, the one without a lock first, then the one that writes."""
    placed = [access for access in race["accesses"] if access["file"]]
    return sorted(placed, key=lambda access: (bool(access["held"]) or access["atomic"], not access["writes"]))


def _places(race: dict[str, Any]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted((str(access["file"]), access["line"] or 0) for access in race["accesses"]))


def _evidence(races: list[dict[str, Any]]) -> dict[str, Any]:
    """The sentences of the races at one line."""
    reasons = [{"technique": f"race ({race['harm']['verdict']})", "text": t} for race in races for t in race["text"]]
    return {"reasons": reasons, "text": "; ".join(reason["text"] for reason in reasons)}
