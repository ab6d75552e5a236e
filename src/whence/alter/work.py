"""Altered runs on all cores, or on a cluster: the way in which techniques run them.

``Work.run`` takes requests of any size and gives results in their order. What it was given before, in this search or in
an earlier one that was stopped, is not run again. A search ends early when its time is over, or with Ctrl-C; what has
not been run is then NOT_RUN.
"""

from __future__ import annotations

import signal
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whence.alter.changes import EVENT, RESULT, Observed, Results, Way
from whence.alter.executors import Workers, cluster_workers, gone, local_workers
from whence.alter.faithful import FailureSignature, Unusable
from whence.alter.run_cache import RunCache, code_version, found_folder, prune
from whence.alter.session import EVENTS, open_session
from whence.alter.streams import Rate, Request, Rows, Stream, merged
from whence.alter.worker import ROOMS, Done, Opener, Place, Room, Seat, lost, observe, run_part
from whence.probe.instrument import Variant
from whence.run.case_key import case_key
from whence.run.cases import Case
from whence.run.runner import Cancelled
from whence.subject.runs import Runs, blocks_executed, like_in_coverage
from whence.subject.subject import Subject

ALIKE = 5  # passing cases that say how long a right run of a failing one may be, at least
TICK = 0.1  # seconds between two looks at the clock
GRACE = 0.4  # seconds that parts may take to end after a stop, before they are cancelled; and after that
BUDGET, INTERRUPT = "budget", "interrupt"  # why a search was stopped

Progress = Callable[[int, int], None]


@dataclass(slots=True)
class _Job:
    """Something for a worker, and what to do with its result or with the news that there is none: the worker has died,
    altered runs of the case prove nothing, the job was cancelled.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    collect: Callable[[Any], None]
    died: Callable[[str], None]
    refused: Callable[[str], None]
    cancelled: Callable[[], None]


class Work:
    """Altered runs of a subject's cases; use it in a ``with`` statement.

    ``runs`` are those of the program itself: a case is altered only where its unaltered run ends in the same way, and
    altered runs may take as long as passing ones that are like it. What ``runs`` do not hold is run when it is asked
    for.
    ``workers`` is the number of cores to use (all), ``cluster`` the address of a Dask scheduler, ``deadline`` when to
    stop (of ``time.monotonic``). ``progress`` is called with the continuations done and asked for so far. With
    ``fresh`` what earlier searches kept is thrown away.

    Of the continuations, ``done`` were run, ``known`` were kept from before, ``left_out`` were NOT_RUN and ``lost``
    took their process down. ``unusable`` tells by the names of cases that were asked for why their altered runs would
    prove nothing; nothing is run for these.
    """

    def __init__(
        self,
        subject: Subject,
        runs: Runs | None = None,
        *,
        workers: int | None = None,
        cluster: str | None = None,
        deadline: float | None = None,
        progress: Progress | None = None,
        fresh: bool = False,
        way: Way = Way.AUTO,
        opener: Opener = open_session,
    ) -> None:
        self.subject, self.deadline, self.fresh = subject, deadline, fresh
        self.unusable: dict[str, str] = {}
        self._runs = runs
        self._stopped = ""
        self.cut_short = self._at_once = False
        self.done = self.known = self.left_out = self.lost = 0
        self._count, self._cluster, self._way, self._opener = workers, cluster, way, opener
        self._progress = progress
        self._token = uuid.uuid4().hex
        self._begun = time.monotonic()
        self._is_open = False
        self._asked = 0
        self._reaches: dict[int, int] = {}  # by row
        self._keys: dict[int, tuple[Case, str]] = {}  # by identity; the case is held so that it stays the same
        self._caches: dict[str, RunCache] = {}
        self._rates: dict[str, Rate] = {}
        self._why_not: dict[str, str] = {}  # by key: why altered runs of the case would prove nothing; "": they tell

    def __enter__(self) -> Work:
        with ExitStack() as stack:
            stack.callback(prune)
            self._workers = self._open_workers()
            stack.callback(self._workers.close, self._token)
            stack.enter_context(self._interrupts())
            self._stack = stack.pop_all()
        self._is_open = True
        return self

    def __exit__(self, *_: object) -> None:
        self._is_open = False
        self._stack.close()

    @property
    def stopped(self) -> str:
        """Why the search is over before its end ("budget", "interrupt"); empty as long as it goes on."""
        if not self._stopped and self.deadline is not None and self._is_open and time.monotonic() >= self.deadline:
            self._stopped = BUDGET
        return self._stopped

    @property
    def seconds(self) -> float:
        """How long the search has taken so far."""
        return time.monotonic() - self._begun

    @property
    def trouble(self) -> str:
        """Why results could not be kept on disk; empty when they were."""
        return next((cache.trouble for cache in self._caches.values() if cache.trouble), "")

    # ---- What techniques ask for -------------------------------------------------------------------------------------

    def observe(self, cases: Sequence[Case], limit: int = EVENTS) -> list[Observed]:
        """The unaltered runs of cases, with ``limit`` instances of sites (``Session.observe``); NOT_RUN after a stop.

        Where altered runs of a case would prove nothing, its ``unusable`` says why.
        """
        found = [Observed(np.zeros(0, EVENT), np.zeros((), RESULT), True, unusable=self._why(case)) for case in cases]
        waiting = deque(row for row, seen in enumerate(found) if not seen.unusable)

        def next_job() -> _Job | None:
            if not waiting:
                return None
            row = waiting.popleft()
            return self._observing(found, row, cases[row], limit, lambda: waiting.append(row))

        self._drive(next_job)
        return found

    def why_not(self, cases: Sequence[Case]) -> list[str]:
        """For each case why its altered runs would prove nothing about the program; empty where they tell of it.

        Its unaltered run tells, once. What a stop has kept from being run is not known: "" then as well.
        """
        self.observe([case for case in cases if self._key(case) not in self._why_not], limit=0)
        return [self._why(case) for case in cases]

    def _observing(
        self, found: list[Observed], row: int, case: Case, limit: int, cancelled: Callable[[], None]
    ) -> _Job:
        """``cancelled`` has it run again: the end of what came before may have taken its session along."""

        def collect(seen: Observed) -> None:
            found[row] = seen
            self._note_why(case, seen.unusable)

        def refuse(why: str) -> None:
            found[row].unusable = why
            self._note_why(case, why)

        return _Job(observe, (self._seat(case), limit), collect, refuse, refuse, cancelled)

    def run(self, requests: Sequence[Request]) -> list[Results]:
        """What became of the continuations of each request; equal ones of one case are run once.

        Those of a case whose altered runs would prove nothing are NOT_RUN.
        """
        streams = self._streams(requests)
        before = self.done
        wanted = sum(stream.waiting for stream in streams)
        self._asked += wanted
        self.known += sum(stream.known for stream in streams)
        self._drive(lambda: self._next_part(streams))
        self.left_out += wanted - (self.done - before)
        answers = dict(answer for stream in streams for answer in stream.answers())
        return [answers[number] for number in range(len(requests))]

    def _streams(self, requests: Sequence[Request]) -> list[Stream]:
        """The requests by case and options, in the order in which they were given."""
        groups: dict[tuple[str, float, bool], list[tuple[int, Request]]] = {}
        for number, request in enumerate(requests):
            key = (self._key(request.case), request.budget, request.outputs)
            groups.setdefault(key, []).append((number, request))
        return [self._stream(group, *key) for key, group in groups.items()]

    def _stream(self, group: list[tuple[int, Request]], key: str, budget: float, outputs: bool) -> Stream:
        seat = self._seat(group[0][1].case)
        batch, names, members = merged(group, f"{budget} {seat.reach} {outputs} {self._way}")
        rate = self._rates.setdefault(key, Rate())
        stream = Stream(seat, budget, outputs, self._cache_of(key), rate, batch, names, members)
        if self._why_not.get(key):
            stream.give_up()
        return stream

    def _next_part(self, streams: list[Stream]) -> _Job | None:
        """A part of the case that the fewest workers run, so that a case mostly stays with one session."""
        stream = min((s for s in streams if s.waiting), key=lambda s: s.running, default=None)
        if stream is None:
            return None
        left = float("inf") if self.deadline is None else self.deadline - time.monotonic()
        rows, part = stream.next_part(self._workers.count, max(left, 0.0))
        collect = partial(self._collect, stream, rows)
        return _Job(
            run_part,
            (part,),
            collect,
            lambda death: collect(Done(lost(part), 0.0, death)),
            partial(self._refuse, stream, rows),
            partial(stream.put_back, rows),
        )

    def _collect(self, stream: Stream, rows: Rows, done: Done) -> None:
        self.done += stream.collect(rows, done)
        if done.death:
            self.lost += len(rows)
        self._note_why(stream.seat.case, "")
        if self._progress is not None:
            self._progress(self.done, self._asked)

    def _refuse(self, stream: Stream, rows: Rows, why: str) -> None:
        """Altered runs of the case would prove nothing: those that are left out are not for want of time."""
        stream.put_back(rows)
        self.left_out -= stream.give_up()
        self._note_why(stream.seat.case, why)

    # ---- Workers -----------------------------------------------------------------------------------------------------

    def _drive(self, next_job: Callable[[], _Job | None]) -> None:
        """Keep the workers busy until there is no further job, or the search is stopped.

        What is at work after a stop has a little time to end by itself, and, cancelled, to hand over what it has.
        """
        flying: dict[Future[Any], _Job] = {}
        try:
            while not self.stopped:
                while len(flying) < self._workers.ahead and (job := next_job()):
                    flying[self._workers.executor.submit(job.function, *job.arguments)] = job
                if not flying:
                    return
                self._finish(flying, self._until_look())
            flying = {future: job for future, job in flying.items() if not future.cancel()}
            self._finish_all(flying)
        finally:
            if [future for future in flying if not future.cancel()]:
                self._workers.abort(self._token)
        self._finish_all(flying)

    def _until_look(self) -> float:
        """Seconds until the next look at the clock."""
        return TICK if self.deadline is None else max(0.0, min(TICK, self.deadline - time.monotonic()))

    def _finish_all(self, flying: dict[Future[Any], _Job]) -> None:
        """Take in what ends of the jobs within the time for that."""
        end = time.monotonic() + GRACE
        while flying and (left := end - time.monotonic()) > 0:
            self._finish(flying, left)

    def _finish(self, flying: dict[Future[Any], _Job], seconds: float) -> None:
        """Take in what is done of the jobs, after waiting for it."""
        for future in wait(flying, seconds, FIRST_COMPLETED).done:
            job = flying.pop(future)
            try:
                result = future.result()
            except Unusable as error:
                job.refused(error.why)
            except Cancelled:
                job.cancelled()
            except self._workers.worker_died as death:
                job.died(str(death))
            except self._workers.lost_touch as error:
                raise gone(self._workers) from error
            else:
                job.collect(result)

    @contextmanager
    def share(self, part: float) -> Iterator[None]:
        """Inside, the search may take this part of the time that is left; what it did not use is there for the next.

        What ran out of its share only does not stop the search: ``cut_short`` tells of it.
        """
        whole = self.deadline
        if whole is not None:
            self.deadline = min(whole, time.monotonic() + part * max(whole - time.monotonic(), 0.0))
        try:
            yield
        finally:
            self.deadline = whole
            if self._stopped == BUDGET:
                self.cut_short = True
                self._stopped = "" if whole is not None and time.monotonic() < whole else BUDGET

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Inside, which is long work without altered runs, Ctrl-C ends the block at once; the search is stopped."""
        self._at_once = True
        try:
            yield
        except KeyboardInterrupt:
            if self.stopped != INTERRUPT:
                raise
        finally:
            self._at_once = False

    @contextmanager
    def _interrupts(self) -> Iterator[None]:
        """The first Ctrl-C ends the search, so that what was found is reported; the second one ends the program."""
        in_main = threading.current_thread() is threading.main_thread()
        if not in_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            yield
            return

        def stop(_: int, __: object) -> None:
            again, self._stopped = bool(self._stopped), INTERRUPT
            if again or self._at_once:
                raise KeyboardInterrupt

        signal.signal(signal.SIGINT, stop)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _open_workers(self) -> Workers:
        if self._cluster is not None:
            return cluster_workers(self._cluster, self._count)
        ROOMS[self._token] = Room(self.subject, self._opener)
        return local_workers(self._count)

    # ---- Cases -------------------------------------------------------------------------------------------------------

    @cached_property
    def _place(self) -> Place:
        subject = self.subject
        folder, executable = subject.folder.absolute(), subject.executable.absolute()
        return Place(self._token, folder, executable, subject.name, subject.limits, subject.fingerprint, self._opener)

    @cached_property
    def _variant(self) -> str:
        """What names the executable by all that it was made of."""
        return self.subject.variant(Variant.ALTER).parent.name

    def _key(self, case: Case) -> str:
        """The hash of a case's content; one whose files cannot be read is unusable, and has a name of its own."""
        if id(case) not in self._keys:
            try:
                key = case_key(self._variant, code_version(), case, self.subject.limits, self.subject.name)
            except OSError as error:
                key = f"unreadable-{id(case)}"
                self._why_not[key] = self.unusable[case.name] = f"cannot read {error.filename}: {error.strerror}"
            self._keys[id(case)] = case, key
        return self._keys[id(case)][1]

    def _seat(self, case: Case) -> Seat:
        return Seat(self._place, case, self._key(case), self._way, self._signatures.get(id(case)), self._reach(case))

    @cached_property
    def _signatures(self) -> dict[int, FailureSignature]:
        """How the program's own runs of cases ended, by the identity of the cases."""
        tested = [] if self._runs is None else self._runs.tested
        return {
            id(one.case): FailureSignature.of(one.case, one.result, one.outcome)
            for one in tested
            if one.case.command is None
        }

    def _reach(self, case: Case) -> int:
        """How long a run of a failing case may be where it is right, by the passing ones that are like it; 0: unknown.

        A passing case's own run is what is right. Of a case that is no case of the subject, nothing but a failing one
        is known. Rounded up to a power of two, so that it seldom changes.
        """
        if self._runs is None or not self._runs.failing or not self._runs.passing:
            return 0
        row = self._rows.get(id(case), self._runs.failing[0])
        if self._runs.tested[row].outcome.passed:
            return 0
        if row not in self._reaches:
            near = like_in_coverage(self._runs, row, ALIKE)
            own = [int(self._lengths[at]) for at in near if self._runs.tested[at].case.command is None]
            self._reaches[row] = 1 << (max(own) - 1).bit_length() if own else 0
        return self._reaches[row]

    @cached_property
    def _rows(self) -> dict[int, int]:
        """The rows of the program's own runs, by the identity of their cases."""
        assert self._runs is not None
        return {id(one.case): row for row, one in enumerate(self._runs.tested)}

    @cached_property
    def _lengths(self) -> NDArray[np.int64]:
        assert self._runs is not None
        return blocks_executed(self.subject, self._runs)

    def _why(self, case: Case) -> str:
        return self._why_not.get(self._key(case), "")

    def _note_why(self, case: Case, why: str) -> None:
        self._why_not[self._key(case)] = why
        if why:
            self.unusable[case.name] = why

    def _cache_of(self, key: str) -> RunCache:
        if key not in self._caches:
            path = found_folder() / key
            if self.fresh:
                path.unlink(missing_ok=True)
            self._caches[key] = RunCache(path)
        return self._caches[key]
