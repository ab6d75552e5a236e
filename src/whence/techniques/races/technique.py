"""Data races as a technique: which runs are checked, and what their threads did to each other as findings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from whence.errors import SubjectError, TraceError
from whence.findings import Entry, Findings, Statement, plural
from whence.investigation.chosen import chosen_cases
from whence.probe.instrument import Variant
from whence.subject.memory_check import Checker as Objects
from whence.techniques.races.check import Checker
from whence.techniques.races.explanation import FoundRaces

if TYPE_CHECKING:
    from whence.investigation.investigation import Investigation
    from whence.run.cases import Case

VERDICTS = ("harmful", "not tried", "harmless")


@dataclass(frozen=True, slots=True)
class DataRaces:
    """Races of the run of one case, or with ``every`` of all.

    The case is the one that the setup names, else the first failing one, else the first.
    """

    every: bool = False

    def run(self, investigation: Investigation) -> Findings:
        """Statements of the races: harmful ones first, then in order of time."""
        investigation.build(Variant.RECORD)
        cases = chosen_cases(investigation, self.every)
        found = _Runs()
        watcher = investigation.watcher
        with watcher.progress("checking runs", len(cases)) as report, watcher.first_use():
            checker, objects = Checker(investigation.subject), Objects(investigation.subject)
            with investigation.clock.standing():
                checker.compile()
                objects.compile()
            for number, case in enumerate(cases):
                if found.checked and investigation.clock.left <= 0:
                    found.left_out.append(f"{len(cases) - number:,} more cases: the time is used up (--budget 10m)")
                    break
                watcher.busy(f"checking the case {case.name}")
                try:
                    found.checked.append(_checked(investigation, checker, objects, case))
                except (SubjectError, TraceError) as error:
                    found.left_out.append(f"{case.name}: {error}")
                report(number + 1, len(cases))
        if not found.checked:
            raise SubjectError(f"no run could be checked: {found.left_out[0]}", "try another case with --case")
        return found.findings(investigation)


def _checked(investigation: Investigation, checker: Checker, objects: Objects, case: Case) -> dict[str, Any]:
    """One case recorded and checked, as results hold it."""
    recording = investigation.recorder.record(case, may_be_cut=True)
    checked = checker.check(recording.trace)
    races = FoundRaces(investigation.subject, checked, objects).told() if checked.races else []
    cut = ["only the beginning of the run was recorded"] if recording.is_cut else []
    return {
        "case": case.name,
        "verdict": str(recording.outcome.kind),
        "threads": checked.threads,
        "races": [told for _, told in races],
        "remarks": [*checked.remarks, *cut],
    }


@dataclass(slots=True)
class _Runs:
    """The runs that were checked, and those that could not be."""

    checked: list[dict[str, Any]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def findings(self, investigation: Investigation) -> Findings:
        """All of it. Where several runs have the same race, the first one tells it."""
        found = Findings("races", investigation.subject.name)
        races = [race for run in self.checked for race in run["races"]]
        races.sort(key=lambda race: VERDICTS.index(race["harm"]["verdict"]))  # stable: else in order of time
        seen: dict[Statement, list[dict[str, Any]]] = {}
        for race in races:
            for access in suspects(race):
                others = seen.setdefault(Statement(access["file"], access["line"]), [])
                if all(_places(other) != _places(race) for other in others):
                    others.append(race)
        for number, (statement, own) in enumerate(seen.items(), 1):
            found.ranking.append(Entry(statement, 1.0 / number, number, number, _evidence(own)))
        found.parts["races"] = self.checked
        found.summary = self._summary(investigation)
        return found

    def _summary(self, investigation: Investigation) -> list[str]:
        capture = investigation.subject.capture
        bad = sum(bool(run["races"]) for run in self.checked)
        lines = [
            f"captured {plural(len(capture.modules), 'module')}, checked {plural(len(self.checked), 'run')}"
            f" ({bad:,} with data races)"
        ]
        for run in self.checked:
            verdict = f"`{run['case']}` ({run['verdict']})"
            counts = {name: sum(race["harm"]["verdict"] == name for race in run["races"]) for name in VERDICTS}
            shown = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
            races = f"{plural(len(run['races']), 'data race')} ({shown})" if run["races"] else "no data race"
            lines.append(f"{verdict}: {plural(run['threads'], 'thread')}, {races}")
            lines += [f"{verdict}: {remark}" for remark in run["remarks"]]
        lines += [f"left out: {text}" for text in self.left_out]
        return [*lines, *(f"not captured: {name}" for name in capture.uncaptured)]


def suspects(race: dict[str, Any]) -> list[dict[str, Any]]:
    """The accesses of a race that have a place, the one without a lock first, then the one that writes."""
    placed = [access for access in race["accesses"] if access["file"]]
    return sorted(placed, key=lambda access: (bool(access["held"]) or access["atomic"], not access["writes"]))


def _places(race: dict[str, Any]) -> list[tuple[str, int]]:
    return sorted((str(access["file"]), access["line"] or 0) for access in race["accesses"])


def _evidence(races: list[dict[str, Any]]) -> dict[str, Any]:
    """The sentences of the races at one line."""
    reasons = [{"technique": f"race ({race['harm']['verdict']})", "text": t} for race in races for t in race["text"]]
    return {"reasons": reasons, "text": "; ".join(reason["text"] for reason in reasons)}
