"""What one run of a case gave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from whence.run.cases import Case
from whence.run.outcome import FIRST_FILE, STDOUT, Expected
from whence.run.schedule import Followed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Counters = NDArray[np.uint32]


@dataclass(slots=True, frozen=True)
class LeftFile:
    """A file as a run has left it; ``key`` is what recordings know it by (0: not known)."""

    content: bytes
    key: int = 0


@dataclass(slots=True)
class RunResult:
    """What one run gave. ``status`` is None when a signal ended it; ``wall`` in seconds, ``max_rss`` in KiB
    (never below the size of the process that forked).

    ``coverage`` has one uint32 counter a site (in a matrix that all results of a call share), or is None when
    the program holds no counters or did not run. ``deadlocked``: it was ended since all its threads waited for each
    other; ``followed`` tells how threads took turns in a run under a schedule. ``files`` are those that it left, by
    their names in the working folder: of a case with an expectation those that this compares, else all of them.
    """

    case: Case
    status: int | None
    signal: int
    timed_out: bool
    too_many_processes: bool
    stdout: bytes
    stderr: bytes
    wall: float
    max_rss: int
    coverage: Counters | None = None
    trace: Path | None = None
    deadlocked: bool = False
    followed: Followed | None = None
    files: Mapping[str, LeftFile] = field(default_factory=dict)

    @property
    def code(self) -> int:
        """The status as a shell gives it: 128 and the signal's number when one ended the run."""
        return 128 + self.signal if self.status is None else self.status

    @property
    def observed(self) -> tuple[object, ...]:
        """All that two runs of a deterministic program have in common."""
        files = sorted((name, file.content) for name, file in self.files.items())
        return self.status, self.signal, self.timed_out, self.stdout, self.stderr, files

    def text(self, stream: int) -> bytes:
        """What it wrote to a stream (see ``Expected``); empty for a file that is not there."""
        if stream < FIRST_FILE:
            return self.stdout if stream == STDOUT else self.stderr
        assert self.case.expected is not None
        left = self.files.get(self.case.expected.files[stream - FIRST_FILE][0])
        return b"" if left is None else left.content

    def as_expected(self) -> Expected:
        """What it gave, as what is right for another run of the case: the same streams are compared."""
        names = () if self.case.expected is None else [name for name, _ in self.case.expected.files]
        contents = tuple((name, self.files[name].content if name in self.files else None) for name in names)
        return Expected(self.stdout, self.stderr, self.code, contents)
