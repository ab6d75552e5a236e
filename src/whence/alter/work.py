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
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from whence.alter.changes import EVENT, RESULT, Observed, Results, Way
from whence.alter.executors import Workers, cluster_workers, gone, local_workers
from whence.alter.kept import Kept, case_key, found_folder, prune
from whence.alter.session import EVENTS, Session
from whence.alter.streams import Rate, Request, Rows, Stream, merged
from whence.alter.worker import ROOMS, Done, Opener, Place, Room, Seat, lost, observe, run_part
from whence.errors import SubjectError
from whence.probe.instrument import Variant
from whence.run.cases import Case
from whence.subject.subject import Subject

TICK = 0.1  # seconds between two looks at the clock
GRACE = 3.0  # seconds that parts may take to end after a stop, before their sessions are closed
BUDGET, INTERRUPT = "budget", "interrupt"  # why a search was stopped

Progress = Callable[[int, int], None]


@dataclass(slots=True)
class _Job:
    """Something for a worker: what to do with its result, and with the news that the worker has died."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    collect: Callable[[Any], None]
    died: Callable[[str], None]


class Work:
    """Altered runs of a subject's cases; use it in a ``with`` statement.

    ``workers`` is the number of cores to use (all), ``cluster`` the address of a Dask scheduler, ``deadline`` when to
    stop (of ``time.monotonic``). ``progress`` is called with the continuations done and asked for so far. With
    ``fresh`` what earlier searches kept is thrown away.

    ``stopped`` says why the search ended early ("budget", "interrupt"), else it is empty. Of the continuations,
    ``done`` were run, ``known`` were kept from before, ``left_out`` were NOT_RUN and ``lost`` took their process down.
    """

    def __init__(
        self,
        subject: Subject,
        *,
        workers: int | None = None,
        cluster: str | None = None,
        deadline: float | None = None,
        progress: Progress | None = None,
        fresh: bool = False,
        way: Way = Way.AUTO,
        opener: Opener = Session,
    ) -> None:
        self.subject, self.deadline, self.fresh = subject, deadline, fresh
        self.stopped = ""
        self.cut_short = self._at_once = False
        self.done = self.known = self.left_out = self.lost = 0
        self._count, self._cluster, self._way, self._opener = workers, cluster, way, opener
        self._progress = progress
        self._token = uuid.uuid4().hex
        self._begun = time.monotonic()
        self._asked = 0
        self._keys: dict[int, tuple[Case, str]] = {}  # by identity; the case is held so that it stays the same
        self._kept: dict[str, Kept] = {}
        self._rates: dict[str, Rate] = {}

    def __enter__(self) -> Work:
        with ExitStack() as stack:
            stack.callback(prune)
            self._workers = self._open_workers()
            stack.callback(self._workers.close, self._token)
            stack.enter_context(self._interrupts())
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def seconds(self) -> float:
        """How long the search has taken so far."""
        return time.monotonic() - self._begun

    @property
    def trouble(self) -> str:
        """Why results could not be kept on disk; empty when they were."""
        return next((kept.trouble for kept in self._kept.values() if kept.trouble), "")

    # ---- What techniques ask for -------------------------------------------------------------------------------------

    def observe(self, cases: Sequence[Case], limit: int = EVENTS) -> list[Observed]:
        """The unaltered runs of cases, with the first ``limit`` instances of sites; NOT_RUN after a stop."""
        found = [Observed(np.zeros(0, EVENT), np.zeros((), RESULT), True) for _ in cases]
        jobs = (
            _Job(observe, (self._seat(case), limit), partial(found.__setitem__, row), partial(_no_run, case))
            for row, case in enumerate(cases)
        )
        self._drive(lambda: next(jobs, None))
        return found

    def run(self, requests: Sequence[Request]) -> list[Results]:
        """What became of the continuations of each request; equal ones of one case are run once."""
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
            key = (self._seat(request.case).key, request.budget, request.outputs)
            groups.setdefault(key, []).append((number, request))
        return [self._stream(group, *key) for key, group in groups.items()]

    def _stream(self, group: list[tuple[int, Request]], key: str, budget: float, outputs: bool) -> Stream:
        batch, names, members = merged(group, f"{budget} {outputs} {self._way}")
        seat = self._seat(group[0][1].case)
        rate = self._rates.setdefault(key, Rate())
        return Stream(seat, budget, outputs, self._kept_of(key), rate, batch, names, members)

    def _next_part(self, streams: list[Stream]) -> _Job | None:
        """A part of the case that the fewest workers run, so that a case mostly stays with one session."""
        stream = min((s for s in streams if s.waiting), key=lambda s: s.running, default=None)
        if stream is None:
            return None
        left = float("inf") if self.deadline is None else self.deadline - time.monotonic()
        rows, part = stream.next_part(self._workers.count, max(left, 0.0))
        collect = partial(self._collect, stream, rows)
        return _Job(run_part, (part,), collect, lambda death: collect(Done(lost(part), 0.0, death)))

    def _collect(self, stream: Stream, rows: Rows, done: Done) -> None:
        self.done += stream.collect(rows, done)
        if done.death:
            self.lost += len(rows)
        if self._progress is not None:
            self._progress(self.done, self._asked)

    # ---- Workers -----------------------------------------------------------------------------------------------------

    def _drive(self, next_job: Callable[[], _Job | None]) -> None:
        """Keep the workers busy until there is no further job, or the search is stopped."""
        flying: dict[Future[Any], _Job] = {}
        try:
            while not self._is_over():
                while len(flying) < self._workers.ahead and (job := next_job()):
                    flying[self._workers.executor.submit(job.function, *job.arguments)] = job
                if not flying:
                    return
                self._finish(flying, TICK)
            flying = {future: job for future, job in flying.items() if not future.cancel()}
            end = time.monotonic() + GRACE
            while flying and time.monotonic() < end:
                self._finish(flying, GRACE)
        finally:
            if [future for future in flying if not future.cancel()]:
                self._workers.abort(self._token)

    def _finish(self, flying: dict[Future[Any], _Job], seconds: float) -> None:
        """Take in what is done of the jobs, after waiting for it."""
        for future in wait(flying, seconds, FIRST_COMPLETED).done:
            job = flying.pop(future)
            try:
                result = future.result()
            except self._workers.worker_died as death:
                job.died(str(death))
            except self._workers.lost_touch as error:
                raise gone(self._workers) from error
            else:
                job.collect(result)

    def _is_over(self) -> bool:
        if not self.stopped and self.deadline is not None and time.monotonic() >= self.deadline:
            self.stopped = BUDGET
        return bool(self.stopped)

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
            if self.stopped == BUDGET:
                self.cut_short = True
                self.stopped = "" if whole is not None and time.monotonic() < whole else BUDGET

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
            again, self.stopped = bool(self.stopped), INTERRUPT
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

    def _seat(self, case: Case) -> Seat:
        if id(case) not in self._keys:
            try:
                key = case_key(self._variant, case, self.subject.limits, self.subject.name)
            except OSError as error:
                raise SubjectError(f"case {case.name}: cannot read {error.filename}: {error.strerror}") from error
            self._keys[id(case)] = case, key
        return Seat(self._place, case, self._keys[id(case)][1], self._way)

    def _kept_of(self, key: str) -> Kept:
        if key not in self._kept:
            path = found_folder() / key
            if self.fresh:
                path.unlink(missing_ok=True)
            self._kept[key] = Kept(path)
        return self._kept[key]


def _no_run(case: Case, death: str) -> None:
    raise SubjectError(f"case {case.name}: the worker that observed it died: {death}")
