"""``whence switch``: predicate switching. Which branch, sent the other way, makes failing runs pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from whence.cli.options import CaseCommand, Options, Search, open_subject, search_options, shared_options, show

if TYPE_CHECKING:
    from whence.dependence.predicate_switching import Failing
    from whence.subject.runs import Runs
    from whence.subject.subject import Subject

ORDERS = ("dependence", "last")  # as techniques/predicate_switching/findings.py has them


@click.command(cls=CaseCommand)
@shared_options
@search_options
@click.option("--failing", default=5, type=click.IntRange(1), show_default=True, help="Failing runs, the shortest.")
@click.option(
    "--order", type=click.Choice(ORDERS), default=ORDERS[0], show_default=True, help="What is switched first."
)
@click.option("--first", is_flag=True, help="Stop at the first branch that makes a run pass.")
def switch(options: Options, search: Search, failing: int, order: str, first: bool) -> int:
    """Find the branches that make failing runs pass when they go the other way.

    Every branch instance of a failing run is switched, each in a run of its own; those nearest to the failure come
    first, by dependence or by time.
    """
    from whence.alter.faithful import HELP
    from whence.cli.steps import open_work, run_cases, search_summary, summary
    from whence.dependence.predicate_switching import switch as switch_branches
    from whence.errors import SubjectError, UsageError
    from whence.subject.runs import coverage
    from whence.techniques.predicate_switching.findings import switch_findings
    from whence.techniques.spectrum import spectrum

    if options.window:
        raise UsageError("--window: branches are counted from the start of the run", "leave it out")
    subject = open_subject(options)
    runs = run_cases(subject, options)
    chosen = _record(subject, runs, options, failing)
    suspects = spectrum(coverage(subject, runs), formula="op2", subject=subject.name)
    with open_work(subject, runs, search, "switching branches") as work:
        searched = switch_branches(work, chosen, order, first)
    if not searched:
        names = ", ".join(run.case.name for run in chosen)
        raise SubjectError(f"no failing run can be altered: {names} pass in the altered variant", HELP)
    findings = switch_findings(subject.name, searched, suspects.ranking)
    findings.parts["cases"] = suspects.parts["cases"]
    findings.summary = [*summary(subject, runs), *findings.summary, *search_summary(work)]
    status = show(subject, findings, options)
    return status if findings.parts["predicates"] else 1


def _record(subject: Subject, runs: Runs, options: Options, failing: int) -> list[Failing]:
    """Record the shortest failing runs; those that cannot be recorded or altered are named in ``runs.left_out``.

    Raises the last one's error where none can.
    """
    from whence.alter.session import Session
    from whence.cli.steps import record_failing, rows_alike
    from whence.dependence.predicate_switching import Failing
    from whence.dependence.slices import symptom_start
    from whence.errors import WhenceError
    from whence.subject.recorder import Recorder
    from whence.subject.story import Story
    from whence.subject.symptoms import symptom_of

    rows = rows_alike(subject, runs, options, failing)
    found: list[Failing] = []
    with Recorder(subject, options.trace_limit) as recorder:
        for row in rows:
            case = runs.tested[row].case
            try:
                Session(subject, case).close()  # refuses what cannot be altered
                recording = record_failing(subject, runs, recorder, [row])[1]
            except WhenceError as error:
                if row == rows[-1] and not found:
                    raise
                runs.left_out.append(f"not switched: {error}")
                continue
            start = symptom_start(symptom_of(recording, subject.folder))
            found.append(Failing.of(Story(subject, recording.trace), case, start.references))
    return found
