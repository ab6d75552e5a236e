"""The vocabulary of verdicts: what a case expects, how a run can end, and an outcome with its details."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from whence.run.compare import Difference

STDOUT, STDERR = 1, 2
FIRST_FILE = 256  # the number, as a stream, of the first file that a case compares; descriptors are below
NAMES = {STDOUT: "standard output", STDERR: "standard error"}


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

    ``files`` are those that it leaves: names within the working folder with contents; None: there is no such file.
    ``unsteady`` are others, which it leaves otherwise the next time, so that they are not compared: with where.
    What is compared byte by byte are *streams*: standard output (1), standard error (2), and each of the files, from
    ``FIRST_FILE`` on.
    """

    stdout: bytes | None = None
    stderr: bytes | None = None
    status: int | None = 0
    files: tuple[tuple[str, bytes | None], ...] = ()
    unsteady: tuple[tuple[str, str], ...] = ()

    def text(self, stream: int) -> bytes | None:
        """What is right for a stream; None: it is not compared, or a file that is not to be there."""
        if stream < FIRST_FILE:
            return self.stdout if stream == STDOUT else self.stderr
        return self.files[stream - FIRST_FILE][1]

    def is_met_by(self, observed: Expected) -> bool:
        """Whether all that is compared is as another run gave it; what of that run is not known is not."""
        files = dict(observed.files)
        return (
            (self.stdout is None or self.stdout == observed.stdout)
            and (self.status is None or self.status == observed.status)
            and all(name in files and files[name] == content for name, content in self.files)
        )

    def name(self, stream: int) -> str:
        """A stream in words."""
        return NAMES[stream] if stream < FIRST_FILE else f"file {self.files[stream - FIRST_FILE][0]}"

    @property
    def whole(self) -> bytes:
        """What is right for standard output and all files, one behind the other: places in it count through all."""
        return b"".join([self.stdout or b"", *(content or b"" for _, content in self.files)])

    def place(self, stream: int, offset: int) -> int:
        """Where in ``whole`` a byte of standard output or a file stands."""
        before = [] if stream == STDOUT else [self.stdout, *(right for _, right in self.files[: stream - FIRST_FILE])]
        return offset + sum(len(right or b"") for right in before)


@dataclass(slots=True, frozen=True)
class Assertion:
    """A failed ``assert``, from the C library's message; or a failed check of a test, which tells no ``function``."""

    file: str
    line: int
    function: str
    text: str

    @property
    def sentence(self) -> str:
        """What failed, and where."""
        what = f"assertion `{self.text}' failed" if self.function else "a check failed"
        return f"{what} at {self.file}:{self.line}" + (f": {self.text}" if not self.function else "")


@dataclass(slots=True, frozen=True)
class Outcome:
    """How a run ended, judged by its case's oracle.

    ``text`` is one phrase for people. For a wrong output, ``stream`` says of what (see ``Expected``) and
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
