"""Stand-ins for subjects and sessions, for the tests of how altered runs are spread over workers."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from whence.alter.changes import CHANGE, EVENT, RESULT, Batch, Observed, Results, Verdict, Way
from whence.run.cases import Case
from whence.run.outcome import Expected
from whence.run.runner import Cancelled
from whence.run.sandbox import DEFAULT_LIMITS, Limits


def batch(*values: int, site: int = 0) -> Batch:
    """One continuation for each value."""
    return Batch.single(changes(*values, site=site))


def changes(*values: int, site: int = 0) -> NDArray[np.void]:
    """One change for each value, all at one site."""
    found = np.zeros(len(values), CHANGE)
    found["value"], found["site"] = values, site
    return found


def case(name: str, *arguments: str) -> Case:
    """A case with arguments (its name by default)."""
    return Case(name, arguments or (name,), expected=Expected(b""))


@dataclass
class FakeSubject:
    """What ``Work`` asks of a subject; another ``version`` is another program."""

    version: int = 1
    folder: Path = Path("/nowhere")
    executable: Path = Path("/nowhere/prog")
    name: str = "./prog"
    limits: Limits = DEFAULT_LIMITS

    @property
    def fingerprint(self) -> int:
        return self.version

    def variant(self, _: object) -> Path:
        return Path(f"/nowhere/variants/{self.version}/prog")


@dataclass
class Sessions:
    """Opens sessions whose results follow from the changes alone, and notes what was asked of them.

    A continuation takes ``seconds``; a part that may take less than ``least`` does none (``given``: what parts may
    take). ``dies`` is asked before each part with the case's name and the number of parts that were begun before;
    ``before`` is called then too.
    """

    seconds: float = 0.0
    least: float = 0.0
    dies: Callable[[str, int], bool] = lambda _name, _count: False
    before: Callable[[], None] = lambda: None
    opened: list[str] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)
    parts: list[tuple[str, int]] = field(default_factory=list)  # case and number of continuations
    given: list[float] = field(default_factory=list)
    torn: list[str] = field(default_factory=list)  # closed while they were used, or twice
    cancelling: threading.Event = field(default_factory=threading.Event)  # a session has been cancelled
    ran: Counter[tuple[str, bytes]] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, subject: object, case: Case, way: Way, plain: object = None, reach: int = 0) -> FakeSession:
        self.opened.append(case.name)
        return FakeSession(self, case)

    @property
    def continuations(self) -> int:
        """How many were run."""
        return sum(self.ran.values())


@dataclass
class FakeSession:
    """A session of ``Sessions``; it must not be closed while it is used."""

    sessions: Sessions
    case: Case
    is_closed: bool = False
    is_cancelled: bool = False
    is_used: bool = False

    def __enter__(self) -> FakeSession:
        return self

    def __exit__(self, *_: object) -> None:
        if self.is_used or self.is_closed:
            self.sessions.torn.append(self.case.name)
        self.sessions.closed.append(self.case.name)
        self.is_closed = True

    def cancel(self) -> None:
        """From another thread."""
        self.is_cancelled = True
        self.sessions.cancelling.set()

    def observe(self, limit: int = 0) -> Observed:
        """Two instances for each character of the case's name."""
        with self._using(0):
            return Observed(np.zeros(2 * len(self.case.name), EVENT), np.zeros((), RESULT), False)

    def run(self, batch: Batch, *, budget: float, seconds: float, outputs: bool) -> Results:
        with self._using(len(batch)):
            self.sessions.given.append(seconds)
            records = np.zeros(len(batch), RESULT)
            end = time.monotonic() + (seconds if seconds >= self.sessions.least else 0.0)
            texts = [(b"", b"")] * len(batch)
            for row in range(len(batch)):
                if time.monotonic() >= end or self.is_cancelled:
                    break
                if self.sessions.seconds:
                    time.sleep(self.sessions.seconds)
                own = batch.part(row, row + 1).changes
                records[row], texts[row] = outcome(self.case, own, budget)
                with self.sessions.lock:
                    self.sessions.ran[self.case.name, own.tobytes()] += 1
            return Results(records, texts if outputs else None)

    @contextmanager
    def _using(self, count: int) -> Iterator[None]:
        sessions = self.sessions
        with sessions.lock:
            number = len(sessions.parts)
            sessions.parts.append((self.case.name, count))
        self.is_used = True
        try:
            sessions.before()
            if self.is_cancelled:
                raise Cancelled
            if sessions.dies(self.case.name, number):
                raise EOFError("the server has ended")
            yield
        finally:
            self.is_used = False


def outcome(case: Case, own: NDArray[np.void], budget: float) -> tuple[NDArray[np.void], tuple[bytes, bytes]]:
    """What becomes of a continuation with these changes."""
    record = np.zeros((), RESULT)
    total = int(own["value"].sum()) + len(case.name)
    record["verdict"] = Verdict.PASS if total % 3 else Verdict.WRONG_OUTPUT
    record["length"], record["applied"] = total + int(budget), len(own)
    return record, (b"%d" % total, case.name.encode())


def expected(case: Case, batch: Batch, budget: float = 10.0) -> NDArray[np.void]:
    """What must become of a batch, one after the other."""
    records = np.zeros(len(batch), RESULT)
    for row in range(len(batch)):
        records[row] = outcome(case, batch.part(row, row + 1).changes, budget)[0]
    return records


def not_run(records: Sequence[np.void] | NDArray[np.void]) -> int:
    """How many continuations were left out."""
    return int(np.count_nonzero(np.asarray(records)["verdict"] == Verdict.NOT_RUN))
