"""What decides over the failure of a case with threads: the accesses whose order a passing run has otherwise."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from whence.errors import SubjectError, TraceError
from whence.findings import Entry, Findings
from whence.run.schedule import DEFAULT
from whence.techniques.schedules.technique import explained_run

if TYPE_CHECKING:
    from whence.investigation.investigation import Investigation
    from whence.subject.recorder import Recording


def deciding_accesses(investigation: Investigation, recording: Recording) -> Findings:
    """The lines that decide over a run of several threads that failed, the main one first.

    A run that was not made under a schedule is looked at by the default one, if it fails there alike. Evidence has
    ``decides``: 1 for the first line, less for those behind it.
    """
    case, outcome = recording.case, recording.outcome
    found = Findings("schedules", investigation.subject.name)
    if case.command is not None:
        return found
    try:
        if case.schedule is None:
            again = investigation.recorder.record_or_beginning(replace(case, schedule=DEFAULT)).outcome
            if again.kind is not outcome.kind:
                return found
            outcome = again
        kind, statements = explained_run(investigation, case, case.schedule or DEFAULT, outcome)
    except (SubjectError, TraceError) as error:
        found.summary.append(f"the order of the threads was not compared: {error}")
        return found
    if not statements:
        found.summary.append("no order of the threads was found by which the case passes")
    for number, (statement, texts) in enumerate(statements.items(), 1):
        text = "; ".join(texts)
        evidence = {"decides": 1.0 / number, "text": f"{kind}: {text}" if number == 1 else text}
        found.ranking.append(Entry(statement, 1.0 / number, number, number, evidence))
    return found
