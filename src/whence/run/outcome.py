"""The vocabulary of verdicts: what a case expects, how a run can end, and an outcome with its details."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from whence.run.compare import Difference


class Kind(StrEnum):
    """The outcomes of a run."""

    PASS = "pass"
    WRONG_OUTPUT = "wrong output"
    WRONG_STATUS = "wrong status"
    CRASH = "crash"
    ASSERTION = "assertion"
    TIMEOUT = "timeout"
    MEMORY = "memory error"  # nothing else is wrong, and `[compare] memory` asks for it
    SKIPPED = "skipped"  # a test of an existing suite that says it cannot run here


class Rule(StrEnum):
    """What of a run tells the verdict: what it wrote and its status, its status alone, or a test report it
    wrote.
    """

    OUTPUT = "output"
    STATUS = "status"
    TAP = "tap"
    AUTOMAKE = "automake"
    JUNIT = "junit"


@dataclass(slots=True, frozen=True)
class Expected:
    """What a passing run gives. None: not compared. A status above 128 is that of death by signal (as in a
    shell).
    """

    stdout: bytes | None = None
    stderr: bytes | None = None
    status: int | None = 0


@dataclass(slots=True, frozen=True)
class Assertion:
    """A failed ``assert``, from the C library's message."""

    file: str
    line: int
    function: str
    text: str


@dataclass(slots=True, frozen=True)
class Outcome:
    """How a run ended, judged by its case's oracle.

    ``text`` is one phrase for people. For a wrong output, ``stream`` is the file descriptor (1 or 2) and
    ``difference`` has the first differing byte in the actual and in the expected output. ``flooded``: the limit of
    output ended the run. Of a memory error ``events`` are the access and what it depends on, in the recorded run.
    """

    kind: Kind
    text: str = ""
    stream: int = 1
    difference: Difference | None = None
    assertion: Assertion | None = None
    flooded: bool = False
    events: tuple[int, ...] = ()

    @property
    def endless(self) -> bool:
        """Whether the run did not end by itself: a limit of time or of output ended it."""
        return self.kind is Kind.TIMEOUT or self.flooded

    @property
    def passed(self) -> bool:
        """Whether the run is a pass."""
        return self.kind is Kind.PASS

    @property
    def failed(self) -> bool:
        """Whether the run is a failure (a skipped test is neither)."""
        return self.kind not in (Kind.PASS, Kind.SKIPPED)


PASSED = Outcome(Kind.PASS)
