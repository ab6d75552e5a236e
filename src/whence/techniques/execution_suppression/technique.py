"""Execution Suppression as a technique: one case, its executions, and the chain of corruptions as findings."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from whence.alter.faithful import VARIANT, FailureSignature, difference
from whence.alter.suppression import SuppressedRuns
from whence.errors import SubjectError
from whence.findings import Entry, Findings, Statement, plural
from whence.probe.instrument import Variant
from whence.run.oracle import signal_name
from whence.techniques.execution_suppression.algorithm import (
    NOT_COMPARED,
    RACES,
    TIME_UP,
    RaceAt,
    RaceSearch,
    Step,
    Suppressed,
    Suppression,
)
from whence.techniques.execution_suppression.case import SCHEDULES, chosen
from whence.techniques.execution_suppression.explanation import Explanation

if TYPE_CHECKING:
    from whence.investigation.investigation import Investigation
    from whence.run.cases import Case
    from whence.run.result import RunResult
    from whence.subject.recorder import Recording

OTHER_TURNS = "its threads did not take turns where they did in the first one, since steps were left out"
OTHERS = "`whence memory` and `whence locate` still say something"
CONFINED = "suppressed runs reach no network, not even on this machine"
RacesOf = Callable[["Investigation", SuppressedRuns], RaceSearch]


@dataclass(frozen=True, slots=True)
class SuppressedExecutions:
    """Suppresses what a failure came of until none is left: the last suppressed definition is the first corruption.

    The case is the one that the setup names, else the first that crashes, else the first that fails. With ``reorder``
    variables are laid out anew to make further corruption crash, also where no case fails: then it is the first case.
    ``races`` gives what looks for data races in the runs of a program with threads (figure 6.1).
    """

    reorder: bool = False
    races: RacesOf | None = None

    def run(self, investigation: Investigation) -> Findings:
        """The suppressed definitions, the last one first; before them a harmful race.

        Raises SubjectError where no case fails, or where the case does not fail in the variant as it does by itself.
        """
        investigation.build(Variant.SUPPRESS)
        if self.reorder:
            investigation.build(Variant.REORDER)
        case, plain = chosen(investigation, self.reorder)
        subject, watcher, clock = investigation.subject, investigation.watcher, investigation.clock
        made = _Executions(investigation, case, time.monotonic())
        with watcher.progress("suppressed executions", 0) as report, watcher.first_use():
            watcher.busy(f"suppressing in the case {case.name}")

            def executed(step: Step) -> None:
                made.add(step)
                best = investigation.current(made.findings(Suppressed(why=TIME_UP)))
                if best.ranking:
                    watcher.best(best, subject.folder)
                report(len(made.executions), len(made.executions))

            with SuppressedRuns(subject, case, investigation.setup.trace_limit) as runs:
                in_turns = case.schedule is not None and case.command is None
                search = self.races(investigation, runs) if self.races and in_turns else None
                faithful = _Faithful(case, plain, _process_end(investigation, case))
                suppression = Suppression(runs, subject.folder, lambda: clock.left, executed, faithful, search)
                found = suppression.suppress(self.reorder)
                made.count = runs.count
        if subject.has_threads and case.command is not None:
            found.remarks.append("the case is a command: no races were looked for")
        elif subject.has_threads and case.schedule is None:
            found.remarks.append(f"it fails alike in no order of turns tried: no races were looked for; {SCHEDULES}")
        return made.findings(found)


@dataclass(frozen=True, slots=True)
class _Faithful:
    """Refuses an unaltered run that does not end as the program's own does."""

    case: Case
    plain: RunResult
    process: str = ""  # how the process ended that a command is about; empty: the case is none

    def __call__(self, step: Step) -> None:
        own = FailureSignature.of(self.case, self.plain)
        why = difference(own, FailureSignature.of(self.case, step.recording.result))
        if self.process and not why and self.process != (here := _end_of(step.recording)):
            why = f"its process ended by {self.process}, but by {here} in {VARIANT}"
        if why:
            why = why.replace(VARIANT, "the suppress variant")
            raise SubjectError(
                f"case {self.case.name}: {why}", "\n".join([OTHERS, CONFINED] if self.process else [OTHERS])
            )


def _process_end(investigation: Investigation, case: Case) -> str:
    """How the process ended that a command is about, as it is recorded for all other techniques."""
    return _end_of(investigation.recorder.record_or_beginning(case)) if case.command is not None else ""


def _end_of(recording: Recording) -> str:
    """How a recorded process ended, in words."""
    header = recording.trace.header
    return signal_name(header.code) if header.end == "signal" else f"exit status {header.code}"


@dataclass(slots=True)
class _Executions:
    """What is told of the executions so far."""

    investigation: Investigation
    case: Case
    began: float
    executions: list[dict[str, Any]] = field(default_factory=list)
    count: int = 0  # of all executions, those of orders that exposed nothing, too
    _steps: list[Step] = field(default_factory=list)

    def add(self, step: Step) -> None:
        """Tell one more execution."""
        self.count = max(self.count, len(self._steps) + 1)
        self.executions.append(Explanation(self.investigation.subject, step).json())
        self._steps.append(step)

    def findings(self, followed: Suppressed) -> Findings:
        """The ranking, what was suppressed last first, and the executions, as far as they were ``followed``."""
        why = followed.why
        subject = self.investigation.subject
        symptom = next((step.symptom for step in self._steps if step.symptom), None)
        found = Findings("suppression", subject.name, symptom=symptom)
        seen: dict[Statement, list[str]] = {}
        if followed.race is not None:
            seen |= {statement: _race_reasons(followed.race) for statement in followed.race.statements}
        chain = [e for e in self.executions if e["suppressed"]]
        for back, execution in enumerate(reversed(chain)):
            for definition in execution["suppressed"]:
                if definition["file"]:
                    statement = Statement(definition["file"], definition["line"])
                    seen.setdefault(statement, []).append(_reason(definition, back, why))
        for number, (statement, texts) in enumerate(seen.items(), 1):
            found.ranking.append(Entry(statement, 1.0 / number, number, number, _evidence(texts)))
        found.parts["suppression"] = {
            "case": self.case.name,
            "schedule": [asdict(point) for point in self.case.schedule.points] if self.case.schedule else None,
            "seconds": round(time.monotonic() - self.began, 2),
            "gone": not why,
            "why": why,
            "runs": self.count,
            "race": followed.race.shown if followed.race else None,
            "race_checks": sum(race.runs for step in self._steps for race in step.races),
            "orders": [{"space": o.space, "text": o.text} for o in followed.exposed],
            "executions": self.executions,
        }
        found.summary = self._summary(followed)
        return found

    def _summary(self, followed: Suppressed) -> list[str]:
        capture = self.investigation.subject.capture
        chain = [e for e in self.executions if not (followed.race and followed.race.shown in e["races"])]
        points = sum(d["count"] for e in chain for d in e["suppressed"])
        counts = f"{plural(self.count, 'execution')}, {plural(points, 'point')} of suppression"
        lines = [f"captured {plural(len(capture.modules), 'module')}; case `{self.case.name}`: {counts}"]
        for number, execution in enumerate(self.executions, 1):
            place = f" on {execution['file']}:{execution['line']}" if execution["file"] else ""
            order = f", {execution['space']} variables in another order" if execution["space"] else ""
            points_text = plural(execution["points"], "point")
            lines.append(f"execution {number}, {points_text}{order}: {execution['text']}{place}")
            lines += [f"execution {number}: {_race_line(race)}" for race in execution["races"]]
        lines += [f"execution {n}: {OTHER_TURNS}" for n, s in enumerate(self._steps, 1) if not s.execution.in_turns]
        end = f"the failure has not gone: {followed.why}" if followed.why else "no failure is left"
        if followed.why == NOT_COMPARED:
            end = f"whether a failure is left is not known: {followed.why}"
        if followed.race is not None:
            end = "nothing more was suppressed: the failure came of a data race, whose order does harm"
        return [*lines, *followed.remarks, end, *(f"not captured: {name}" for name in capture.uncaptured)]


def _reason(definition: dict[str, Any], back: int, why: str) -> str:
    """A sentence for a suppressed definition, ``back`` executions before the last one that failed."""
    if back:
        return f"suppressed on the way: {definition['text']}"
    what = "suppressed last" if why else "suppressed last, and no failure is left: the first corruption"
    return f"{'what the failure came of' if why in (RACES, NOT_COMPARED) else what}: {definition['text']}"


def _race_reasons(race: RaceAt) -> list[str]:
    """The sentences of the race that a failure came of."""
    first, *others = race.shown["text"]
    return [f"the failure came of a race: {first}", *others]


def _race_line(race: dict[str, Any]) -> str:
    """A race that an execution has shown, and what was done about it."""
    harm = race["harm"]
    goes_on = "" if harm["verdict"] == "harmful" else "; so suppression goes on"
    return f"{race['text'][0]}; {harm['verdict']}: {harm['text']}{goes_on}"


def _evidence(texts: list[str]) -> dict[str, Any]:
    texts = list(dict.fromkeys(texts))
    return {"reasons": [{"technique": "suppression", "text": text} for text in texts], "text": "; ".join(texts)}
