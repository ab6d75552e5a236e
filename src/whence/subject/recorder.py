"""Recording a case: a run of the record variant, its trace decoded, its verdict checked against the plain program's."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import count
from pathlib import Path

from whence.errors import SubjectError, TooLong, TraceError
from whence.probe.compact import can_be_compact
from whence.probe.instrument import Variant
from whence.probe.layout import starts_threads
from whence.run.cases import Case
from whence.run.evidence import Evidence
from whence.run.oracle import judge
from whence.run.outcome import Kind, Outcome
from whence.run.result import RunResult
from whence.run.runner import Runner, TraceRequest
from whence.run.sandbox import LAYOUTS
from whence.subject.departure import Departure
from whence.subject.file_streams import name_files
from whence.subject.memory_check import Checker
from whence.subject.memory_words import memory_outcome
from whence.subject.processes import candidates, crash_of, has_crashed, open_best, processes_in, the_same
from whence.subject.subject import Subject
from whence.trace.compact import DoubtfulTrace
from whence.trace.long_trace import LongTrace, Watch
from whence.trace.trace import COMPACT as COMPACT_TRACE
from whence.trace.trace import FULL, LIMIT_REACHED, Header, Identity, Trace, open_units, read_header

SLOWER = 10  # a recorded run may take this many times as long as the time limit says
ENDLESS = 16 << 20  # bytes kept of an altered run that may not end
GROWING = (2 << 20, 16 << 20, 32 << 20, 64 << 20, 128 << 20)  # of a run that does not end, until a loop is seen twice
WORK = 16  # bytes of memory that analysing takes for each byte of a trace
AN_EVENT = 28  # bytes of memory that looking at a decoded event takes, where all of them are in a slice
SHORT = 64 << 20  # bytes of a trace; a run that fills it is recorded compactly where that can be
BOLD = 2  # times as many bytes as that are allowed where somebody asks for them
MOST_READ = WORK // 2  # times as many bytes may a trace have that is read in windows
COMPACT = 3  # a compact trace takes this fraction of the bytes, or less; a loop often much less
SHARE = 0.75  # of the memory that is free
TOGETHER = 8  # altered runs that are asked for at once; their working files have names of one length

Worth = Callable[[Trace], float]


class _IsLong(Exception):
    """A run was ended since its trace took more than a short one."""


class ChangedOutcome(SubjectError):
    """A case whose outcome is another one in the variant that records; ``seen`` is that one.

    Techniques that need no recording still work on the case.
    """

    def __init__(self, case: Case, expected: Outcome, seen: Outcome) -> None:
        super().__init__(
            f"case {case.name}: {_shown(expected)} in the program, but {_shown(seen)} when recorded",
            "the outcome depends on something that recording changes, such as uninitialised memory",
        )
        self.expected, self.seen = expected, seen


@dataclass(slots=True)
class Recording:
    """A recorded run: its result and outcome on the record variant, and the decoded trace.

    ``is_cut``: the trace holds only the beginning of a run that did not end; ``is_early``: and not more of it than runs
    that end are long, so that what goes round in it need not be what does not end. ``process`` tells which of a
    command's processes was recorded. ``plain`` is the run of the program itself, where it was looked at. ``departure``
    tells from where on a long failing run is not what a passing one is, where that was looked at.
    """

    case: Case
    result: RunResult
    outcome: Outcome
    trace: Trace
    is_cut: bool = False
    is_early: bool = False
    process: str = ""
    plain: RunResult | None = None
    departure: Departure | None = None

    @property
    def has_threads(self) -> bool:
        """Whether the run started threads, as far as it was recorded."""
        return self.trace.header.threads > 1


class Recorder:
    """Records cases of one subject; use it in a ``with`` statement.

    ``limit`` is the most bytes that a trace may take, by default what the subject's limits and the free memory allow;
    with ``window`` the end of a longer run is kept instead of an error. ``executable``: the variant, linked otherwise.
    ``ending`` is how many blocks the longest run that ends executes: a loop that goes round before that may end, too.
    """

    def __init__(
        self,
        subject: Subject,
        limit: int | None = None,
        window: int | None = None,
        variant: Variant = Variant.RECORD,
        executable: Path | None = None,
        *,
        confined: bool = False,
        ending: int = 0,
    ) -> None:
        self.subject, self._ending = subject, ending
        self._variant = variant
        free = affordable()
        most = min(limit, BOLD * free) if limit else min(subject.limits.trace or free, free)
        self._limit = window or most
        self._compact_limit = min(limit, BOLD * free // COMPACT) if limit else min(most, free // COMPACT)
        self._longest = min(limit or subject.limits.trace or MOST_READ * free, MOST_READ * free)
        self._endless = window or limit or min(self._limit, ENDLESS)
        self._ring = window is not None
        self._runner: Runner = subject.runner(variant, executable, confined=confined or variant is not Variant.RECORD)
        self._numbers = count()
        self._compact: Runner | None = None
        self._may_be_compact = variant is Variant.RECORD and executable is None and window is None and not confined

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the processes that record."""
        self._runner.close()
        if self._compact is not None:
            self._compact.close()

    def record(
        self,
        case: Case,
        expected: Outcome | None = None,
        keep: Path | None = None,
        worth: Worth | None = None,
        *,
        session: bytes = b"",
        may_be_cut: bool = False,
        room: int = 0,
        time: float | None = None,
        process: Identity | None = None,
        watch: Watch | None = None,
    ) -> Recording:
        """Record one case, and copy the trace file to ``keep`` if that is given.

        Where addresses differ from run to run, it is run until the outcome is the ``expected`` one, ``LAYOUTS`` times
        at most.

        Of a run that is expected not to end, the beginning is enough. Where a test suite's case ran the program several
        times, the trace is taken that is worth most, the last of equals. ``session`` names the changes of an altered
        run (``Paths.session``), which may loop: with ``may_be_cut`` its beginning is enough, of ``room`` bytes at least
        as far as the limit allows that. ``time`` is the most
        seconds that the run may take, where that is less than the limits say. With ``watch``, which is told of each
        window, a run that is too long for the memory that is free is read in windows (``LongTrace``).

        Raises ChangedOutcome when the outcome is not ``expected``, TooLong where the trace reached its limit.
        """
        given = (session, may_be_cut, room, time, process, watch)
        attempt = partial(self._record_once, case, expected, keep, worth, *given)
        for _ in range(LAYOUTS if self.subject.limits.aslr else 0):
            with suppress(ChangedOutcome):
                return attempt()
        return attempt()

    def _record_once(
        self,
        case: Case,
        expected: Outcome | None,
        keep: Path | None,
        worth: Worth | None,
        session: bytes,
        may_be_cut: bool,
        room: int,
        time: float | None,
        process: Identity | None,
        watch: Watch | None,
    ) -> Recording:
        endless = may_be_cut or (expected is not None and expected.endless)
        limits = self.subject.limits
        seconds = limits.time if endless else limits.time * SLOWER
        self._runner.limits = replace(limits, time=seconds if time is None else min(seconds, time))
        if expected is not None and expected.endless and case.command is None and not self._ring:
            recording = self._record_endless(case, expected, session)
        elif self._may_be_compact and not (endless or session or case.command or case.follows_children):
            recording = self._record_whole(case, expected, worth, watch)
        else:
            request = self._request(min(max(self._endless, room), self._limit) if endless else self._limit)
            recording = self._record(case, request, session, expected, worth, endless, process)
        if keep is not None:
            _copy(recording.trace, keep)
        return recording

    def record_or_beginning(self, case: Case, worth: Worth | None = None) -> Recording:
        """A case's run; of one that does not end, or that takes more room than there is, the beginning."""
        recording = self.record(case, worth=worth, may_be_cut=True)
        if recording.is_cut and recording.outcome.kind is not Kind.TIMEOUT:
            with suppress(TraceError, SubjectError):
                return self.record(case, worth=worth)
        return recording

    def _record_endless(self, case: Case, expected: Outcome, session: bytes) -> Recording:
        """Record the beginning of a run that does not end: as much of it as shows the same loop at work as a longer
        recording does, or the first wrong byte.

        Such a run ends where its trace is full, so that none of it waits for the time limit.
        """
        most = min(self._limit, GROWING[-1])
        seen: tuple[int, Recording] | None = (
            None  # a branch that may go round for ever, and the recording that shows it
        )
        for size in GROWING:
            request = replace(self._request(min(size, most)), end_at_limit=True)
            recording = self._record(case, request, session, expected, None, True)
            if not recording.is_cut or (expected.difference and _is_written(expected, recording.result)):
                return recording
            recording.is_early = recording.trace.blocks <= self._ending
            branch = Evidence(recording.trace).endless_branch()
            site = recording.trace.site(branch) if branch >= 0 else -1
            if not expected.difference and seen is not None and seen[0] == site:
                return seen[1]
            if size >= most:
                break
            seen = None if recording.is_early else (site, recording)
        if expected.difference:
            raise TraceError(
                f"the recording reached its limit of {_size(most)} before the output went wrong", "use a smaller input"
            )
        return recording

    def _record_whole(
        self, case: Case, expected: Outcome | None, worth: Worth | None, watch: Watch | None
    ) -> Recording:
        """Record a run: a short one in full, a long one compactly, unless what it did does not follow from that."""
        if starts_threads(self.subject.program) or not _is_read_in_windows(case):
            watch = None
        limit, compact_limit = self._limit, self._compact_limit
        if watch is not None:
            limit, compact_limit = max(limit, self._longest), max(compact_limit, self._longest)
        if self._limit > SHORT and can_be_compact(self.subject.program):
            request = replace(self._request(SHORT), end_at_limit=True)
            with suppress(_IsLong):
                return self._record(case, request, b"", expected, worth, False)
            runner = self._compact_runner
            runner.limits = self._runner.limits
            try:
                request = self._request(compact_limit, runner)
                return self._record(case, request, b"", expected, worth, False, runner=runner, watch=watch)
            except DoubtfulTrace:
                pass  # what it did does not follow from that: below it is recorded in full
            except ChangedOutcome as error:
                if error.seen.kind is Kind.TIMEOUT:  # a full recording takes even longer
                    raise
        return self._record(case, self._request(limit), b"", expected, worth, False, watch=watch)

    @property
    def _compact_runner(self) -> Runner:
        if self._compact is None:
            self._compact = self.subject.runner(Variant.COMPACT)
        return self._compact

    def new_path(self, name: str) -> Path:
        """Where a file for runs of the recorder can lie."""
        return self._runner.sandbox.new_path(name)

    @cached_property
    def _checker(self) -> Checker:
        return Checker(self.subject, variant=self._variant)

    def _request(self, limit: int, runner: Runner | None = None) -> TraceRequest:
        path = (runner or self._runner).sandbox.new_path(f"trace{next(self._numbers):06}")  # argv lies behind it
        return TraceRequest(path, limit, self._ring)

    def _record(
        self,
        case: Case,
        request: TraceRequest,
        session: bytes,
        expected: Outcome | None,
        worth: Worth | None,
        endless: bool,
        identity: Identity | None = None,
        runner: Runner | None = None,
        watch: Watch | None = None,
    ) -> Recording:
        """Record one run; its trace is decoded, and stays mapped when its file is removed.

        Raises _IsLong where the run was to end when its trace is full, and did, and its beginning is not enough.
        """
        result = (runner or self._runner).run_case(case, request, session)
        path = result.trace or request.path
        try:
            if not endless and _was_full(request, result):
                raise _IsLong
            open_trace = partial(self._open, limit=request.limit, endless=endless, watch=watch)
            outcome = expected if expected and _was_full(request, result) else judge(case, result)
            may_be_silent = outcome.passed and (case.comparison.memory or case.follows_children)
            if expected is not None and outcome.kind is not expected.kind and not may_be_silent:
                raise ChangedOutcome(case, expected, outcome)
            if path.is_dir():
                process, trace = self._of_command(case, path, open_trace, worth, identity)
            else:
                process, trace = "", open_trace(path)
        finally:
            _remove(path)
        name_files(trace, result)
        if may_be_silent:
            outcome = self._silent_failure(case, result, trace) or outcome
            if expected is not None and outcome.kind is not expected.kind:
                raise ChangedOutcome(case, expected, outcome)
        return Recording(case, result, outcome, trace, bool(trace.header.flags & LIMIT_REACHED), process=process)

    def _silent_failure(self, case: Case, result: RunResult, trace: Trace) -> Outcome | None:
        """What fails in a run that passes in all else: a process that it forked crashed, or memory is misused."""
        if case.follows_children and has_crashed(trace.header):
            return crash_of(trace.header, result.stderr)
        return memory_outcome(self.subject, self._checker.check(trace)) if case.comparison.memory else None

    def _of_command(
        self,
        case: Case,
        folder: Path,
        open_trace: Callable[[Path], Trace],
        worth: Worth | None,
        identity: Identity | None,
    ) -> tuple[str, Trace]:
        """The trace of one of a command's processes, and words for that process."""
        ran = processes_in(folder)
        name = case.suite.process if case.suite else None
        chosen = the_same(ran, identity) if identity else candidates(ran, name, case.follows_children)
        process, trace = open_best(chosen, open_trace, worth)
        return process.text + (f" (one of {len(ran)} that ran)" if len(ran) > 1 else ""), trace

    def record_altered(self, case: Case, sessions: Sequence[bytes], room: int = 0) -> list[Recording | None]:
        """Record altered runs of a case, the beginning of long ones; None for those whose trace cannot be read.

        ``room``: the bytes that are kept of one at least, as far as the limit allows that.
        """
        self._runner.limits = self.subject.limits
        most = min(max(self._endless, room), self._limit)
        found: list[Recording | None] = []
        for start in range(0, len(sessions), TOGETHER):
            part = sessions[start : start + TOGETHER]
            paths = [self._runner.sandbox.new_path(f"trace{next(self._numbers):06}") for _ in part]
            requests = [TraceRequest(path, most, self._ring) for path in paths]
            try:
                results = self._runner.run_cases([case] * len(part), traces=requests, sessions=part)
                found += [self._altered(case, result, path, most) for result, path in zip(results, paths, strict=True)]
            finally:
                for path in paths:
                    _remove(path)
        return found

    def _altered(self, case: Case, result: RunResult, path: Path, most: int) -> Recording | None:
        try:
            trace = self._open(path, most, True)
            trace.trim()  # there may be many
        except TraceError:
            return None
        return Recording(case, result, judge(case, result), trace, bool(trace.header.flags & LIMIT_REACHED))

    def _open(self, path: Path, limit: int, endless: bool, watch: Watch | None = None) -> Trace:
        header = read_header(open_units(path))
        self._check(header, limit, endless)
        told = path, self.subject.program, self.subject.plan_of(self._variant), self.subject.fingerprint
        whole = self._compact_limit if header.flags & COMPACT_TRACE else self._limit
        if watch is not None and header.bytes_used > whole:
            return LongTrace(*told, watch)
        try:
            trace = Trace(*told, most=COMPACT * self._compact_limit)
            if trace.events * AN_EVENT > free_memory():
                raise TooLong(
                    f"analysing {trace.events:,} events takes more memory than is free",
                    "give a smaller input (`whence reduce`), or keep only the end of the run with --window 256M",
                )
            return trace
        except TooLong:
            if watch is None:
                raise
            return LongTrace(*told, watch)

    def _check(self, header: Header, limit: int, endless: bool) -> None:
        """Refuse a trace that ends before its run."""
        if header.flags & FULL:
            raise TraceError(
                f"no room left for the trace after {header.chunks >> 1} MiB",
                "free memory, or keep only the end of the run with --window 256M",
            )
        if header.flags & LIMIT_REACHED and not endless:
            raise TooLong(
                f"the recording reached its limit of {_size(limit)}",
                f"give a smaller input (`whence reduce`), raise it with --trace-limit (analysing takes about {WORK} "
                "times as much memory), or keep only the end of the run, where that is enough, with --window 256M",
            )


def _is_read_in_windows(case: Case) -> bool:
    """Whether nothing is asked of a case's run that all of its trace is looked at for, besides a slice."""
    return not (case.comparison.memory or (case.expected is not None and case.expected.files))


def _is_written(expected: Outcome, result: RunResult) -> bool:
    """Whether a run that was cut has written the first wrong byte."""
    written = result.text(expected.stream)
    return expected.difference is not None and expected.difference.actual < len(written)


def _shown(outcome: Outcome) -> str:
    """An outcome in a few words: a crash by its signal."""
    crashed = outcome.kind is Kind.CRASH and outcome.text
    return f"{outcome.kind} ({outcome.text})" if crashed else str(outcome.kind)


def affordable() -> int:
    """How many bytes of a trace the machine's free memory allows to analyse."""
    return max(1 << 20, int(free_memory() * SHARE / WORK))


def free_memory() -> int:
    """Bytes of memory that are free, as far as the system and the control group say."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    free = next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:"))
    group = Path("/sys/fs/cgroup")
    try:
        allowed = int((group / "memory.max").read_text()) - int((group / "memory.current").read_text())
    except (OSError, ValueError):  # no group, or one without a limit ("max")
        return free
    return min(free, max(allowed, 0))


def _size(number: int) -> str:
    """A number of bytes for people."""
    return f"{number >> 20} MiB" if number >= 1 << 20 else f"{number:,} bytes"


def _was_full(request: TraceRequest, result: RunResult) -> bool:
    """Whether a run was ended because its trace was full."""
    is_killed = request.end_at_limit and result.signal == signal.SIGKILL and not result.timed_out
    return is_killed and bool(read_header(open_units(request.path)).flags & LIMIT_REACHED)


def _copy(trace: Trace, target: Path) -> None:
    """Write what a trace's file held, which is gone, but is mapped still."""
    try:
        trace.recorded[: trace.bytes_used // trace.recorded.itemsize].tofile(target)
    except OSError as error:
        if target.is_file():
            target.unlink()  # half a trace is of no use
        raise SubjectError(f"cannot write the trace to {target}: {error.strerror}", "name another file") from error


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
