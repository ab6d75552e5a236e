"""What a case's oracle says of its altered runs: what the runtime decides by itself, and what is left to Python."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from whence.alter.changes import NOWHERE, Verdict
from whence.alter.file import Expectation, Judge, SessionFile
from whence.run.cases import Case
from whence.run.compare import first_difference
from whence.run.oracle import judge
from whence.run.outcome import FIRST_FILE, Kind, Outcome, Rule
from whence.run.result import LeftFile, RunResult

VERDICTS = {
    Kind.PASS: Verdict.PASS,
    Kind.SKIPPED: Verdict.WRONG_STATUS,
    Kind.WRONG_OUTPUT: Verdict.WRONG_OUTPUT,
    Kind.WRONG_STATUS: Verdict.WRONG_STATUS,
    Kind.CRASH: Verdict.CRASH,
    Kind.ASSERTION: Verdict.CRASH,
    Kind.TIMEOUT: Verdict.TIMEOUT,
}


class SessionOracle:
    """The oracle of a case for what a session's runs leave in its file; ``expectation`` is what the runtime is told."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self.expectation = expectation_of(case)

    @property
    def compared(self) -> tuple[tuple[str, bytes | None], ...]:
        """The files that count."""
        how, expected = self._case.comparison, self._case.expected
        return expected.files if expected is not None and how.files and not how.status_only else ()

    def run_of(self, record: NDArray[np.void], file: SessionFile) -> RunResult:
        """A run whose outputs were kept, as the oracle sees runs."""
        output, files = file.outputs(record), {} if record["spare"] else self.left(file, record)
        signal, status = int(record["signal"]), int(record["status"])
        wall = int(record["microseconds"]) / 1e6
        is_over = bool(record["verdict"] == Verdict.TIMEOUT)
        return RunResult(self._case, None if signal else status, signal, is_over, False, *output, wall, 0, files=files)

    def left(self, file: SessionFile, record: NDArray[np.void]) -> dict[str, LeftFile]:
        """The compared files as a run has left them."""
        left = zip(self.compared, file.files(record), strict=True)
        return {name: LeftFile(content) for (name, _), content in left if content is not None}

    def judge(self, record: NDArray[np.void], result: RunResult, ended: bool) -> None:
        """Write what the oracle says of a run into its RESULT record."""
        outcome = judge(self._case, result)
        record["verdict"] = VERDICTS[outcome.kind]
        record["status"], record["signal"] = (0, 0) if result.timed_out else (result.status or 0, result.signal)
        record["first_wrong"] = _first_wrong(self._case, result, outcome, ended)

    def is_cut(self, result: RunResult) -> bool:
        """Whether a session would have ended the run at a wrong byte."""
        expected, flags = self.expectation, self.expectation.judge
        return (bool(flags & Judge.OUTPUT) and not expected.stdout.startswith(result.stdout)) or (
            bool(flags & Judge.ERROR) and not expected.stderr.startswith(result.stderr)
        )


def expectation_of(case: Case) -> Expectation:
    """What of the case's oracle the runtime can decide; the rest keeps outputs for Python."""
    how, expected = case.comparison, case.expected
    if expected is None or case.rule not in (Rule.OUTPUT, Rule.STATUS) or case.skip_statuses or case.failing_output:
        return Expectation(Judge.KEEP)
    flags = Judge(0)
    if expected.status is not None:
        flags |= Judge.STATUS
    if not how.status_only:
        if not how.exact:
            return Expectation(Judge.KEEP)
        flags |= Judge.OUTPUT if expected.stdout is not None else Judge(0)
        flags |= Judge.ERROR if how.stderr and expected.stderr is not None else Judge(0)
        flags |= Judge.FILES
    return Expectation(flags, expected.stdout or b"", expected.stderr or b"", expected.status or 0)


def _first_wrong(case: Case, result: RunResult, outcome: Outcome, ended: bool) -> int:
    """Where standard output is first not as expected, or ends too early, and else a file (``Expected.place``); NOWHERE.

    Files are looked at when a run has ended.
    """
    expected = case.expected
    if expected is None or case.comparison.status_only:
        return NOWHERE
    output = result.stdout
    difference = None if expected.stdout is None else first_difference(output, expected.stdout, case.comparison)
    if difference is not None and (ended or difference.actual < len(output)):
        return difference.actual
    if ended and outcome.difference is not None and outcome.stream >= FIRST_FILE:
        return expected.place(outcome.stream, outcome.difference.actual)
    return NOWHERE
