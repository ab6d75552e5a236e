"""What expressions are worth at places of a program in the runs of its cases.

The places of a file are compiled into one build (``program/observation.py``), which runs the cases as they are. What
the compiler refuses is left out: a type that was guessed wrong, a macro that is no value.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from mmap import ACCESS_READ, mmap
from pathlib import Path

from whence.build.edited import QUICKLY, DoesNotCompile, Rebuild
from whence.build.scratch import scratch
from whence.program.c_source import CSource
from whence.program.observation import Spot, Values, observing, offsets, read
from whence.run.cases import Case
from whence.run.runner import Runner
from whence.run.sandbox import Limits
from whence.subject.candidate_edits import ALL_ERRORS, owners_of
from whence.subject.chosen_edit import CHOSEN
from whence.subject.runs import Runs
from whence.subject.subject import Subject

ROUNDS = 6  # of leaving out what does not compile
BUSY, ENDLESS = 2.0, 0.1  # seconds of processor time that a run may take, and at least where the case's run has no end
SLOWER, LEAST = 20.0, 1.0  # times the longest run, and seconds, that a run may take


class Observations:
    """Builds of a subject that tell values, until ``deadline`` (of ``time.monotonic``); used with ``with``."""

    def __init__(self, subject: Subject, runs: Runs, deadline: float) -> None:
        self._subject, self._runs, self._deadline = subject, runs, deadline
        self._scratch = scratch("observed")
        self._rebuild = Rebuild(subject.capture, Path(self._scratch.name), subject.places.modules_with)
        self._builds = 0

    def __enter__(self) -> Observations:
        return self

    def __exit__(self, *_: object) -> None:
        self._scratch.cleanup()

    def of(
        self, source: CSource, file: str, spots: Sequence[Spot], rows: Sequence[int]
    ) -> Iterator[tuple[int, list[Values]]]:
        """The values at the spots of a file in the run of each row, of those that end in time.

        Raises WhenceError where the file cannot be built or the runs cannot be made, TimeoutError where it is not built
        in time.
        """
        executable = self._build(source, self._subject.folder / file, spots)
        size, tested = offsets(spots)[-1], self._runs.tested
        with Runner(executable, self._limits(rows), name=self._subject.name, confined=True) as runner:
            for row in rows:
                path = runner.sandbox.new_path("observed")
                path.write_bytes(b"")
                with path.open("r+b") as stream:
                    stream.truncate(size)
                    content = mmap(stream.fileno(), size, access=ACCESS_READ)  # most of it stays empty
                for _ in runner.iterate([_observed(tested[row].case, path, self._busy(row))], deadline=self._deadline):
                    yield row, read(spots, content)
                path.unlink()

    def _limits(self, rows: Sequence[int]) -> Limits:
        limits = self._subject.limits
        wanted = max(LEAST, SLOWER * max(self._runs.tested[row].result.wall for row in rows))
        return replace(limits, time=min(limits.time, wanted) if limits.time else wanted)

    def _busy(self, row: int) -> float:
        """Seconds of processor time that a case may take: of a run without an end some times what passing ones do."""
        tested = self._runs.tested
        if not tested[row].outcome.endless:
            return BUSY
        return min(BUSY, max(ENDLESS, SLOWER * max((tested[n].result.wall for n in self._runs.passing), default=BUSY)))

    def _build(self, source: CSource, path: Path, spots: Sequence[Spot]) -> Path:
        """The executable, with those of the expressions that compile."""
        firsts = list(accumulate((len(spot.expressions) for spot in spots), initial=1))
        left = [set[int]() for _ in spots]
        for _ in range(ROUNDS):
            text = observing(source, spots, [frozenset(places) for places in left])
            self._builds += 1
            try:
                name = f"observed-{self._builds}"
                return self._rebuild.build(path, text.text, name, self._deadline, ALL_ERRORS, True, QUICKLY)
            except DoesNotCompile as error:
                refused = owners_of(error.hint, text) - {0}
                if not refused:
                    raise
                for number in refused:
                    spot = bisect_right(firsts, number) - 1
                    left[spot].add(number - firsts[spot])
        raise DoesNotCompile(f"what is to be observed in {path.name} does not compile")


def _observed(case: Case, path: Path, busy: float) -> Case:
    """The case, for a program that keeps what it observes in a file; it may be ``busy`` for so many seconds."""
    return replace(case, environment={**case.environment, CHOSEN: f"0:{round(busy * 1000)}:{path}"})
