"""Races of a failing run: those whose other order lets the case pass decide over the failure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from whence.findings import Findings, Statement, plural, rank
from whence.investigation.first_use import compile_in_time
from whence.run.schedule import DEFAULT
from whence.subject.memory_check import Checker as Objects
from whence.techniques.races.check import Checker
from whence.techniques.races.explanation import FoundRaces
from whence.techniques.races.other_order import OtherOrder, recorded_by
from whence.techniques.races.technique import suspects

if TYPE_CHECKING:
    from whence.investigation.investigation import Investigation
    from whence.subject.recorder import Recording

TRIED = 30  # races whose other order is run


def deciding_races(investigation: Investigation, recording: Recording) -> Findings:
    """The races of a failing run of several threads, each of which is run in its other order.

    Evidence has ``decides`` 1 for the statements of a race whose other order lets the case pass, else 0. A run that was
    not recorded under a schedule is recorded by the default one, if it fails there alike.
    """
    subject, case = investigation.subject, recording.case
    found = Findings("races", subject.name)
    if not subject.has_threads or case.command is not None:
        return found
    checker, objects = Checker(subject), Objects(subject)
    compile_in_time(checker)
    compile_in_time(objects)
    if case.schedule is None:
        again = investigation.recorder.record_or_beginning(replace(case, schedule=DEFAULT))
        if again.outcome.kind is not recording.outcome.kind:
            found.summary.append("races: by the default schedule the case does not fail alike; none were looked for")
            return found
        recording = again
    checked = checker.check(recording.trace)
    if not checked.races:
        return found
    races = FoundRaces(subject, checked, objects).described()
    other = OtherOrder(subject, recorded_by(investigation.recorder, recording), recording)
    decisive: dict[Statement, list[dict[str, Any]]] = {}
    for _, race, shown in races[:TRIED]:
        harm = other.harm(race)
        shown["harm"] = harm.json()
        if harm.passes:
            for access in suspects(shown):
                decisive.setdefault(Statement(access["file"], access["line"]), []).append(shown)
    found.summary.append(
        f"{plural(len(races), 'data race')} in the failing run, {plural(len(decisive), 'line')} decide"
    )
    evidence = {statement: {"decides": 1.0, "text": _text(races)} for statement, races in decisive.items()}
    found.ranking = rank(dict.fromkeys(decisive, 1.0), evidence)
    return found


def _text(races: list[dict[str, Any]]) -> str:
    """The sentences of the races at one line."""
    return "; ".join(f"{race['text'][0]}; with the two in the other order the case passes" for race in races)
