"""``whence locate``: run the cases, record the shortest failing run, rank and explain the statements behind it.

The first ranking is there as soon as the cases have run. Every step after that makes it better, in a share of the time
of its own: what fails or has no time costs a line.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import click

from whence.cli.attempts import Attempts
from whence.cli.clock import clock
from whence.cli.options import (
    FORMULAS,
    CaseCommand,
    Options,
    Search,
    open_subject,
    present,
    progress,
    quoted,
    search_options,
    shared_options,
    show,
)
from whence.cli.supervisor import line

if TYPE_CHECKING:
    from collections.abc import Callable

    from whence.alter.work import Work
    from whence.findings import Findings
    from whence.subject.recorder import Recorder, Recording
    from whence.subject.runs import Runs
    from whence.subject.story import Story
    from whence.subject.subject import Subject

PASSING_RECORDED = 5  # passing runs whose values are shown beside the failing run's
LONGEST_PASSING = 1_000_000  # blocks of a passing run that is recorded for its values alone
FAILING = 5  # failing runs whose values are compared with those of passing ones
MAKING = 0.3  # of the time that is left, for making inputs
RECORDING = 0.5  # of it, for recording the failing run
ALIKE = 0.1  # of it, for finding failing runs that fail in the same way
COMPARING, COMPARING_MOST = 0.25, 20.0  # of it, and seconds, for comparing values
REASONING = 0.1  # of it, for the cause tree
SEARCHING = 0.8  # of it, for altered runs and formulas
ALTERING = 0.7  # of that, for altered runs
CONFIRMING = 0.7  # of what is left then, for compiling changes; the rest is for values of passing runs
LATE = 2.0  # seconds that a search may go on when its share is over, before it is ended
LONGEST_WORDS = 500  # characters of a command line that are repeated
VALUES_OF = 50  # ranked statements whose values are gathered


@click.command(cls=CaseCommand)
@shared_options
@search_options
@click.option("--formula", type=click.Choice(FORMULAS), default="op2", show_default=True, help="Of suspiciousness.")
@click.option("--alter/--no-alter", default=True, help="Change the failing runs, in the time that is left [yes].")
@click.option("--generate/--no-generate", default=True, help="Make inputs close to the failing one if no case passes.")
def locate(options: Options, search: Search, formula: str, alter: bool, generate: bool) -> int:
    """Rank the statements most likely at fault, and explain them.

    Without SOURCES the program and its cases are those of whence.toml. The failing run is recorded and sliced; then the
    failing runs are run again with changed branches, operators and values, and what makes them pass comes first.
    """
    diagnosis = Diagnosis(open_subject(options), options, formula)
    diagnosis.run(generate)
    if diagnosis.can_compare():
        diagnosis.explain(search if alter else None)
    return show(diagnosis.subject, diagnosis.findings(), options)


@dataclass(slots=True)
class Diagnosis:
    """What is known of a failure so far, from the spectrum alone to all that altered runs say."""

    subject: Subject
    options: Options
    formula: str
    attempts: Attempts = field(default_factory=Attempts)
    made: list[str] = field(default_factory=list)  # about inputs that were made
    found: list[Findings] = field(default_factory=list)
    runs: Runs = field(init=False)
    rows: list[int] = field(init=False)  # of failing cases; the first is the one to explain
    base: Findings = field(init=False)
    recording: Recording | None = None
    story: Story | None = None
    passing: list[Story] = field(default_factory=list)
    confirmed: Findings | None = None  # all of it joined, the changes compiled in the source

    # ---- The ranking so far ------------------------------------------------------------------------------------------

    def findings(self) -> Findings:
        """The ranking that joins all that was found, with what was done and what failed."""
        from whence.cli.steps import summary
        from whence.diagnosis.spectrum_and_slice import values_part

        joined = self.confirmed or self.joined()
        findings = replace(joined, parts=dict(joined.parts))  # which is added to
        if self.story is not None:
            findings.parts["values"] = values_part(findings.ranking[:VALUES_OF], self.story, self.passing)
        lines = summary(self.subject, self.runs, self.recording)
        findings.summary = [*self.made, *lines, *findings.summary, *self.attempts.lines]
        findings.parts["next"] = next_commands(findings, self.options)
        return findings

    def joined(self) -> Findings:
        """What was found, in one ranking."""
        from whence.diagnosis.combined_ranking import AROUND, VOICES, fuse
        from whence.run.outcome import Kind

        failing = self.runs.tested[self.rows[0]]
        expected, is_wrong = failing.case.expected, failing.outcome.kind in (Kind.WRONG_OUTPUT, Kind.WRONG_STATUS)
        is_open = not is_wrong and (expected is None or expected.stdout is None)
        return fuse(self.base, self.found, AROUND if is_open else VOICES)

    def take(self, name: str, doing: str, step: Callable[[], Findings], seconds: float) -> None:
        """Add what a step finds, and make that known as the best so far."""
        if (found := self.attempts.take(name, doing, step, seconds)) is not None:
            self.found.append(found)
            self.publish()

    def publish(self) -> None:
        """Make the findings known as the best so far."""
        from whence.techniques.stale import without_changed

        findings = without_changed(self.findings(), self.subject.places.changed_files())
        line.best(findings, partial(present, self.options, self.subject.folder, False))

    # ---- Runs --------------------------------------------------------------------------------------------------------

    def run(self, generate: bool) -> None:
        """Run the cases, make some where none passes, and rank by the spectrum.

        Raises SubjectError where no case fails.
        """
        from whence.cli.made import with_made_cases
        from whence.cli.steps import failing_rows, run_cases
        from whence.subject.runs import coverage
        from whence.subject.symptoms import unrecorded_symptom
        from whence.techniques.spectrum import spectrum

        self.runs = run_cases(self.subject)
        self.rows = failing_rows(self.subject, self.runs, self.options)
        if generate and not self.runs.passing and self.runs.tested[self.rows[0]].case.command is None:
            end = clock.within(MAKING)
            make = partial(with_made_cases, self.subject, self.runs, self.rows[0], end)
            made = self.attempts.take("inputs", "making inputs", make)
            if made is not None:
                self.subject, self.runs, self.made = made
                others = failing_rows(self.subject, self.runs, self.options)
                self.rows = [*self.rows, *(row for row in others if row not in self.rows)]  # the user's first
        first = self.runs.tested[self.rows[0]]
        suspects = spectrum(coverage(self.subject, self.runs), formula=self.formula, subject=self.subject.name)
        symptom = unrecorded_symptom(first.result, first.outcome)
        self.base = replace(suspects, technique="locate", symptom=symptom)
        self.publish()

    def can_compare(self) -> bool:
        """Whether there is a failing run whose values can be looked at, and that can be altered."""
        if all(self.runs.tested[row].case.command is None for row in self.rows):
            return True
        self.attempts.lines.append(
            "no values were compared and no run was altered: the cases are commands, which may run anything"
        )
        from whence.subject.recorder import Recorder

        with Recorder(self.subject, self.options.trace_limit, self.options.window) as recorder:
            self.slice(recorder)
        return False

    # ---- Steps -------------------------------------------------------------------------------------------------------

    def explain(self, search: Search | None) -> None:
        """Record the failing run, and take one step after the other; with ``search`` runs are altered."""
        from whence.cli.reasoning import TREE, cause_tree
        from whence.subject.recorder import Recorder

        with Recorder(self.subject, self.options.trace_limit, self.options.window) as recorder:
            self.slice(recorder)
            story, recording, symptom = self.story, self.recording, self.base.symptom
            if search is not None and story is not None and recording is not None and symptom is not None:
                seconds = min(REASONING * clock.left, TREE)
                tree = partial(cause_tree, story, symptom, recording, seconds)
                self.take("cause tree", "looking for causes", tree, seconds + LATE)
            if self.runs.passing:
                seconds = min(COMPARING * clock.left, COMPARING_MOST)
                compare = partial(compare_values, self.subject, self.runs, self.rows, recorder, seconds)
                self.take("invariants", "comparing values", compare, seconds + LATE)
            if search is not None:
                self.alter(search, recorder)
                self.confirm()
            if story is not None:
                self.passing = (
                    self.attempts.take(
                        "values of passing runs", "recording passing runs", lambda: self.nearest(recorder)
                    )
                    or []
                )
        self.publish()

    def slice(self, recorder: Recorder) -> None:
        """Record the first failing case that can be recorded, and rank by what led to its failure."""
        from whence.cli.steps import record_failing
        from whence.diagnosis.spectrum_and_slice import Evidence
        from whence.diagnosis.spectrum_and_slice import locate as rank_statements
        from whence.subject.alike import failing_alike
        from whence.subject.runs import coverage
        from whence.subject.story import Story
        from whence.subject.symptoms import symptom_of

        def sliced() -> tuple[int, Recording, Story, Findings]:
            row, recording = record_failing(self.subject, self.runs, recorder, self.rows)
            story = Story(self.subject, recording.trace)
            evidence = Evidence(coverage(self.subject, self.runs), story, symptom_of(recording, self.subject.folder))
            return row, recording, story, rank_statements(evidence, self.subject.name, self.formula)

        found = self.attempts.take("no trace", "recording the failing run", sliced, RECORDING * clock.left)
        if found is not None:
            row, self.recording, self.story, self.base = found
            self.rows = [row, *(other for other in self.rows if other != row)]
            self.publish()
            alike = partial(failing_alike, self.runs, self.rows, recorder)
            doing, seconds = "recording failing runs", ALIKE * clock.left
            self.rows = self.attempts.take("runs that fail alike", doing, alike, seconds) or [row]

    def alter(self, search: Search, recorder: Recorder) -> None:
        """Add what altered runs and formulas of the failing cases show; the last summary tells how much was run."""
        from whence.alter.work import INTERRUPT
        from whence.cli.altering import searches
        from whence.cli.reasoning import correction_sets
        from whence.cli.steps import open_work, search_summary
        from whence.findings import Findings

        def searched() -> Findings:
            with open_work(self.subject, self.runs, search, share=SEARCHING) as work:
                with work.share(ALTERING):
                    for name, doing, share, step in searches(self.subject, self.runs, self.rows, recorder, work):
                        with work.share(share):
                            if not work.stopped:
                                self.take(name, doing, step, _left(work) + LATE)
                if self.story is not None and not work.stopped:
                    sets = partial(correction_sets, self.subject, self.runs, self.rows, recorder, work)
                    self.take("formulas", "solving formulas", sets, _left(work) + LATE)
            self.attempts.stopped |= work.stopped == INTERRUPT
            return Findings("alter", self.subject.name, summary=search_summary(work))

        self.take("altered runs", "altering runs", searched, float("inf"))

    def confirm(self) -> None:
        """Compile the changes that the first statements have, and drop what does not hold in the source."""
        from whence.diagnosis.confirmation import confirm

        end = clock.within(CONFIRMING)
        confirmed = partial(confirm, self.subject, self.runs, self.joined(), end)
        self.confirmed = self.attempts.take("changes not compiled", "compiling changes", confirmed)
        self.publish()

    def nearest(self, recorder: Recorder) -> list[Story]:
        """Record the passing cases nearest to the failing one, for the values that their statements had.

        Those whose verdict recording changes are passed over: nothing depends on any one of them.
        """
        from whence.errors import WhenceError
        from whence.subject.runs import blocks_executed
        from whence.subject.story import Story

        lengths = blocks_executed(self.subject, self.runs)
        rows = nearest_passing(self.runs, self.rows[0])
        near = [n for n in rows if 0 < lengths[n] <= LONGEST_PASSING][:PASSING_RECORDED]
        stories: list[Story] = []
        with progress("recording passing runs", len(near)) as report:
            for done, number in enumerate(near, 1):
                tested = self.runs.tested[number]
                try:
                    stories.append(Story(self.subject, recorder.record(tested.case, tested.outcome).trace))
                except WhenceError:
                    continue
                finally:
                    report(done, len(near))
        return stories


def compare_values(subject: Subject, runs: Runs, rows: list[int], recorder: Recorder, seconds: float) -> Findings:
    """The ranking by values and ways that failing runs have and passing ones have not.

    Half of the ``seconds`` is for recording the runs.
    """
    from whence.techniques.invariants.collect import collect
    from whence.techniques.invariants.diagnosis import Options as Wanted
    from whence.techniques.invariants.diagnosis import diagnose
    from whence.techniques.invariants.runs import Observer

    observer = Observer(subject, recorder)
    with progress("comparing values", 0) as report:
        end = time.monotonic() + seconds / 2
        found = collect(observer, runs, rows, FAILING, deadline=end, progress=report)
    findings = diagnose(observer, found.failing, found.good, Wanted())
    findings.summary = [
        f"compared the values of {len(found.failing)} failing and {len(found.good)} passing runs",
        *findings.summary,
    ]
    return findings


def _left(work: Work) -> float:
    """The seconds that are left of a search."""
    return float("inf") if work.deadline is None else max(0.0, work.deadline - time.monotonic())


def nearest_passing(runs: Runs, row: int) -> list[int]:
    """Rows of the passing cases, those first whose coverage is nearest to the failing run's."""
    import numpy as np

    executed = runs.counts != 0
    distance = np.count_nonzero(executed != executed[row], axis=1)
    return sorted(runs.passing, key=lambda other: (int(distance[other]), other))


def next_commands(findings: Findings, options: Options) -> list[dict[str, str]]:
    """Commands worth trying next, with why."""
    words = options.subject_words()
    words = words if len(words) <= LONGEST_WORDS else "... # the program and its cases as before"
    wanted = [("slice", "every line that led to the failure, with its values")]
    if findings.ranking:
        first = findings.ranking[0].statement
        wanted.append((f"slice --at {quoted(f'{first.file}:{first.line}')}", "where the first line's values came from"))
    if options.html is None:
        wanted.append(("locate --html report.html", "all of it, to click through"))
    return [{"command": f"whence {command} {words}".strip(), "why": why} for command, why in wanted]
