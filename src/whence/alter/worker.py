"""What a worker does, a thread here or a process of a cluster: open sessions, keep them, run parts of batches.

Everything that is sent to a worker can be pickled: a ``Place`` says where the program lies, a ``Seat`` which case to
run, a ``Part`` with what changes.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np

from whence.alter.changes import RESULT, Batch, Observed, Results, Verdict, Way
from whence.alter.faithful import NEED_NONE, FailureSignature, Unusable
from whence.errors import SubjectError, WhenceError
from whence.run.cases import Case
from whence.run.runner import Cancelled
from whence.run.sandbox import Limits
from whence.subject.subject import Subject

IDLE = 32  # sessions that a worker keeps for later parts; those used least lately are closed
FORGOTTEN = 600.0  # seconds after which a room is closed whose client has gone without a word
DEATHS = (SubjectError, EOFError, ConnectionError)  # what a session raises whose processes have ended

T = TypeVar("T")


class Altering(Protocol):
    """What is asked of a session (``session.Session``)."""

    def observe(self, limit: int = ...) -> Observed:
        """The unaltered run."""

    def run(self, batch: Batch, *, budget: float, seconds: float, outputs: bool) -> Results:
        """What becomes of continuations; those not done within ``seconds`` are NOT_RUN."""

    def cancel(self) -> None:
        """From another thread: let what is asked for end at once."""


Opener = Callable[[Subject, Case, Way, FailureSignature | None, int], AbstractContextManager[Altering]]


@dataclass(frozen=True, slots=True)
class Place:
    """What a worker needs to open the subject; ``token`` tells one ``Work`` from others that share the worker."""

    token: str
    folder: Path
    executable: Path
    name: str
    limits: Limits
    fingerprint: int
    opener: Opener


@dataclass(frozen=True, slots=True)
class Seat:
    """One case to run: ``key`` is the hash of its content.

    ``plain`` is how the program itself ends (None: not known yet), ``reach`` the length in clock ticks that a
    right run may have.
    """

    place: Place
    case: Case
    key: str
    way: Way
    plain: FailureSignature | None = None
    reach: int = 0


@dataclass(frozen=True, slots=True)
class Part:
    """Continuations to run, in at most ``seconds``."""

    seat: Seat
    batch: Batch
    budget: float
    outputs: bool
    seconds: float


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a part, the seconds that it took (without opening a session), and what its session died of."""

    results: Results
    seconds: float
    death: str = ""


def run_part(part: Part) -> Done:
    """Run a part in a session of its case.

    A session that dies is opened again once and the part repeated; if it dies again, its continuations are LOST.
    Raises Unusable where altered runs of the case prove nothing or cannot be made, BuildError or SubjectError where the
    program cannot be opened, Cancelled where its sessions were closed meanwhile.
    """

    def run(session: Altering) -> Done:
        begun = time.perf_counter()
        results = session.run(part.batch, budget=part.budget, seconds=part.seconds, outputs=part.outputs)
        return Done(results, time.perf_counter() - begun)

    try:
        return _twice(part.seat, run)
    except _Died as death:
        return Done(lost(part), 0.0, str(death))


def observe(seat: Seat, limit: int) -> Observed:
    """The unaltered run of a case. Raises as ``run_part``, and Unusable where its session dies twice."""
    try:
        return _twice(seat, lambda session: session.observe(limit))
    except _Died as death:
        raise Unusable(seat.case.name, f"its run cannot be observed: {death}") from death


def _twice(seat: Seat, function: Callable[[Altering], T]) -> T:
    """What a function makes of a session of the case; once more if the session dies. Raises _Died after that."""
    room = room_of(seat.place)
    try:
        return room.use(seat, function)
    except _Died:
        return room.use(seat, function)


def lost(part: Part) -> Results:
    """The results of a part whose session or worker has died: all LOST."""
    records = np.zeros(len(part.batch), RESULT)
    records["verdict"] = Verdict.LOST
    return Results(records, [(b"", b"")] * len(records) if part.outputs else None)


# ---- Sessions --------------------------------------------------------------------------------------------------------


class _Died(Exception):
    """A session's processes have ended."""


@dataclass(slots=True, eq=False)
class _Open:
    """An open session. Once cancelled it is good for nothing, though what ran in it may have ended as always."""

    key: tuple[str, Way]
    manager: AbstractContextManager[Altering]
    session: Altering
    is_cancelled: bool = False

    def close(self) -> None:
        """End its processes."""
        self.manager.__exit__(None, None, None)


@dataclass
class Room:
    """A subject on this worker, with its sessions; the idle ones are in the order of their last use.

    A session is used and closed by the thread that has it: an idle one is nobody's until it is taken out of the list. A
    busy one can only be cancelled by others, whereupon its thread closes it and ends with Cancelled.
    """

    subject: Subject
    opener: Opener
    used: float = field(default_factory=time.monotonic)
    _idle: list[_Open] = field(default_factory=list)
    _busy: list[_Open] = field(default_factory=list)
    _is_closed: bool = False
    _cancels: int = 0  # how often all that was at work has been cancelled
    _is_known: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _first: threading.Lock = field(default_factory=threading.Lock)

    def use(self, seat: Seat, function: Callable[[Altering], T]) -> T:
        """What a function makes of a session of the case.

        Raises _Died where the session died meanwhile, Cancelled where the room was closed.
        """
        opened = self._take(seat)
        try:
            result = function(opened.session)
        except BaseException as error:
            with self._lock:
                self._busy.remove(opened)
            opened.close()
            if isinstance(error, DEATHS) and not isinstance(error, Unusable):
                raise _Died(str(error) or type(error).__name__) from error
            raise
        self._put(opened)
        return result

    def cancel(self) -> None:
        """End what is done with a session at this moment: its thread gets Cancelled."""
        with self._lock:
            self._cancels += 1
            for opened in self._busy:
                opened.is_cancelled = True
                opened.session.cancel()

    def close(self) -> None:
        """Close all sessions; what is done with one at this moment ends soon, by its thread."""
        with self._lock:
            self._is_closed = True
            ended, self._idle = self._idle, []
        self.cancel()
        for opened in ended:
            opened.close()

    def _take(self, seat: Seat) -> _Open:
        """An idle session of the case, or a new one."""
        key = (seat.key, seat.way)
        with self._lock:
            if self._is_closed:
                raise Cancelled
            cancels = self._cancels
            self.used = time.monotonic()
            found = next((opened for opened in reversed(self._idle) if opened.key == key), None)
            if found is not None:
                self._idle.remove(found)
                self._busy.append(found)
                return found
        with nullcontext() if self._is_known else self._first:  # what the subject tells of itself is found out once
            opened = self._open(key, seat)
            self._is_known = True
        with self._lock:
            if self._cancels == cancels:
                self._busy.append(opened)
                return opened
        opened.close()
        raise Cancelled

    def _open(self, key: tuple[str, Way], seat: Seat) -> _Open:
        try:
            manager = self.opener(self.subject, seat.case, seat.way, seat.plain, seat.reach)
            return _Open(key, manager, manager.__enter__())
        except Unusable:
            raise
        except SubjectError as error:
            why = str(error).removeprefix(f"case {seat.case.name}: ")
            raise Unusable(seat.case.name, why, error.hint or NEED_NONE) from error

    def _put(self, opened: _Open) -> None:
        """Keep a session for later, unless it was cancelled."""
        with self._lock:
            self.used = time.monotonic()
            self._busy.remove(opened)
            self._idle.append(opened)
            excess = self._idle[: len(self._idle) if self._is_closed else -IDLE]
            if opened.is_cancelled and opened not in excess:
                excess.append(opened)
            self._idle = [kept for kept in self._idle if kept not in excess]
        for old in excess:
            old.close()


ROOMS: dict[str, Room] = {}  # of this process, by the token of their Work
_ROOMS_LOCK = threading.Lock()


def room_of(place: Place) -> Room:
    """The room of a place, opened when first asked for. Raises SubjectError where another program lies there."""
    with _ROOMS_LOCK:
        if place.token not in ROOMS:
            now = time.monotonic()
            for token in [t for t, room in ROOMS.items() if now - room.used > FORGOTTEN]:
                ROOMS.pop(token).close()
            ROOMS[place.token] = Room(_subject_at(place), place.opener)
        return ROOMS[place.token]


def cancel_room(token: str) -> None:
    """End what is being done for a Work at this moment; its sessions are opened again when they are asked for."""
    with _ROOMS_LOCK:
        room = ROOMS.get(token)
    if room is not None:
        room.cancel()


def close_room(token: str) -> None:
    """Close the sessions that were opened for a Work; nothing where there are none."""
    with _ROOMS_LOCK:
        room = ROOMS.pop(token, None)
    if room is not None:
        room.close()


def _subject_at(place: Place) -> Subject:
    """The subject, if the program that this machine sees is the one that is searched."""
    here = f"worker {socket.gethostname()}"
    subject = Subject(place.folder, place.executable, [], place.limits, place.name)
    try:
        fingerprint = subject.fingerprint
    except (WhenceError, OSError) as error:
        hint = "workers need the program's folder and Whence's folder (WHENCE_HOME) under the same names"
        raise SubjectError(f"{here} cannot open {place.executable}: {error}", hint) from error
    if fingerprint != place.fingerprint:
        raise SubjectError(f"{here} sees another program at {place.executable}", "build it there again, or share it")
    return subject
