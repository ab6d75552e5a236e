"""A session: one case of one subject, run again with changes as often as one likes.

The unaltered run goes to each point of change once, and every continuation starts from there
(``probe/runtime/alter/session.c``). What cannot be altered in place - threads, other processes, files that are
written - is run again from the start, with the same changes, under the ordinary runner.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from whence.alter.changes import EVENT, Batch, Observed, Op, Results, Verdict, Way
from whence.alter.check import check
from whence.alter.faithful import FailureSignature, Unusable, difference
from whence.alter.file import Judge, Mode, RunLimits, SessionFile, unjudged
from whence.alter.oracle import SessionOracle
from whence.build.system_calls import system_call_name
from whence.probe.instrument import Variant
from whence.run.cases import TAKE_APART, Case
from whence.run.outcome import Kind
from whence.run.result import RunResult
from whence.run.runner import Cancelled, RunLost, Runner, TraceRequest
from whence.run.sandbox import FIXED, NOT_FIXED
from whence.subject.recorder import Recorder, Recording

if TYPE_CHECKING:
    from whence.subject.subject import Subject

EVENTS = 1 << 22
PATIENCE = 2000  # ms that one continuation may take at least, however few hooks it meets
MEMORY = 16 << 20  # bytes that count as the memory of the unaltered run, at least
BUDGET = 10.0  # how many times the longer of the unaltered run and a right one an altered run may take
LEAST_BUDGET = 10_000  # clock ticks, so that very short runs may grow
ENDLESS = 1 << 20  # clock ticks of a run that does not end that are looked at, at least
# Clock ticks that count as the length of such a run, at least; without a passing one ENDLESS / BUDGET.
HANGING = 1 << 14
GOING_ROUND = 1 << 19  # instances of it that are kept: later ones are like those
OUTPUTS = 64 << 20  # bytes kept of a part of a batch
CAPTURE = 1 << 20  # bytes kept of a stream at least; more where more is expected
JOBS = 2  # that get no further, after which it is not for something else that has ended the first one
LONGER = 4  # times as long as is expected an output may be before its continuation is ended
SLOWER = 5  # the observed run may take this many times as long as the time limit says
RING = 1 << 20
CLONE, CLONE3 = 56, 435  # system calls (x86-64) that start threads and processes
STARTERS = {"pthread_create", "thrd_create"}

Progress = Callable[[int, int], None]
HELP_MAIN = "build it with whence-cc, too; `whence doctor` says why it is not captured"


class Session:
    """Altered runs of one case; use it in a ``with`` statement.

    With ``plain``, how the program itself ends, the unaltered run has to end so as well before anything is run.
    ``reach`` is the length in clock ticks that a right run may have, as passing ones do: altered runs may take as long.
    ``variant`` REPLAY: its runs have the addresses of those that ``trace`` records.

    A session belongs to one thread; others may ``cancel`` it. Raises Unusable for a case that is a command of a test
    suite, since its program's runs are not the session's to repeat, and where addresses differ from run to run.
    """

    def __init__(
        self,
        subject: Subject,
        case: Case,
        way: Way = Way.AUTO,
        plain: FailureSignature | None = None,
        reach: int = 0,
        variant: Variant = Variant.ALTER,
    ) -> None:
        if case.command is not None:
            raise Unusable(
                case.name,
                "it runs a command: only a case that runs the program itself can be altered",
                TAKE_APART,
            )
        if not subject.has_main:
            raise Unusable(case.name, "`main` is not captured, with which an altered run begins", HELP_MAIN)
        if subject.limits.aslr:
            raise Unusable(case.name, NOT_FIXED, FIXED)
        self.subject, self.case, self.way = subject, case, way
        self._plain, self._reach, self._variant = plain, reach, variant
        self._runners: dict[Variant, Runner] = {}
        self._opening = threading.Lock()  # of runners
        self._is_cancelled = False
        self._recorder: Recorder | None = None
        self._numbers = count()
        self._baseline: Observed | None = None
        self.signature: FailureSignature | None = None  # how the unaltered run ends, once it was observed
        self._oracle = SessionOracle(case)
        self._patience, self._memory = PATIENCE, MEMORY

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the subject's processes."""
        for runner in self._runners.values():
            runner.close()
        self._runners.clear()
        if self._recorder is not None:
            self._recorder.close()
            self._recorder = None

    def cancel(self) -> None:
        """From any thread: let what runs end at once. The owner gets Cancelled, or of ``run`` what has been done."""
        with self._opening:
            self._is_cancelled = True
            for runner in self._runners.values():
                runner.cancel()

    def _runner(self, kind: Variant) -> Runner:
        if kind not in self._runners:
            runner = self.subject.runner(kind, confined=True)
            with self._opening:
                self._runners[kind] = runner
                if self._is_cancelled:
                    runner.cancel()
        return self._runners[kind]

    # ---- The unaltered run -------------------------------------------------------------------------------------------

    def observe(self, limit: int = EVENTS) -> Observed:
        """The unaltered run with the first ``limit`` instances of all sites. Raises Unusable where there is none.

        Behind these come the first instances in blocks that have had none by then.
        """
        limit = min(limit, GOING_ROUND) if self._hangs else limit
        observed, signature = self._observe(limit)
        if observed.refusal or self.way is Way.RESTART:
            watched, signature = self._watch(limit)
            observed = replace(watched, refusal=observed.refusal)
        observed.unusable = difference(self._plain, signature) if self._plain is not None else ""
        self._baseline = replace(observed, events=observed.events[:0])
        self.signature = signature
        return observed

    def _observe(self, limit: int) -> tuple[Observed, FailureSignature]:
        """The unaltered run in a session."""
        runner = self._runner(self._variant)
        with self._file(Mode.OBSERVE, Batch.of([]), events=limit) as file:
            with _limits(runner, time=0.0):
                result = self._job(runner, file)
            if not file.head["finished"] and not file.head["refusal"]:
                end = f"signal {result.signal}" if result.signal else f"status {result.status}"
                raise Unusable(self.case.name, f"its run ended with {end} while it was observed")
            self._memory = max(MEMORY, result.max_rss << 10)
            self._patience = max(PATIENCE, int(result.wall * 1000))
            if self.subject.limits.time:
                self._patience = min(self._patience, int(self.subject.limits.time * 1000))
            record = np.array(file.head["unaltered"])
            run = self._oracle.run_of(record, file)
            if record["verdict"] == Verdict.UNJUDGED:
                self._oracle.judge(record, run, ended=True)
            cut = int(file.head["events_count"]) > limit
            return Observed(file.events(), record, cut, _refusal(file)), FailureSignature.of(self.case, run)

    def _watch(self, limit: int) -> tuple[Observed, FailureSignature]:
        """The unaltered run from the start, as the program runs by itself."""
        kind = self._restarting()
        runner = self._runner(kind)
        with self._file(Mode.WATCH, Batch.of([]), events=limit) as file:
            with _limits(runner, time=self._whole):
                result = self._job(runner, file, kind is Variant.REPLAY)
            record, events = np.array(file.head["unaltered"]), file.events()
            record["way"] = Way.RESTART
            if not record["length"] and len(events):  # killed: it had no time to say how far it came
                record["length"] = events["clock"][-1] + 1
            result.timed_out |= bool(record["verdict"] == Verdict.TIMEOUT)
            self._oracle.judge(record, result, ended=not result.timed_out)
            return Observed(events, record, int(file.head["events_count"]) > limit), FailureSignature.of(
                self.case, result
            )

    @property
    def _hangs(self) -> bool:
        """Whether the program itself does not end."""
        return self._plain is not None and self._plain.kind is Kind.TIMEOUT

    @property
    def _endless(self) -> int:
        """Clock ticks after which an unaltered run that hangs counts as endless; 0: it ends by itself."""
        if self._hangs:
            return max(ENDLESS, int(self._reach * BUDGET))
        if self._baseline is not None and self._baseline.result["verdict"] == Verdict.TIMEOUT:
            return max(self._baseline.length, 1)
        return 0

    @property
    def _whole(self) -> float:
        """Seconds that the observed run may take; 0: any time."""
        return self.subject.limits.time * (1 if self._hangs else SLOWER)

    def _length(self) -> int:
        """The unaltered run's length in clock ticks; of one that does not end, what counts as that."""
        if self._baseline is None:
            self.observe(0)
        assert self._baseline is not None
        if self._baseline.result["verdict"] != Verdict.TIMEOUT:
            return self._baseline.length
        return HANGING if self._reach else int(ENDLESS / BUDGET)

    def _restarts(self) -> bool:
        """Whether every altered run has to start from the beginning."""
        self._length()
        assert self._baseline is not None
        return self.way is Way.RESTART or bool(self._baseline.refusal)

    def _restarting(self) -> Variant:
        """The variant for runs from the start: threads need the recorder's schedule to be the same again."""
        return Variant.REPLAY if self._has_threads else Variant.ALTER

    @cached_property
    def _has_threads(self) -> bool:
        """Whether the program may start threads."""
        return any(not STARTERS.isdisjoint(module.declarations) for module in self.subject.program.modules)

    # ---- Altered runs ------------------------------------------------------------------------------------------------

    def run(
        self,
        batch: Batch,
        *,
        budget: float = BUDGET,
        seconds: float | None = None,
        outputs: bool = False,
        progress: Progress | None = None,
    ) -> Results:
        """Run the continuations of a batch; each verdict is the case's oracle's.

        ``budget``: how many times the longer of the unaltered run and a right one a continuation may take.
        After ``seconds``, or when the session is cancelled, the rest is left NOT_RUN. With ``outputs`` what each wrote
        is kept, and none is cut at its first wrong byte. Raises UsageError where a change does not suit its site,
        Unusable where the unaltered run does not end as the program's own does.
        """
        check(batch, self.subject.alter_plan)
        results = Results(unjudged(len(batch)), [(b"", b"")] * len(batch) if outputs else None)
        if not len(batch):
            return results
        ticks = self._ticks(budget)
        self._check_faithful()
        if self._restarts():
            self._restart(batch, np.arange(len(batch)), ticks, results, seconds)
            return results
        with self._file(Mode.RUN, batch, outputs=outputs, budget=ticks) as file, _watching(file, seconds, progress):
            self._drive(file, results)
        refused = np.flatnonzero(results.records["verdict"] == Verdict.REFUSED)
        if self.way is Way.AUTO and len(refused):
            results.records["verdict"][refused] = Verdict.NOT_RUN
            self._restart(batch, refused, ticks, results, seconds)
        return results

    def read(self, batch: Batch, ticks: int, seconds: float | None = None) -> tuple[NDArray[np.void], list[bytes]]:
        """Run continuations that end where they STOP, or after ``ticks`` of the clock: records, and what each has read.

        The output is not judged: what ends by itself counts as PASS or CRASH. Raises as ``run`` does, and Unusable for
        a case that can only be altered from its start.
        """
        check(batch, self.subject.alter_plan)
        if self._restarts():
            raise Unusable(self.case.name, "its runs cannot go back to a point: " + (self._refused or "it restarts"))
        self._check_faithful()
        results = Results(unjudged(len(batch)))
        with self._file(Mode.RUN, batch, budget=ticks, events=_room(batch), judge=Judge(0)) as file:
            with _watching(file, seconds, None):
                self._drive(file, results)
            return results.records, [file.read(record) for record in results.records]

    @property
    def _refused(self) -> str:
        return self._baseline.refusal if self._baseline is not None else ""

    def _check_faithful(self) -> None:
        assert self._baseline is not None
        if self._baseline.unusable:
            raise Unusable(self.case.name, self._baseline.unusable)

    def _ticks(self, budget: float) -> int:
        """The clock budget of a continuation."""
        return max(int(max(self._length(), self._reach) * budget), LEAST_BUDGET)

    def _drive(self, file: SessionFile, results: Results) -> None:
        """Jobs on the file until every continuation has been run, or no job gets any further."""
        runner = self._runner(self._variant)
        left, in_vain = len(file.results), 0
        while left and not file.head["stop"]:
            with _limits(runner, time=0.0), _surviving(file):
                self._job(runner, file)
            self._collect(file, results)
            was_running = bool((file.results["verdict"] == Verdict.RUNNING).any())
            before, left = left, file.start_over()
            if was_running:  # the continuation may have overwritten the runtime's memory, which then wrote the head
                file.head["finished"] = file.head["refusal"] = 0
            elif file.head["finished"]:
                verdict = Verdict.REFUSED if file.head["refusal"] else Verdict.NOT_REACHED
                _settle(file, verdict)
                left = file.start_over()
            in_vain = in_vain + 1 if left == before else 0
            if in_vain == JOBS and not file.head["stop"]:  # it ends before its first point by its own fault
                _settle(file, Verdict.LOST)
                break
        results.records[:] = file.results

    def _collect(self, file: SessionFile, results: Results) -> None:
        """Ask the oracle about what the runtime has left to it; outputs that found no room are run again."""
        for index in np.flatnonzero(file.results["verdict"] == Verdict.UNJUDGED).tolist():
            record = file.results[index]
            if record["spare"]:
                record["verdict"], record["spare"] = Verdict.NOT_RUN, 0
                continue
            self._oracle.judge(record, self._oracle.run_of(record, file), ended=True)
        if results.outputs is not None:
            has_ended = (file.results["length"] > 0) & (file.results["spare"] == 0)
            for index in np.flatnonzero(has_ended & (file.results["verdict"] != Verdict.NOT_RUN)).tolist():
                results.outputs[index] = file.outputs(file.results[index])
                results.files[index] = self._oracle.left(file, file.results[index])

    # ---- Runs from the start -----------------------------------------------------------------------------------------

    def _restart(
        self, batch: Batch, chosen: NDArray[np.intp], ticks: int, results: Results, seconds: float | None
    ) -> None:
        """Run continuations from the start, each a run of its own."""
        kind = self._restarting()
        runner = self._runner(kind)
        whole = self._patience / 1000  # what waits for ever meets no hook
        limit = min(self.subject.limits.time or whole, whole)
        with (
            self._file(Mode.APPLY, batch, budget=ticks) as file,
            _watching(file, seconds, None),
            _limits(runner, time=limit),
        ):
            waiting = deque(chosen.tolist())
            while waiting and not file.head["stop"]:
                with suppress(RunLost):
                    self._whole_runs(runner, file, waiting, kind is Variant.REPLAY, results)
                    break
                results.records[waiting.popleft()]["verdict"] = Verdict.LOST  # and the server with it

    def _whole_runs(
        self, runner: Runner, file: SessionFile, waiting: deque[int], threads: bool, results: Results
    ) -> None:
        """Runs from the start, each with the changes of one continuation, until all are done or the session is stopped.

        What is ``waiting`` has not been run. Raises RunLost where the first of those has ended the server.
        """
        sessions = [bytes(file.path) + b":%d" % index for index in waiting]
        with suppress(Cancelled), closing(self._traced(runner, sessions, threads)) as runs:
            for result in runs:
                index = waiting.popleft()
                self._note_whole(file.results[index], result, results.outputs is None)
                results.records[index] = file.results[index]
                if results.outputs is not None:
                    results.outputs[index] = (result.stdout, result.stderr)
                    results.files[index] = dict(result.files)
                if file.head["stop"]:
                    return

    def _note_whole(self, record: NDArray[np.void], result: RunResult, is_cut: bool) -> None:
        """Complete the record of a run from the start; where sessions are cut at a wrong byte, it is wrong as there."""
        is_over = record["verdict"] == Verdict.TIMEOUT
        reached, record["spare"], record["way"] = bool(record["spare"]), 0, Way.RESTART
        record["microseconds"] = int(result.wall * 1e6)
        self._oracle.judge(record, result, ended=not is_over and not result.timed_out)
        if is_over:
            record["verdict"] = Verdict.TIMEOUT
        elif not reached and not result.signal and not result.timed_out:
            record["verdict"] = Verdict.NOT_REACHED
        if is_cut and self._oracle.is_cut(result):
            record["verdict"] = Verdict.WRONG_OUTPUT

    def trace(self, changes: NDArray[np.void], budget: float = BUDGET) -> Recording:
        """The altered run recorded from its start; one that does not end is cut."""
        batch = Batch.of([changes])
        check(batch, self.subject.alter_plan)
        if self._recorder is None:
            self._recorder = Recorder(self.subject, variant=Variant.REPLAY)
        with self._file(Mode.APPLY, batch, budget=self._ticks(budget)) as file:
            return self._recorder.record(self.case, session=bytes(file.path) + b":0", may_be_cut=True)

    def traces(self, runs: Sequence[NDArray[np.void]], ticks: int, room: int = 0) -> list[Recording | None]:
        """Altered runs recorded from their start, of so many clock ticks at most; None: its trace cannot be read.

        Of a long run ``room`` bytes are kept at least, as far as the limit on traces allows that.

        All of them have ``argv`` and the environment at the same addresses.
        """
        batch = Batch.of(runs)
        check(batch, self.subject.alter_plan)
        if self._recorder is None:
            self._recorder = Recorder(self.subject, variant=Variant.REPLAY)
        with self._file(Mode.APPLY, batch, budget=max(ticks, LEAST_BUDGET)) as file:
            names = [bytes(file.path) + b":%06d" % number for number in range(len(runs))]
            return self._recorder.record_altered(self.case, names, room)

    # ---- Jobs --------------------------------------------------------------------------------------------------------

    @contextmanager
    def _file(
        self,
        mode: Mode,
        batch: Batch,
        *,
        outputs: bool = False,
        budget: int = 0,
        events: int = 0,
        judge: Judge | None = None,
    ) -> Iterator[SessionFile]:
        """A session file, removed at the end; with ``judge`` runs are not held against all that is expected."""
        keeps = outputs or mode is Mode.OBSERVE  # how a run ended can be told from its outputs only
        judged = self._oracle.expectation.judge if judge is None else judge
        flags = judged | (Judge.KEEP if keeps else 0) | (Judge.THREADS if self._has_threads else 0)
        work = bytes(self._runner(self._variant).sandbox.work)
        files = [(os.path.join(work, os.fsencode(name)), content) for name, content in self._oracle.compared]  # noqa: PTH118
        expectation = replace(self._oracle.expectation, judge=flags, files=files)
        path = self._runner(self._variant).sandbox.new_path(f"session{next(self._numbers):06}")  # argv lies behind it
        file = SessionFile(path, mode, self.way, batch, expectation)
        keeps = bool(expectation.judge & Judge.KEEP) and mode in (Mode.OBSERVE, Mode.RUN)
        firsts = len(self.subject.alter_plan.sites) if events and mode in (Mode.OBSERVE, Mode.WATCH) else 0
        file.open(self._run_limits(budget, keeps), events=events, firsts=firsts, outputs=OUTPUTS if keeps else 0)
        try:
            yield file
        finally:
            file.close()

    def _run_limits(self, budget: int, keeps: bool) -> RunLimits:
        """What the runtime holds runs to."""
        limits, expected = self.subject.limits, self.case.expected
        most = limits.output or OUTPUTS
        is_open = expected is None or expected.stdout is None
        capture = most if is_open else min(most, max(CAPTURE, LONGER * len(self._oracle.expectation.stdout)))
        whole = int(self._whole * 1000)
        sleep = int(limits.time * 1000)
        capture = capture if keeps else 0
        return RunLimits(
            budget, self._endless, self._patience, whole, capture, limits.output, sleep, int(BUDGET * self._memory)
        )

    def _job(self, runner: Runner, file: SessionFile, threads: bool = False) -> RunResult:
        """One run in the session of a file."""
        (result,) = self._traced(runner, [bytes(file.path)], threads)
        return result

    def _traced(self, runner: Runner, sessions: list[bytes], threads: bool) -> Generator[RunResult]:
        """Runs of the case; where it has threads, with a trace that nobody reads, since the recorder schedules them."""
        path = runner.sandbox.new_path("schedule")
        trace = TraceRequest(path, RING, ring=True) if threads else None
        try:
            yield from runner.iterate([self.case] * len(sessions), [trace] * len(sessions), sessions)
        finally:
            path.unlink(missing_ok=True)


def open_session(subject: Subject, case: Case, way: Way, plain: FailureSignature | None, reach: int) -> Session:
    """A session that is held to the program's own run of the case, which is made where it is not known."""
    if plain is None and case.command is None:
        with subject.runner() as runner:
            plain = FailureSignature.of(case, runner.run_case(case))
    return Session(subject, case, way, plain, reach)


def _refusal(file: SessionFile) -> str:
    """Why the unaltered run cannot be altered in place."""
    if not file.head["refusal"]:
        return ""
    call, clock = int(file.head["refusal"]) - 1, int(file.head["refusal_clock"])
    made = f"it makes the system call `{system_call_name(call)}`"
    what = "it starts a thread or a process" if call in (CLONE, CLONE3) else made
    return f"{what} at clock {clock}"


def _room(batch: Batch) -> int:
    """Events whose room holds what a batch reads."""
    changes = batch.changes
    read = int(changes["value"][changes["op"] == Op.READ].sum()) + 8 * int((changes["op"] == Op.READ_VALUE).sum())
    return read // EVENT.itemsize + 1


def _settle(file: SessionFile, verdict: Verdict) -> None:
    """What has not been run gets this verdict."""
    file.results["verdict"][file.results["verdict"] == Verdict.NOT_RUN] = verdict


@contextmanager
def _limits(runner: Runner, time: float) -> Iterator[None]:
    """Another time limit for a while (0: none)."""
    before = runner.limits
    runner.limits = replace(before, time=time)
    try:
        yield
    finally:
        runner.limits = before


@contextmanager
def _surviving(file: SessionFile) -> Iterator[None]:
    """The fork server's end is no error here: what it was running is lost, and another one does the rest.

    Where the session is cancelled, nothing was lost: what was running has not been run.
    """
    try:
        with suppress(RunLost):
            yield
    except Cancelled:
        file.head["stop"] = 1
        file.results["verdict"][file.results["verdict"] == Verdict.RUNNING] = Verdict.NOT_RUN


@contextmanager
def _watching(file: SessionFile, seconds: float | None, progress: Progress | None) -> Iterator[None]:
    """Tell the progress while the runtime works, and stop it when the time is over."""
    ended = threading.Event()

    def look() -> None:
        waited = 0.0
        while not ended.wait(0.05):
            waited += 0.05
            if seconds is not None and waited >= seconds:
                file.head["stop"] = 1
            if progress is not None:
                progress(int(file.head["done"]), len(file.results))

    watcher = threading.Thread(target=look, daemon=True)
    if seconds is not None or progress is not None:
        watcher.start()
    try:
        yield
    finally:
        ended.set()
        if watcher.is_alive():
            watcher.join()
