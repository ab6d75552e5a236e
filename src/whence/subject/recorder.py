"""Recording a case: a run of the record variant, its trace decoded, its verdict checked against the plain program's."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from whence.errors import SubjectError, TraceError
from whence.probe.instrument import Variant
from whence.run.cases import Case
from whence.run.oracle import judge
from whence.run.outcome import Outcome
from whence.run.result import RunResult
from whence.run.runner import Runner, TraceRequest
from whence.subject.subject import Subject
from whence.trace.trace import FULL, LIMIT_REACHED, Trace


@dataclass(slots=True)
class Recording:
    """A recorded run: its result and outcome on the record variant, and the decoded trace."""

    case: Case
    result: RunResult
    outcome: Outcome
    trace: Trace


class Recorder:
    """Records cases of one subject; use it in a ``with`` statement.

    ``limit`` is the most bytes that a trace may take; with ``window`` the end of a longer run is kept instead of an error.
    """

    def __init__(self, subject: Subject, limit: int | None = None, window: int | None = None) -> None:
        self.subject = subject
        self._limit = window or limit or subject.limits.trace
        self._ring = window is not None
        self._runner: Runner = subject.runner(Variant.RECORD)

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *_: object) -> None:
        self._runner.close()

    def record(self, case: Case, expected: Outcome | None = None, keep: Path | None = None) -> Recording:
        """Record one case, and copy the trace file to ``keep`` if that is given.

        Raises SubjectError when its outcome is not ``expected``, TraceError where the trace reached its limit.
        """
        path = self._runner.sandbox.new_path("trace")
        result = self._runner.run_case(case, TraceRequest(path, self._limit, self._ring))
        outcome = judge(case, result)
        if expected is not None and outcome.kind is not expected.kind:
            raise SubjectError(
                f"case {case.name}: {expected.kind} in the program, but {outcome.kind} when recorded",
                "the outcome depends on something that recording changes, such as uninitialised memory",
            )
        path = result.trace or path
        if path.is_dir():
            path = _main_trace(path)
        if keep is not None:
            shutil.copyfile(path, keep)
        return Recording(case, result, outcome, self._decode(path))

    def _decode(self, path: Path) -> Trace:
        trace = Trace(path, self.subject.program, self.subject.plan, self.subject.fingerprint)
        path.unlink()  # it stays mapped for as long as the trace is used
        if trace.header.flags & LIMIT_REACHED:
            raise TraceError(
                f"the recording reached its limit of {self._limit >> 20} MiB after {trace.events:,} events",
                "raise it with --trace-limit, or keep only the end of the run with --window",
            )
        if trace.header.flags & FULL:
            raise TraceError(f"no room left for the trace after {trace.events:,} events", "free memory, or use --window")
        return trace


def _main_trace(folder: Path) -> Path:
    """The trace to explain where a command ran the program several times: the last one that ended by a signal, or the last."""
    traces = sorted(folder.iterdir(), key=lambda p: p.stat().st_mtime_ns)
    if not traces:
        raise SubjectError("the command did not run the program", "see `program` in docs/configuration.md")
    from whence.trace.trace import open_units, read_header

    crashed = [t for t in traces if read_header(open_units(t)).end == "signal"]
    return (crashed or traces)[-1]
