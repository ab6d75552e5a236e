"""One failure under investigation: its cases run, the failing run recorded, runs altered, each when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from whence.findings import Findings, plural
from whence.investigation.account import none_fails, pass_against_word, summary
from whence.investigation.clock import Clock
from whence.investigation.watcher import Watcher
from whence.probe.instrument import Variant

if TYPE_CHECKING:
    from whence.alter.work import Work
    from whence.run.cases import Case
    from whence.run.result import RunResult
    from whence.subject.coverage import Coverage, OtherRun
    from whence.subject.departure import Departure
    from whence.subject.recorder import Recorder, Recording, Worth
    from whence.subject.runs import Runs, Tested
    from whence.subject.subject import Subject
    from whence.trace.long_trace import Watch
    from whence.trace.trace import Trace

RUNNING = 0.5  # of the time, at most, for running the cases
WINDOW = 64 << 20  # bytes that are kept of a recording, at most, where it is too long as a whole
NAMED = 5  # failing cases of which the first that can be recorded is taken
FEW = 3  # passing cases from which on the checks that passed within a failing one do not count
COMPARED, LONGEST_COMPARED = 2, 1_000_000  # passing runs that a failing one may depart from, and their blocks at most
MOST_ALIKE = 5  # failing cases that are looked at together


@dataclass(frozen=True, slots=True)
class Setup:
    """How a failure is investigated.

    ``case``: name of the failing case to explain; None: the one with the shortest run. ``trace_limit``: most bytes of a
    trace (None: what memory allows), ``window``: only the last bytes of a run are kept (None: all). Of altered runs
    there are ``workers`` at a time (None: one a core), on the Dask ``cluster`` at this address (None: here);
    ``fresh``: what earlier searches kept is run again. ``schedule``: a file that says how the threads of a case take
    turns. ``one_cause``: all failing cases are known to have one cause, in whatever way they fail; else only those that
    fail in the same way are looked at together. ``follows_children``: what the program's forked processes did counts.
    """

    case: str | None = None
    trace_limit: int | None = None
    window: int | None = None
    workers: int | None = None
    cluster: str | None = None
    fresh: bool = False
    schedule: Path | None = None
    one_cause: bool = False
    follows_children: bool = False


class Technique(Protocol):
    """A technique is a frozen dataclass: its fields are its options.

    It takes what it needs from an investigation, keeps to the investigation's clock, and gives findings. It raises a
    WhenceError where the failure is not one that it can say something about.
    """

    def run(self, investigation: Investigation) -> Findings:
        """What the technique finds."""
        ...


class Investigation:
    """What is known of one failure of a subject. Close it, or use it in a ``with`` statement."""

    def __init__(
        self, subject: Subject, setup: Setup | None = None, clock: Clock | None = None, watcher: Watcher | None = None
    ) -> None:
        self.subject = subject
        self.setup = setup or Setup()
        self.clock = clock or Clock()
        self.watcher = watcher or Watcher()
        self._runs: Runs | None = None
        self.recorded: Recording | None = None  # the first failing run that was recorded
        self.checks: Sequence[OtherRun] = ()  # of it that passed
        self._departures: dict[str, Departure | None] = {}  # by the names of failing cases

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End what was started, and remove its files."""
        if "recorder" in self.__dict__:
            self.recorder.close()
            del self.recorder

    def find(self, technique: Technique) -> Findings:
        """What a technique finds, without what it says of lines that were changed since the program was built."""
        return self.current(technique.run(self))

    def current(self, findings: Findings) -> Findings:
        """The findings without statements of files that were changed since the program was built.

        What modules declare otherwise than others define it, verdicts that are other ones in the user's own
        environment, and those that are not what the user said, are told first.
        """
        from whence.investigation.stale import without_changed

        of_runs = [*self._runs.pinned, *pass_against_word(self._runs)] if self._runs is not None else []
        findings = replace(findings, warnings=[*self._unlike, *of_runs, *findings.warnings])
        return without_changed(findings, self.subject.places.changed_files())

    @cached_property
    def _unlike(self) -> list[str]:
        from whence.program.unlike_declarations import unlike_declarations

        found = [one.text(self.subject.folder) for one in unlike_declarations(self.subject.program)]
        return [*found[:NAMED], *([f"declared otherwise, too: {len(found) - NAMED:,} more"] if found[NAMED:] else [])]

    # ---- Runs --------------------------------------------------------------------------------------------------------

    @property
    def runs(self) -> Runs:
        """The runs of all cases, as many as a part of the time allows. Raises what ``run_all`` raises."""
        if self._runs is None:
            self._runs = self._run_cases()
            if self._runs.failing:
                self.watcher.best(self.current(self._by_suspiciousness()), self.subject.folder)
        return self._runs

    def _run_cases(self) -> Runs:
        from whence.subject.runs import run_all

        self.build(Variant.COVER)
        # Else that is built for the first recording: what the cases tell, if only that none fails, is shown before.
        if any(case.comparison.memory or case.follows_children for case in self.subject.cases):
            self.build(Variant.RECORD)
        self.watcher.busy("running the cases")
        with self.watcher.progress("running the cases", 2 * len(self.subject.cases)) as report:
            return run_all(self.subject, report, self.clock.within(RUNNING))

    def _by_suspiciousness(self) -> Findings:
        """The ranking by the cases' coverage, for a technique that comes to no other in its time."""
        from whence.subject.suspiciousness import rank_by_coverage
        from whence.subject.symptoms import unrecorded_symptom

        first = self.runs.tested[self.runs.failing[0]]
        return Findings(
            "spectrum/op2",
            self.subject.name,
            rank_by_coverage(self.coverage, "op2"),
            unrecorded_symptom(first.result, first.outcome),
            summary(self.subject, self.runs),
            {"cases": self.coverage.case_totals()},
            warnings=["the ranking is that of the spectrum alone: nothing else was found"],
        )

    @cached_property
    def coverage(self) -> Coverage:
        """What each of the cases executed; behind them passing tests of other programs, and checks that passed."""
        from whence.subject.runs import coverage

        found: Coverage = coverage(self.subject, self.runs)
        return found.with_others(self.subject.others).with_checks(self.checks if self._lacks_passing else ())

    def take_checks(self, recording: Recording) -> bool:
        """Let checks of a recorded failing run that passed count in the coverage, where hardly any case passes.

        Whether there are any.
        """
        from whence.subject.passed_checks import passed_checks

        if self._lacks_passing:
            self.checks = passed_checks(self.subject, recording)
            self.__dict__.pop("coverage", None)
        return bool(self.checks)

    @property
    def told_of_checks(self) -> list[str]:
        """What is said of checks that count in the coverage: a sentence, or none."""
        if not self.coverage.checks:
            return []
        passed = f"{plural(len(self.checks), 'check')} of the failing run passed"
        return [f"{passed}: what each of them executed counts as passing in the spectrum"]

    @property
    def _lacks_passing(self) -> bool:
        return len(self.runs.passing) + len(self.subject.others) < FEW

    def with_cases(self, cases: Sequence[Case]) -> None:
        """Go on with these cases in place of those that the subject had; they are run when they are asked for."""
        from whence.subject.subject import with_cases

        self.subject = with_cases(self.subject, list(cases))
        self._runs = None
        self.__dict__.pop("coverage", None)

    def build(self, kind: Variant) -> Path:
        """The executable of a variant; while it is built, the clock stands still."""
        subject = self.subject
        with self.clock.standing():
            is_built = subject.has_variant(kind)  # on a new machine that compiles the runtime
        if not is_built:
            text = f"building the {kind} variant"
            with self.clock.standing(), self.watcher.progress(text, len(subject.capture.modules)) as subject.progress:
                subject.variant(kind)
            subject.progress = None
        return subject.variant(kind)

    # ---- Failing cases -----------------------------------------------------------------------------------------------

    def failing_rows(self) -> list[int]:
        """The rows of the failing cases, the shortest run first; or the one row of the case that the setup names.

        Raises SubjectError where no case fails.
        """
        from whence.errors import SubjectError
        from whence.subject.runs import blocks_executed

        runs, wanted = self.runs, self.setup.case
        if not runs.failing:
            raise none_fails(runs, self.subject.places.changed_files(), self.subject.has_threads)
        if wanted is None:
            lengths = blocks_executed(self.subject, runs)
            return sorted(runs.failing, key=lambda row: (lengths[row] == 0, lengths[row]))
        rows = [row for row in runs.failing if runs.tested[row].case.name == wanted]
        if not rows:
            names = ", ".join(runs.tested[row].case.name for row in runs.failing[:NAMED])
            raise SubjectError(f"no failing case is named '{wanted}'", f"failing: {names}")
        return rows

    def rows_alike(self, most: int) -> list[int]:
        """The rows of failing cases, at most so many: the shortest run, and others that fail in the same way.

        Raises what ``failing_rows`` raises.
        """
        rows = self.failing_rows()
        if any(self.runs.tested[row].case.command is not None for row in rows):
            return rows[:most]
        with self.watcher.first_use():
            return self.alike(rows, most)

    def alike(self, rows: Sequence[int], most: int = MOST_ALIKE) -> list[int]:
        """Those of failing cases that are looked at together with the first of them, at most so many."""
        from whence.subject.alike import failing_alike

        return list(rows[:most]) if self.setup.one_cause else failing_alike(self.runs, rows, self.recorder, most)

    def failures(self) -> list[list[int]]:
        """The rows of all failing cases, those that fail in the same way together; the largest group first."""
        rows, groups = list(self.runs.failing), list[list[int]]()
        while rows:
            is_command = self.runs.tested[rows[0]].case.command is not None
            groups.append(rows if is_command else self.alike(rows, len(rows)))
            rows = [row for row in rows if row not in groups[-1]]
        return sorted(groups, key=len, reverse=True)

    # ---- Recordings --------------------------------------------------------------------------------------------------

    @cached_property
    def recorder(self) -> Recorder:
        """Records cases."""
        from whence.subject.recorder import Recorder

        self.build(Variant.RECORD)
        return Recorder(self.subject, self.setup.trace_limit, self.setup.window, ending=self._ending())

    def keep_end(self, window: int) -> None:
        """From now on keep only so many bytes, the last ones, of a run's recording."""
        self.close()
        self.setup = replace(self.setup, window=window)

    def record_failing_or_end(self, rows: Sequence[int], in_windows: bool = False) -> tuple[int, Recording]:
        """As ``record_failing``; of a run that is longer than its recording may be, the end.

        With ``in_windows`` a run for which there is not enough memory is read in windows, where there is time for that.
        """
        from whence.errors import TooLong
        from whence.investigation.reading import Reading

        reading = Reading(self.clock, self.watcher) if in_windows else None
        try:
            return self.record_failing(rows, reading)
        except TooLong:
            if reading is not None and reading.trouble:
                self.runs.cut_short.append(reading.trouble)
            limits = (self.setup.trace_limit, self.subject.limits.trace)
            self.keep_end(min([WINDOW, *(limit for limit in limits if limit)]))
            return self.record_failing(rows)

    def _ending(self) -> int:
        """How many blocks the longest run that ends executes; 0 where no case has been run."""
        from whence.subject.runs import blocks_executed

        if self._runs is None:
            return 0
        lengths = blocks_executed(self.subject, self._runs).tolist()
        ended = zip(lengths, self._runs.tested, strict=True)
        return max((length for length, tested in ended if not tested.outcome.endless), default=0)

    def record(self, tested: Tested) -> Recording:
        """The recorded run of a case. Raises what ``Recorder.record`` raises."""
        return self.recorder.record(tested.case, tested.outcome)

    def record_failing(self, rows: Sequence[int], watch: Watch | None = None) -> tuple[int, Recording]:
        """Record the first case of ``rows`` whose verdict stands when it is recorded; gives its row and the recording.

        With ``watch`` a long run is read in windows (``Recorder.record``).

        One whose verdict recording changes is named in ``runs.left_out``; the last one's error is raised.
        """
        from whence.errors import SubjectError

        for row in rows[:NAMED]:
            tested = self.runs.tested[row]
            try:
                with self.watcher.first_use():
                    worth = self._suspicion() if tested.case.command is not None and self.runs.failing else None
                    recording = self.recorder.record(tested.case, tested.outcome, worth=worth, watch=watch)
                recording.plain = self._own_run(recording)
                self.recorded = self.recorded or recording
                return row, recording
            except SubjectError as error:
                if row == rows[:NAMED][-1]:
                    raise
                self.runs.left_out.append(f"not recorded: {error}")
        raise AssertionError("there is a row")

    @property
    def departures(self) -> dict[str, Departure]:
        """Where recorded failing runs, by the names of their cases, depart from passing ones; of short ones nothing."""
        return {name: one for name, one in self._departures.items() if one is not None}

    def record_departing(self, row: int) -> Recording:
        """The recorded run of a failing case, with its departure. Raises what ``record_failing`` raises."""
        recording = self.record_failing([row])[1]
        self.depart(row, recording)
        return recording

    def depart(self, row: int, recording: Recording) -> None:
        """Find where a long failing run departs from the passing one that it has most in common with, of the nearest.

        It is looked for once for each failing case.
        """
        from whence.errors import WhenceError
        from whence.subject.departure import Departure, departure, is_comparable, latest
        from whence.subject.runs import blocks_executed, nearest_passing

        name, found = recording.case.name, list[Departure]()
        if recording.case.command is not None or not is_comparable(recording.trace):
            return
        if name not in self._departures:
            self._departures[name] = None
            lengths = blocks_executed(self.subject, self.runs)
            near = [other for other in nearest_passing(self.runs, row) if 0 < lengths[other] <= LONGEST_COMPARED]
            for other in near[:COMPARED]:
                tested = self.runs.tested[other]
                with suppress(WhenceError):  # nothing depends on any one of them
                    passing = self.record(tested)
                    if passing.case.command is None and is_comparable(passing.trace):
                        found.append(departure(recording.trace, passing.trace, tested.case.name))
            self._departures[name] = latest(found)
        recording.departure = self._departures[name]

    def _own_run(self, recording: Recording) -> RunResult | None:
        """The program's own run of a case whose recorded one crashed: different signals may have ended the two."""
        from whence.run.outcome import Kind

        crashed = recording.outcome.kind in (Kind.CRASH, Kind.ASSERTION)
        if not crashed or recording.case.command is not None or recording.case.schedule is not None:
            return None
        if self.subject.limits.aslr:  # which may not crash
            return None
        with self.subject.runner() as runner:
            return runner.run_case(recording.case)

    def _suspicion(self) -> Worth:
        """How suspicious the most suspicious statement is that a trace executed."""
        from whence.subject.suspiciousness import rank_by_coverage
        from whence.subject.trace_reader import TraceReader

        suspects = {entry.statement: entry.score for entry in rank_by_coverage(self.coverage, "op2")}

        def worth(trace: Trace) -> float:
            reader = TraceReader(self.subject, trace)
            numbers = set(reader.statement_numbers[reader.executed_sites].tolist()) - {-1}
            return max((suspects.get(reader.statements[n], -1.0) for n in numbers), default=-1.0)

        return worth

    # ---- Altered runs ------------------------------------------------------------------------------------------------

    @contextmanager
    def work(self, text: str = "altered runs", share: float = 1.0) -> Iterator[Work]:
        """Altered runs in a share of the time, as the setup says; ``text`` says what they are for."""
        from whence.alter.work import Work

        self.build(Variant.ALTER)
        self.watcher.busy(f"busy with {text}")
        setup, clock = self.setup, self.clock
        deadline = None if clock.left == float("inf") else clock.within(share)
        bounded = text if deadline is None else f"{text}, for {share * clock.left:.0f} s at most"
        with (
            self.watcher.search(bounded) as report,
            Work(
                self.subject,
                self.runs,
                workers=setup.workers,
                cluster=setup.cluster,
                deadline=deadline,
                progress=report,
                fresh=setup.fresh,
            ) as work,
        ):
            yield work
