"""Whether the program does as always where it is kept from others' processes and files (``run/confinement.py``).

Edited programs run like that. What a program needs and is refused must not be taken for what an edit does; nor what
other addresses do, where these differ from run to run.
"""

from __future__ import annotations

import threading
from itertools import islice

from whence.errors import SubjectError
from whence.run.oracle import judge
from whence.run.outcome import Kind
from whence.run.sandbox import NOT_FIXED
from whence.subject.runs import Runs
from whence.subject.subject import Subject

FAILING, PASSING = 4, 12  # cases that are run again
NEEDS = "ends otherwise where the program may not reach other machines, nor write outside of its folder and of /tmp"


class Ground:
    """The plain program, unchanged, in confinement."""

    def __init__(self, subject: Subject, runs: Runs) -> None:
        self._subject, self._runs = subject, runs
        self._lock = threading.Lock()
        self._trouble: str | None = None

    @property
    def trouble(self) -> str:
        """Why nothing can be said of confined runs; empty: some cases were run, and each ended as without."""
        with self._lock:
            if self._trouble is None:
                self._trouble = self._differing()
            return self._trouble

    def _differing(self) -> str:
        if self._subject.limits.aslr:
            return NOT_FIXED
        rows = [*islice(self._plain(self._runs.failing), FAILING), *islice(self._plain(self._runs.passing), PASSING)]
        tested = [self._runs.tested[row] for row in rows]
        try:
            with self._subject.runner(confined=True) as runner:
                results = runner.run_cases([one.case for one in tested])
        except SubjectError as error:
            return str(error)
        for one, result in zip(tested, results, strict=True):
            if judge(one.case, result).passed != one.outcome.passed:
                return f"`{one.case.name}` {NEEDS}"
        return ""

    def _plain(self, rows: list[int]) -> filter[int]:
        """Those that end, with a verdict that a plain run shows."""
        tested = self._runs.tested
        return filter(lambda row: not tested[row].outcome.endless and tested[row].outcome.kind is not Kind.MEMORY, rows)
