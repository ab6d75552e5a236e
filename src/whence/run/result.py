"""What one run of a case gave."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from whence.run.cases import Case
from whence.run.schedule import Followed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Counters = NDArray[np.uint32]


@dataclass(slots=True)
class RunResult:
    """What one run gave. ``status`` is None when a signal ended it; ``wall`` in seconds, ``max_rss`` in KiB
    (never below the size of the process that forked).

    ``coverage`` has one uint32 counter a site (in a matrix that all results of a call share), or is None when
    the program holds no counters or did not run. ``deadlocked``: it was ended since all its threads waited for each
    other; ``followed`` tells how threads took turns in a run under a schedule.
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

    @property
    def code(self) -> int:
        """The status as a shell gives it: 128 and the signal's number when one ended the run."""
        return 128 + self.signal if self.status is None else self.status

    @property
    def observed(self) -> tuple[object, ...]:
        """All that two runs of a deterministic program have in common."""
        return self.status, self.signal, self.timed_out, self.stdout, self.stderr
