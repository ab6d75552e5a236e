"""Runs cases on a program, through the fork server it holds or through the launcher.

Jobs are handed out ahead of time, so that the server runs the next case while the parent reads and judges the
last. Every run is private: see ``sandbox.py``. Results come in the order of the cases.
"""

from __future__ import annotations

import errno
import math
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from whence.errors import SubjectError, TraceError, WhenceError
from whence.run import protocol
from whence.run.case_folders import CaseFolders, goes_on
from whence.run.cases import Case
from whence.run.left_files import left_files
from whence.run.protocol import Job, Paths, Reply
from whence.run.result import LeftFile, RunResult
from whence.run.sandbox import DEFAULT_LIMITS, Limits, Sandbox, Slot, remove_tree
from whence.run.schedule import Followed
from whence.run.server import Server, has_server

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Counters = NDArray[np.uint32]

AHEAD = 16  # jobs in flight
PATIENCE = 15.0  # seconds beyond a run's limit after which a server that does not answer counts as lost
SHADOW = 0x3000000000 + 0x100000000000 + 0x100000000  # address space of a suppressed run, as in suppress/suppress.c
AHEAD_SUITE = 2  # each of them takes a copy of a whole folder
SHELL = Path("/bin/sh")
OF_THE_SANDBOX = (protocol.AT_FOLDER, protocol.AT_INPUT, protocol.AT_OUTPUT, protocol.AT_ERRORS, protocol.AT_MATRIX)
HARMED = "what a program does to the folder that it runs in, and around it, cannot always be undone"

Progress = Callable[[int, int], None]


@dataclass(slots=True, frozen=True)
class TraceRequest:
    """Where a run's trace goes (for a command: a folder, one file a process), and how much of it."""

    path: Path
    limit: int  # bytes
    ring: bool = False  # keep the end rather than the beginning
    end_at_limit: bool = False  # no command: the run need not go on when its trace has reached the limit


class Cancelled(Exception):
    """The runner was cancelled (``Runner.cancel``) while it ran something, or before."""


class RunLost(SubjectError):
    """A run could not be made, or not to its end: what it ran, or what ran before, has harmed what is around it.

    The next run has a new server and an empty folder.
    """


class ServerLost(RunLost):
    """The fork server has ended or was stopped while it ran something, by what it ran; or it was killed with it."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a batch: its children have been ended, ``results`` are those of the cases done."""

    def __init__(self, results: list[RunResult]) -> None:
        super().__init__()
        self.results = results


@dataclass(slots=True)
class _Request:
    """One run that was asked for."""

    case: Case
    trace: TraceRequest | None
    session: bytes


@dataclass(slots=True)
class _Flight:
    """A job that the server has, and what its result will need."""

    case: Case
    slot: Slot
    trace: Path | None
    row: int


@dataclass(slots=True)
class _Batch:
    """What the runs of one call share."""

    server: Server
    slots: list[Slot]
    native: bool
    matrix: Counters | None = None
    matrix_path: Path | None = None
    flights: deque[_Flight] = field(default_factory=deque)
    is_hanging: bool = False  # the server does not answer


class Runner:
    """Runs cases on one executable, in a sandbox of its own. Close it, or use it in a ``with`` statement.

    ``name`` is the program's ``argv[0]`` (its file name after ``./`` by default). With ``coverage`` the
    counters of a cover variant are read; what is ``confined`` cannot harm others (``confinement.py``). Raises
    SubjectError when the executable cannot be read.

    A runner belongs to one thread, which alone runs cases and closes it. What other threads may do is to cancel it: the
    owner's call then ends at once with Cancelled, and so does every later one.
    """

    def __init__(
        self,
        executable: Path,
        limits: Limits = DEFAULT_LIMITS,
        *,
        name: str | None = None,
        coverage: bool = False,
        confined: bool = False,
    ) -> None:
        self.executable = executable.resolve()
        self.limits = limits
        self.name = name or f"./{executable.name}"
        self.coverage = coverage
        self.confined = confined
        self.native = has_server(self.executable)
        self.sandbox = Sandbox()
        self._servers: dict[bool, Server] = {}  # by whether they run the shell
        self._folders = CaseFolders(self.sandbox, self.executable)
        self._changing = threading.Lock()  # of `_servers` and `_is_cancelled`
        self._is_cancelled = False

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the servers with all they run, and remove the sandbox."""
        self._stop_servers()
        self.sandbox.close()

    def stand_in(self, program: Path) -> None:
        """From now on put this program, not the executable, into folders of suites."""
        self._folders.program = program

    def cancel(self) -> None:
        """From any thread: let what is being run end at once; the owner's call raises Cancelled."""
        with self._changing:
            self._is_cancelled = True
            for server in self._servers.values():
                server.abort()

    def _stop_servers(self) -> None:
        with self._changing:
            ended = list(self._servers.values())
            self._servers.clear()
        for server in ended:
            server.close()

    # ---- Batches -----------------------------------------------------------------------------------------------------

    def run_case(self, case: Case, trace: TraceRequest | None = None, session: bytes = b"") -> RunResult:
        """Run one case, with a trace if one is asked for, in a session if one is named."""
        return self.run_cases([case], traces=[trace], sessions=[session])[0]

    def run_cases(
        self,
        cases: Sequence[Case],
        *,
        traces: Sequence[TraceRequest | None] | None = None,
        sessions: Sequence[bytes] | None = None,
        progress: Progress | None = None,
    ) -> list[RunResult]:
        """Run the cases and return their results in order; ``progress`` is called with (done, all) after
        each. ``sessions`` are those of altered runs (``Paths.session``).

        Raises SubjectError when a case cannot be run, Cancelled after ``cancel``, and Interrupted on Ctrl-C, with the
        results so far.
        """
        results: list[RunResult] = []
        try:
            for result in self.iterate(cases, traces, sessions):
                results.append(result)
                if progress:
                    progress(len(results), len(cases))
        except KeyboardInterrupt as interrupt:
            raise Interrupted(results) from interrupt
        return results

    def iterate(
        self,
        cases: Sequence[Case],
        traces: Sequence[TraceRequest | None] | None = None,
        sessions: Sequence[bytes] | None = None,
        deadline: float = math.inf,
    ) -> Iterator[RunResult]:
        """Yield the results of the cases in order, as ``run_cases`` does, of those that end by ``deadline``."""
        requests = zip(cases, traces or [None] * len(cases), sessions or [b""] * len(cases), strict=True)
        for is_command, group in groupby(requests, lambda request: request[0].command is not None):
            if time.monotonic() >= deadline:
                return
            yield from self._run_batch([_Request(*request) for request in group], is_command, deadline)

    def _run_batch(self, requests: list[_Request], is_command: bool, deadline: float) -> Iterator[RunResult]:
        self._check_cancelled()
        batch = self._new_batch(requests, is_command)
        try:
            for row, request in enumerate(requests):
                if len(batch.flights) == len(batch.slots):
                    yield self._land(batch, deadline)
                self._send(batch, request, row)
            while batch.flights:
                yield self._land(batch, deadline)
            if not self._folders.is_known(batch.slots[0]):
                remove_tree(batch.slots[0].spare)
        except TimeoutError:
            return  # what is in flight is ended below
        except EOFError as error:
            self._check_cancelled()
            case = batch.flights[0].case if batch.flights else requests[0].case
            did = "stopped" if batch.is_hanging else "ended"
            hint = "what it does to its parent process cannot be looked at"
            raise ServerLost(f"case {case.name}: the fork server was {did} by the program it ran", hint) from error
        except OSError as error:  # of files and folders of the sandbox, which the program can get at
            case = batch.flights[0].case if batch.flights else requests[0].case
            raise RunLost(f"case {case.name}: cannot run it: {error}", HARMED) from error
        finally:
            if batch.flights or batch.server.is_lost:  # nothing may go on running, nor be left to the next run
                self._stop_servers()
                self.sandbox.clear()
            elif self.limits.aslr and batch.native:
                self._stop_servers()  # what it forks has its addresses: the next one has others

    def _check_cancelled(self) -> None:
        if self._is_cancelled:
            raise Cancelled

    def _new_batch(self, requests: list[_Request], is_command: bool) -> _Batch:
        ahead = AHEAD
        if is_command:
            ahead = 1 if any(goes_on(request.case) for request in requests) else AHEAD_SUITE
        batch = _Batch(self._server(is_command), self.sandbox.slots(ahead), self.native and not is_command)
        if self.coverage and batch.native and batch.server.sites:
            batch.matrix_path = self.sandbox.new_path("matrix")
            batch.matrix = _map_matrix(batch.matrix_path, len(requests), batch.server.sites)
        return batch

    def _server(self, is_command: bool) -> Server:
        if is_command not in self._servers:
            native = self.native and not is_command
            environment = self.sandbox.environment({}) if native else []
            if native and self.coverage:
                environment.append(b"WHENCE_COVERAGE=" + bytes(self.sandbox.new_path("counters")))
            executable = SHELL if is_command else self.executable
            log = self.sandbox.root / "server.err"
            self._start(is_command, Server(executable, native, self.name, environment, log, self.limits.aslr))
        return self._servers[is_command]

    def _start(self, is_command: bool, server: Server) -> None:
        """Wait for a new server; from the start it can be cancelled."""
        with self._changing:
            self._servers[is_command] = server
            if self._is_cancelled:
                server.abort()
        try:
            server.greet()
        except SubjectError:
            self._stop_servers()
            self._check_cancelled()
            raise

    # ---- A job -------------------------------------------------------------------------------------------------------

    def _send(self, batch: _Batch, request: _Request, row: int) -> None:
        case, trace = request.case, request.trace
        slot = batch.slots[row % len(batch.slots)]
        try:
            job = self._job(batch, request, slot)
        except UnicodeEncodeError as error:
            raise SubjectError(f"case {case.name}: an argument or variable cannot be passed on: {error}") from error
        job.row = row if batch.matrix is not None else -1
        if self._folders.make_ready(case, slot):
            job.flags |= protocol.PREPARED
        try:
            batch.server.send(job)
        except ValueError as error:
            raise SubjectError(f"case {case.name}: {error}") from error
        batch.flights.append(_Flight(case, slot, trace.path if trace else None, row))

    def _job(self, batch: _Batch, request: _Request, slot: Slot) -> Job:
        limits, case, trace = self.limits, request.case, request.trace
        stdin = case.stdin if isinstance(case.stdin, Path) else self.sandbox.input_path(case.stdin or b"")
        paths = Paths(
            bytes(self.sandbox.work),
            bytes(slot.spare),
            bytes(stdin),
            bytes(slot.stdout),
            bytes(slot.stderr),
            trace=bytes(trace.path) if trace and batch.native else b"",
            matrix=bytes(batch.matrix_path) if batch.matrix_path else b"",
            session=request.session if batch.native else b"",
        )
        if case.schedule is not None:
            _schedule_of(slot).write_bytes(case.schedule.encode())
            paths.schedule = bytes(_schedule_of(slot)) if batch.native else b""
        words = [self.name, *case.arguments] if case.command is None else ["sh", "-c", case.command]
        variables = case.environment
        if case.place is not None:
            work, place = str(self.sandbox.work), case.place
            words = [place.moved(word, work) for word in (place.called, *case.arguments)]
            variables = {name: place.moved(value, work) for name, value in variables.items()}
            paths.start = os.fsencode(place.folder)
        settings = {} if batch.native else self._settings(request, slot)
        shadow = SHADOW if limits.memory and "WHENCE_POINTS" in settings else 0
        return Job(
            paths,
            [os.fsencode(word) for word in words],
            self.sandbox.environment({**limits.variables(), **variables, **settings}),
            wall_ms=math.ceil(limits.time * 1000) or (1 << 32) - 1,
            cpu_s=math.ceil(limits.time) + 1 if limits.time else 0,
            memory=limits.memory + shadow,
            output=limits.output,
            processes=limits.processes,
            flags=(_kept(trace) if trace else 0) | (protocol.CONFINED if self.confined else 0),
            trace_limit=trace.limit if trace else 0,
        )

    def _settings(self, request: _Request, slot: Slot) -> dict[str, str]:
        """The variables that tell an instrumented program what to do when no server does."""
        settings, case, trace = {}, request.case, request.trace
        if request.session and case.command is not None:
            settings["WHENCE_POINTS"] = os.fsdecode(request.session)
        if case.schedule is not None:
            settings["WHENCE_SCHEDULE"] = str(_schedule_of(slot))
        if self.coverage:
            settings["WHENCE_COVERAGE"] = str(_counters_of(slot))
        if trace:
            path = f"{trace.path}/" if case.command is not None else str(trace.path)
            if case.command is not None:
                trace.path.mkdir(parents=True, exist_ok=True)
            settings |= {"WHENCE_TRACE": path, "WHENCE_TRACE_LIMIT": str(trace.limit)}
            settings["WHENCE_RING"] = str(int(trace.ring))
        return settings

    # ---- A result ----------------------------------------------------------------------------------------------------

    def _land(self, batch: _Batch, deadline: float) -> RunResult:
        """Wait for the oldest job and return its result. Raises TimeoutError when it does not come in time."""
        reply = self._reply(batch, deadline)
        flight = batch.flights[0]  # until its result is there: what fails on the way is this case's
        if reply.stage:
            raise self._failed_start(flight, reply)
        self.sandbox.check_room()
        stdout, stderr = flight.slot.output()
        result = RunResult(
            flight.case,
            None if reply.signal else reply.status,
            reply.signal,
            bool(reply.flags & protocol.TIMED_OUT) or reply.signal == signal.SIGXCPU,
            bool(reply.flags & protocol.TOO_MANY_PROCESSES),
            stdout,
            stderr,
            reply.wall_us / 1e6,
            reply.max_rss_kb,
            self._coverage(batch, flight),
            flight.trace,
            bool(reply.flags & protocol.DEADLOCKED),
            Followed.decode(_schedule_of(flight.slot).read_bytes()) if flight.case.schedule else None,
            _left_by(flight) if reply.flags & protocol.SPARE_USED else {},
        )
        if result.status == protocol.START_FAILED and stderr.startswith(b"whence: cannot "):
            raise TraceError(f"case {flight.case.name}: {stderr.decode(errors='replace').splitlines()[0][8:]}")
        is_used_again = goes_on(flight.case) or self._folders.is_known(flight.slot)
        if reply.flags & protocol.SPARE_USED and not is_used_again:
            remove_tree(flight.slot.spare)
        batch.flights.popleft()
        return result

    def _reply(self, batch: _Batch, deadline: float) -> Reply:
        """The reply to the oldest job. A server that does not answer, since it was stopped, counts as lost."""
        patience = time.monotonic() + self.limits.time + PATIENCE if self.limits.time else math.inf
        try:
            return batch.server.receive(min(patience, deadline))
        except TimeoutError as error:
            if patience > deadline:
                raise
            batch.is_hanging = batch.server.is_lost = True
            raise EOFError from error

    def _failed_start(self, flight: _Flight, reply: Reply) -> WhenceError:
        if reply.error == errno.ENOSPC:
            return self.sandbox.full_disk()
        what = protocol.STAGES[reply.stage]
        message = f"case {flight.case.name}: cannot {what}: {os.strerror(reply.error)}"
        if reply.stage in OF_THE_SANDBOX:
            return RunLost(message, HARMED)
        return TraceError(message) if reply.stage == protocol.AT_TRACE else SubjectError(message)

    def _coverage(self, batch: _Batch, flight: _Flight) -> Counters | None:
        if batch.matrix is not None:
            row: Counters = batch.matrix[flight.row]
            return row
        path = _counters_of(flight.slot)
        if batch.native or not self.coverage or not path.exists():
            return None
        import numpy as np

        counters = np.fromfile(path, dtype=np.uint32)
        path.unlink()
        return counters


def _left_by(flight: _Flight) -> dict[str, LeftFile]:
    """The files that the run has left, as far as they are compared, or as its case's expectation is to be learned."""
    case, expected = flight.case, flight.case.expected
    if case.command is not None or (expected is not None and not expected.files):
        return {}
    return left_files(flight.slot.spare, None if expected is None else [name for name, _ in expected.files])


def _kept(trace: TraceRequest) -> int:
    """The flags of a job that say what of a long trace is kept."""
    return (protocol.RING if trace.ring else 0) | (protocol.END_AT_LIMIT if trace.end_at_limit else 0)


def _counters_of(slot: Slot) -> Path:
    """The file that an instrumented program without a server counts into."""
    return slot.stdout.with_suffix(".counters")


def _schedule_of(slot: Slot) -> Path:
    """The file of the schedule of a run."""
    return slot.stdout.with_suffix(".schedule")


def _map_matrix(path: Path, rows: int, sites: int) -> Counters:
    import numpy as np

    return np.memmap(path, np.uint32, "w+", shape=(rows, sites))
