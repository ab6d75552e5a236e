"""Where an investigation begins: the folder of a ``whence.toml``, or C files with their cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from whence.build.scratch import scratch
from whence.errors import UsageError, WhenceError
from whence.investigation.clock import Clock
from whence.investigation.first_use import begin_compiling
from whence.investigation.investigation import Investigation, Setup
from whence.investigation.watcher import Watcher
from whence.probe.instrument import Variant
from whence.run.cases import Case, configured
from whence.run.config import FILE_NAME, SubjectConfig, read_config
from whence.run.oracle import judge
from whence.run.runner import RunLost
from whence.run.sandbox import DEFAULT_LIMITS, Limits
from whence.subject.single_tests import single_tests
from whence.subject.subject import (
    Subject,
    built_from_config,
    built_from_sources,
    following,
    learned,
    settle,
    under_schedule,
    with_cases,
    with_libraries,
)
from whence.trace.compiling import Waiting

LEARNING = "running cases to learn what is right"


@dataclass(frozen=True, slots=True)
class Changes:
    """What may differ from the configuration: a run's time limit in seconds, the byte that fills fresh memory; texts of
    files as they were ``before``, by their names in the folder; the ``environment`` of all cases, and whether their
    addresses differ from run to run.
    """

    timeout: float | None = None
    pattern: int | None = None
    before: Mapping[str, bytes] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    aslr: bool = False

    def limits(self, configured: Limits) -> Limits:
        """The limits that hold."""
        pattern = configured.pattern if self.pattern is None else self.pattern
        aslr = self.aslr or configured.aslr
        return replace(configured, time=self.timeout or configured.time, pattern=pattern, aslr=aslr)

    def cases(self, cases: Sequence[Case]) -> list[Case]:
        """The cases in the environment that holds; variables of their own stay."""
        return [replace(case, environment={**self.environment, **case.environment}) for case in cases]


class Beginning:
    """Builds what is asked for while the clock stands still, and learns from runs what is right."""

    def __init__(self, setup: Setup, clock: Clock, watcher: Watcher, changes: Changes | None = None) -> None:
        self._setup, self._clock, self._watcher, self._changes = setup, clock, watcher, changes or Changes()

    def with_folder(self, folder: Path, cases: Sequence[Case] = ()) -> Investigation:
        """The investigation of the program that the folder's ``whence.toml`` describes, with its cases and these.

        Raises UsageError where there is no such file, and what ``read_config`` and ``built_from_config`` raise.
        """
        if not (folder / FILE_NAME).exists():
            where = "here" if folder == Path() else f"in {folder}"
            hint = f"`whence init` writes a {FILE_NAME}; or name C files: whence locate prog.c --fails 'ARGUMENTS'"
            raise UsageError(f"there is no {FILE_NAME} {where}", hint)
        config = read_config(folder, needs_cases=not cases)
        with self._clock.standing():
            subject = built_from_config(config)
            if config.cases.tests:
                subject = single_tests(subject, subject.cases, config.cases.tests)
        subject = with_cases(subject, self._changes.cases(subject.cases))
        given = self._changes.cases(with_libraries(subject, config, configured(cases, config)))
        limited = replace(subject, limits=self._changes.limits(subject.limits))
        is_failure_given = any(case.command for case in subject.cases) and _one_fails(limited, given)
        if config.cases.capture:
            subject = self._captured(subject, config, is_failure_given)
        if is_failure_given:
            subject = _without_commands(subject)
        subject.limits = self._changes.limits(subject.limits)
        self._watcher.busy(LEARNING)
        subject = learned(subject)
        return self._of(with_cases(subject, [*subject.cases, *settle(subject, given)]))

    def _captured(self, subject: Subject, config: SubjectConfig, fails_elsewhere: bool) -> Subject:
        """The subject with the invocations of its test suite as cases; to capture them takes no time of the budget."""
        from whence.subject.capture import with_captured_cases

        told = self._watcher.progress("running the test suite", len(subject.cases))
        with self._clock.standing(), scratch("earlier") as place, told as report:
            earlier = self._built_earlier(subject, Path(place))
            found = with_captured_cases(subject, config, report, earlier, fails_elsewhere)
        if self._changes.limits(found.limits) == found.limits:
            return found
        return with_cases(found, [replace(case, passed=False) for case in found.cases])  # it may fail now

    def _built_earlier(self, subject: Subject, place: Path) -> Path | None:
        """The program with the files as they were before, built in ``place``, if there are such and it builds."""
        from whence.build.edited import Rebuild

        if not self._changes.before:
            return None
        texts = {subject.folder / name: text for name, text in self._changes.before.items()}
        try:
            return Rebuild(subject.capture, place).version(texts, "earlier")
        except WhenceError:
            return None  # which the search for the changes that are needed tells

    def with_sources(self, sources: Sequence[Path], cases: Sequence[Case], flags: Sequence[str] = ()) -> Investigation:
        """The investigation of a program that is compiled from C files. Raises BuildError where it does not build."""
        with self._clock.standing():
            subject = built_from_sources(list(sources), list(flags), self._changes.limits(DEFAULT_LIMITS))
        self._watcher.busy(LEARNING)
        return self._of(with_cases(subject, settle(subject, self._changes.cases(cases))))

    def _of(self, subject: Subject) -> Investigation:
        if self._setup.follows_children:
            subject = following(subject)
        path = self._setup.schedule
        if path is not None:
            subject = under_schedule(subject, path)
        Waiting.rest = begin_compiling
        investigation = Investigation(subject, self._setup, self._clock, self._watcher)
        if path is not None:
            investigation.build(Variant.COVER)
        return investigation


def _one_fails(subject: Subject, cases: Sequence[Case]) -> bool:
    """Whether one of the cases whose output or status is told fails; what cannot be run does not tell."""
    told = settle(subject, [case for case in cases if case.expected is not None])
    with subject.runner() as runner, suppress(RunLost):
        return any(not judge(case, runner.run_case(case)).passed for case in told)
    return False


def _without_commands(subject: Subject) -> Subject:
    """The subject without tests of its suite that are commands: with such a case that fails no run is altered.

    Where a case fails that the command line gives, that is what the user asks about.
    """
    cases = [case for case in subject.cases if case.command is None]
    if not (left_out := len(subject.cases) - len(cases)):
        return subject
    tests = "a test" if left_out == 1 else f"{left_out:,} tests"
    remark = f"{tests} of the suite left out: a failing case is given, and commands cannot be altered"
    return replace(with_cases(subject, cases), remarks=[*subject.remarks, remark])
