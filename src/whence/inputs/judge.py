"""Runs candidates, many at a time, and says of each whether it is good, shows the same symptom, or neither.

The check has two steps. The cheap one runs every candidate on a variant that holds a fork server, which is many times
faster than starting the program, and judges its result: it fails in the same way as the failing
case if it ends by the same signal, assertion or status, or if bytes of the same stream are wrong, or missing. The exact
one records the candidates that are to be kept, and asks for the same statement as well: the one that crashed, failed
its assertion or wrote the first wrong byte.
"""

from __future__ import annotations

import hashlib
import math
import os
import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import takewhile
from pathlib import Path

from whence.errors import SubjectError, WhenceError
from whence.findings import Symptom
from whence.inputs.channel import Channel
from whence.inputs.oracle import REFERENCE, Criteria, Oracle, Signature, choose_oracle, common_signature, signature_of
from whence.probe.instrument import Variant
from whence.run.cases import Case
from whence.run.oracle import judge
from whence.run.outcome import Kind, Outcome
from whence.run.result import RunResult
from whence.run.runner import Runner
from whence.subject.recorder import Recorder
from whence.subject.subject import Subject
from whence.subject.symptoms import symptom_of

RUNS = 20_000  # candidates that a search may try
BATCH = 64  # candidates that a worker runs between two looks at the clock
IN_FLIGHT = 64 << 20  # bytes of candidates in one batch of all workers
PATIENCE = 20  # a candidate may take this many times as long as the failing case ...
LEAST, MOST = 1.0, 2.0  # ... but at least, and where that does not end at most, so many seconds
REPEATS = 2  # further runs of a failing case that ends, to see whether it is flaky
REMEMBERED = 512  # good inputs, and failing ones, that are kept as they turn up
SMALL = 64 << 10  # bytes of an input that is kept
INTERRUPTED = "interrupted"

Progress = Callable[[int, int], None]


class Verdict(StrEnum):
    """What became of a candidate."""

    GOOD = "good"
    SAME = "same symptom"
    OTHER = "fails otherwise"
    REJECTED = "rejected"
    UNKNOWN = "unknown"  # not run any more, or the reference program has no answer


@dataclass(slots=True, frozen=True)
class Answer:
    """One run of a candidate: its verdict, the case with what was expected, and how it ended."""

    verdict: Verdict
    case: Case
    result: RunResult
    outcome: Outcome
    executions: int = 1


@dataclass(slots=True)
class _Seat:
    """A worker's runners, and the files in which it puts its candidates."""

    runner: Runner
    reference: Runner | None

    def file(self, number: int) -> Path:
        return self.runner.sandbox.root / f"{number}.candidate"

    def close(self) -> None:
        for runner in (self.runner, self.reference):
            if runner is not None:
                runner.close()


@dataclass(slots=True)
class Judge:
    """Judges inputs in place of a failing case's; use it in a ``with`` statement.

    ``runs`` candidates and the time ``deadline`` (of ``time.monotonic``) are the budget; ``stopped`` tells what ended
    the work early ("runs", "time", "interrupted"), after which all that is not known yet is UNKNOWN.

    ``tried`` counts candidates that were run, ``executions`` runs of all programs, ``counts`` the verdicts. ``seen``
    holds the last good and the last failing inputs. Raises SubjectError where the case does not fail, or not every
    time in the same way, and where nothing can tell what is right.
    """

    subject: Subject
    case: Case
    channel: Channel
    criteria: Criteria = field(default_factory=Criteria)
    runs: int = RUNS
    deadline: float | None = None
    workers: int = 0
    progress: Progress | None = None
    trace_limit: int | None = None
    window: int | None = None

    stopped: str = ""
    tried: int = 0
    executions: int = 0
    counts: Counter[Verdict] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    seen: dict[Verdict, deque[bytes]] = field(default_factory=dict)
    oracle: Oracle = field(init=False)
    signature: Signature = field(init=False)
    symptom: Symptom | None = None  # of the failing case, once it has been recorded
    _known: dict[bytes, Verdict] = field(default_factory=dict)
    _exact: dict[bytes, bool] = field(default_factory=dict)
    _plain: _Seat = field(init=False)  # the program as it is, with all its time
    _first: RunResult = field(init=False)  # of the failing case
    _seats: list[_Seat] = field(default_factory=list)  # a variant with a fork server
    _recorder: Recorder | None = None
    _last_run: int = 0
    _last_moment: float = math.inf
    _signals: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> Judge:
        self.seen = {verdict: deque(maxlen=REMEMBERED) for verdict in (Verdict.GOOD, Verdict.SAME)}
        if self.criteria.reference is None and self.subject.reference is not None:
            self.criteria = replace(self.criteria, reference=self.subject.reference)
        self._plain = _Seat(self.subject.runner(confined=True), None)
        self.spend(1.0)
        self._signals.enter_context(self._interruptible())
        try:
            self._open()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all that runs."""
        for seat in [*self._seats, self._plain]:
            seat.close()
        if self._recorder is not None:
            self._recorder.close()
        self._signals.close()

    @contextmanager
    def _interruptible(self) -> Iterator[None]:
        """Let Ctrl-C end the search, so that what has been found stays; a second one ends everything."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def stop(_: int, __: object) -> None:
            if self.stopped == INTERRUPTED:
                raise KeyboardInterrupt
            self.stopped = INTERRUPTED

        before = signal.signal(signal.SIGINT, stop)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    # ---- The failing case --------------------------------------------------------------------------------------------

    def _open(self) -> None:
        """Run the failing case as it is, choose the oracle, and note the symptom."""
        first = self._first = self._plain.runner.run_case(self.case)
        self.oracle = choose_oracle(self.case, first, self.criteria)
        self._plain.reference = self._reference()
        if self._plain.reference is not None:
            self.oracle.statuses |= {self._plain.reference.run_case(self.case).code}
        self.notes.append(self.oracle.note)
        data = self.channel.read(self.case)
        case = self._fleeting_case(data)
        answers = [self._run_plain(case) for _ in range(1 if first.timed_out else 1 + REPEATS)]
        self.signature = self._signature(answers)
        self._locate(answers[0])
        seconds = MOST if first.timed_out else max(LEAST, PATIENCE * first.wall)
        limits = replace(self.subject.limits, time=min(self.subject.limits.time or math.inf, seconds))
        variant = self._variant(answers[0].case)
        for _ in range(self.workers or len(os.sched_getaffinity(0))):
            self._seats.append(_Seat(self.subject.runner(variant, confined=True), self._reference()))
            self._seats[-1].runner.limits = limits
        self._known[key_of(data)], self._exact[key_of(data)] = Verdict.SAME, True

    def _reference(self) -> Runner | None:
        path = self.criteria.reference
        if self.oracle.kind != REFERENCE or path is None:
            return None
        if not path.is_file():
            raise SubjectError(f"no reference program {path}", "build it first, or name another one")
        return Runner(path, self.subject.limits, name=self.subject.name)

    def _variant(self, case: Case) -> Variant | None:
        """The variant that runs candidates: one with a fork server, where the failing case fails in it as it should."""
        if self._recorder is None:
            return None
        with self.subject.runner(Variant.RECORD) as runner:
            run = runner.run_case(case)
        outcome = judge(case, run)
        same = outcome.failed and signature_of(run, outcome) == self.signature
        return Variant.RECORD if same else None

    def _signature(self, answers: Sequence[Answer]) -> Signature:
        """What all runs of the failing input have in common, which is all that can be told."""
        name = self.case.name
        if answers[0].verdict is Verdict.REJECTED:
            raise SubjectError(f"the input of case {name} is itself rejected", "see --rejects and --reference")
        if answers[0].verdict is Verdict.UNKNOWN:
            raise SubjectError(f"the reference program crashes or does not end on case {name}", "it is to be right")
        if any(not answer.outcome.failed for answer in answers):
            if any(answer.outcome.failed for answer in answers):
                raise SubjectError(f"case {name} is flaky: it fails in one run and passes in the next")
            right = "by the reference program " if self.oracle.kind == REFERENCE else ""
            raise SubjectError(f"case {name} does not fail {right}when it is run", "is it the right program?")
        return common_signature(name, [(answer.result, answer.outcome) for answer in answers])

    def _locate(self, answer: Answer) -> None:
        """Record the failing case, for the statement at which the failure shows."""
        try:
            self._recorder = Recorder(self.subject, self.trace_limit, self.window, confined=True)
            self.symptom = symptom_of(self._recorder.record(answer.case, answer.outcome), self.subject.folder)
        except WhenceError as error:
            self.notes.append(f"where the failure shows is not compared: {error}")
            return
        if self.symptom.statement is None:
            self.notes.append("where the failure shows is not compared: it is not known")

    # ---- Candidates --------------------------------------------------------------------------------------------------

    def judge(self, candidates: Sequence[bytes]) -> list[Verdict]:
        """The verdicts on some inputs, by the cheap check; each different one is run once, until the budget is used."""
        keys = [key_of(data) for data in candidates]
        fresh: dict[bytes, bytes] = {}
        for key, data in zip(keys, candidates, strict=True):
            if key not in self._known:
                if self.channel.holds(data):
                    fresh[key] = data
                else:
                    self._known[key] = Verdict.REJECTED
        for batch in self._batches(fresh):
            self._run(batch)
            if self._is_late():
                self.is_over()  # what is missing of the batch is no result
        return [self._known.get(key, Verdict.UNKNOWN) for key in keys]

    def batch_size(self, size: int) -> int:
        """How many candidates of so many bytes are run at a time."""
        return max(1, min(BATCH * len(self._seats), IN_FLIGHT // max(size, 1)))

    def _batches(self, fresh: dict[bytes, bytes]) -> Iterator[list[tuple[bytes, bytes]]]:
        """Batches of new candidates with their keys, as long as the budget lasts."""
        waiting = list(fresh.items())
        while waiting and not self.is_over():
            count = min(self.batch_size(max(len(data) for _, data in waiting)), self._last_run - self.tried)
            yield waiting[:count]
            del waiting[:count]

    def spend(self, share: float) -> None:
        """Let what follows use a share of what is left of the budget; what stopped for want of it may go on."""
        self._last_run = self.tried + int(share * (self.runs - self.tried))
        if self.deadline is not None:
            now = time.monotonic()
            self._last_moment = now + share * max(0.0, self.deadline - now)
        if self.stopped != INTERRUPTED:
            self.stopped = ""

    def is_over(self) -> bool:
        """Whether the budget is used, or the work was interrupted; ``stopped`` tells which."""
        if not self.stopped and self.tried >= self._last_run:
            self.stopped = "runs"
        if not self.stopped and time.monotonic() >= self._last_moment:
            self.stopped = "time"
        return bool(self.stopped)

    def _run(self, batch: list[tuple[bytes, bytes]]) -> None:
        """Run a batch on all workers, and note the verdicts."""
        share = math.ceil(len(batch) / len(self._seats))
        parts = [batch[start : start + share] for start in range(0, len(batch), share)]
        with ThreadPoolExecutor(len(parts)) as pool:
            answers = pool.map(self._part, self._seats[: len(parts)], parts)
            for part, found in zip(parts, answers, strict=True):
                for (key, data), (verdict, executions) in zip(part, found, strict=False):
                    self._note(key, data, verdict)
                    self.executions += executions
        if self.progress is not None:
            self.progress(self.tried, self.runs)

    def _note(self, key: bytes, data: bytes, verdict: Verdict) -> None:
        self.tried += 1
        self.counts[verdict] += 1
        self._known[key] = verdict
        if verdict in self.seen and len(data) <= SMALL:
            self.seen[verdict].append(data)

    def _part(self, seat: _Seat, part: list[tuple[bytes, bytes]]) -> list[tuple[Verdict, int]]:
        """A worker's share of a batch: verdicts in order, as many as were reached, and how many runs each took."""
        cases = [self.channel.put(self.oracle.case, data, file=seat.file(n)) for n, (_, data) in enumerate(part)]
        return [(self._classify(answer), answer.executions) for answer in self._answers(seat, cases)]

    def _answers(self, seat: _Seat, cases: list[Case]) -> Iterator[Answer]:
        """Run cases on the program, and on the reference those that it has to decide, until it is late."""
        until = self._last_moment
        runs = list(takewhile(lambda _: self.stopped != INTERRUPTED, seat.runner.iterate(cases, deadline=until)))
        rights: Iterator[RunResult] = iter(())
        if seat.reference is not None:
            asked = [case for case, run in zip(cases, runs, strict=False) if not self._ends_otherwise(run)]
            rights = seat.reference.iterate(asked, deadline=until)
        for case, run in zip(cases, runs, strict=False):
            if self.stopped == INTERRUPTED:
                return
            if seat.reference is None or not self._ends_otherwise(run):
                right = next(rights, None)
                if right is None and seat.reference is not None:
                    return  # no time was left for it
                yield self._answer(case, run, right)
            else:
                verdict = Verdict.OTHER if run.signal or run.timed_out else Verdict.REJECTED
                yield Answer(verdict, case, run, Outcome(Kind.SKIPPED, f"exit status {run.code}"))

    def _is_late(self) -> bool:
        """Whether no further run counts: after Ctrl-C, or when the time is over."""
        return self.stopped == INTERRUPTED or time.monotonic() >= self._last_moment

    def _ends_otherwise(self, run: RunResult) -> bool:
        """Whether a run ends neither as the failing one nor as a good one does, whatever the reference says."""
        if run.timed_out or self._first.timed_out:
            return run.timed_out != self._first.timed_out and run.code not in self.oracle.statuses
        return run.code not in self.oracle.statuses and run.code != self._first.code

    def _answer(self, case: Case, run: RunResult, right: RunResult | None) -> Answer:
        """The verdict by the oracle alone: whether the symptom is the same is not asked yet."""
        case = replace(case, expected=self.oracle.expected(run, right))
        outcome = judge(case, run)
        if right is not None and (right.timed_out or right.signal):
            verdict = Verdict.UNKNOWN
        elif outcome.kind is Kind.SKIPPED or ((outcome.passed or right is not None) and self._is_refused(run, right)):
            verdict = Verdict.REJECTED
        else:
            verdict = Verdict.GOOD if outcome.passed else Verdict.OTHER
        return Answer(verdict, case, run, outcome, 1 if right is None else 2)

    def _is_refused(self, run: RunResult, right: RunResult | None) -> bool:
        """Whether the input is refused by the reference, or without one by the program."""
        return self.oracle.rejects(run if right is None else right)

    def _classify(self, answer: Answer) -> Verdict:
        """The verdict, now that the symptom of the failing case is known."""
        if answer.verdict is not Verdict.OTHER:
            return answer.verdict
        if signature_of(answer.result, answer.outcome) == self.signature:
            return Verdict.SAME
        is_refusal = self.oracle.kind != REFERENCE and self.oracle.rejects(answer.result)
        return Verdict.REJECTED if is_refusal else Verdict.OTHER

    # ---- Those that are kept -----------------------------------------------------------------------------------------

    def settle(self, data: bytes) -> Answer:
        """Run one input on the plain program; gives its case as it can be run again, with what is expected of it."""
        return self._run_plain(self.channel.put(self.oracle.case, data))

    def _run_plain(self, case: Case) -> Answer:
        reference = self._plain.reference
        right = reference.run_case(case) if reference is not None else None
        answer = self._answer(case, self._plain.runner.run_case(case), right)
        self.executions += answer.executions
        return answer

    def is_same(self, data: bytes) -> bool:
        """Whether an input shows the same symptom, by the exact check."""
        key = key_of(data)
        if self.judge([data]) != [Verdict.SAME]:
            return False
        if key not in self._exact:
            self._exact[key] = self._shows_at_same_place(data)
        return self._exact[key]

    def _fleeting_case(self, data: bytes) -> Case:
        """The case with another input, in a file that the next such case takes over: many large ones may come."""
        return self.channel.put(self.oracle.case, data, file=self._plain.file(0))

    def leave_out(self, data: bytes) -> None:
        """Count an input as rejected from now on, whatever it shows."""
        self._known[key_of(data)] = Verdict.REJECTED

    def _shows_at_same_place(self, data: bytes) -> bool:
        """Record an input. Without a place to compare it is enough that it fails as before when it is run again."""
        answer = self._run_plain(self._fleeting_case(data))
        if self._classify(answer) is not Verdict.SAME:
            return False
        if self._recorder is None or self.symptom is None or self.symptom.statement is None:
            return True
        try:
            recording = self._recorder.record(answer.case, answer.outcome)
        except WhenceError:  # recorded, the input fails in another way or becomes too long: not the same for sure
            return False
        return symptom_of(recording, self.subject.folder).statement == self.symptom.statement


def key_of(data: bytes) -> bytes:
    """What stands for an input, so that large ones need not be kept."""
    return hashlib.blake2b(data, digest_size=16).digest()
