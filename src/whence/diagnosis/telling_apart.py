"""An input that tells two edits apart: made from those of the cases, shown with what the program prints with each.

Edits that pass all cases do different things where no case looks. Which one is meant only the user can say, who sees an
input on which they differ.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from whence.build.edited import Rebuild
from whence.build.scratch import scratch
from whence.errors import UsageError
from whence.inputs.channel import Channel, find_channel
from whence.inputs.close import shown
from whence.inputs.tokens import guess_specification
from whence.inputs.variations import Variation, byte_variations, input_variations
from whence.run.cases import Case
from whence.run.result import RunResult
from whence.run.runner import RunLost, Runner
from whence.run.sandbox import Limits
from whence.subject.subject import Subject

BASES = 6  # cases whose inputs are varied
EACH = 120  # variations of one
PORTION = 40  # runs at a time
LONGEST = 160  # characters of an output that are shown
MOST_BYTES = 1 << 16  # of an input that is varied


@dataclass(slots=True, frozen=True)
class Apart:
    """An input on which two texts of a program differ: the input in words, and what differs of the outputs."""

    words: str
    first: str
    second: str


class TellingApart:
    """Looks for inputs on which changed texts of files differ, until ``deadline``; use it in a ``with`` statement."""

    def __init__(self, subject: Subject, cases: Sequence[Case], limits: Limits, deadline: float) -> None:
        self._subject, self._cases, self._limits, self._deadline = subject, cases[:BASES], limits, deadline
        self._scratch = scratch("apart")
        self._rebuild = Rebuild(subject.capture, Path(self._scratch.name), subject.places.modules_with)
        self._runners: dict[tuple[str, bytes], Runner] = {}
        self.tried = 0

    def __enter__(self) -> TellingApart:
        return self

    def __exit__(self, *_: object) -> None:
        for runner in self._runners.values():
            runner.close()
        self._scratch.cleanup()

    def find(self, one: tuple[str, bytes], other: tuple[str, bytes]) -> Apart | None:
        """An input on which two changed files differ, where both runs end by themselves if there is such; None: none.

        Raises BuildError where one cannot be built.
        """
        first, second = self._runner(*one), self._runner(*other)
        crashing: Apart | None = None
        made = self._made()
        while (part := list(islice(made, PORTION))) and time.monotonic() < self._deadline:
            for words, left, right in self._runs(first, second, part):
                self.tried += 1
                if left.observed == right.observed or left.timed_out or right.timed_out:
                    continue
                found = Apart(words, *_difference(left, right))
                if not left.signal and not right.signal:
                    return found
                crashing = crashing or found
        return crashing

    def _runner(self, file: str, text: bytes) -> Runner:
        if (file, text) not in self._runners:
            path, name = self._subject.folder / file, f"apart-{len(self._runners)}"
            executable = self._rebuild.build(path, text, name, self._deadline, chooses=True)
            self._runners[file, text] = Runner(executable, self._limits, name=self._subject.name, confined=True)
        return self._runners[file, text]

    def _runs(
        self, first: Runner, second: Runner, part: Sequence[tuple[str, Case]]
    ) -> Iterator[tuple[str, RunResult, RunResult]]:
        cases = [case for _, case in part]
        try:
            results = zip(part, first.run_cases(cases), second.run_cases(cases), strict=True)
        except RunLost:
            return
        yield from ((words, left, right) for (words, _), left, right in results)

    # ---- Inputs ------------------------------------------------------------------------------------------------------

    def _made(self) -> Iterator[tuple[str, Case]]:
        """Variations of the cases' inputs with what they are in words, some of each case in turn."""
        waiting = [made for case in self._cases if (made := self._of(case)) is not None]
        while waiting:
            for made in list(waiting):
                part = list(islice(made, 8))
                if not part:
                    waiting.remove(made)
                yield from part

    def _of(self, case: Case) -> Iterator[tuple[str, Case]] | None:
        try:
            channel = find_channel(case)
            data = channel.read(case)
        except (UsageError, OSError):
            return None
        return _varied(case, channel, data) if len(data) <= MOST_BYTES else None


def _varied(case: Case, channel: Channel, data: bytes) -> Iterator[tuple[str, Case]]:
    specification = guess_specification(data)
    variations = list(input_variations(data, specification)) if specification else list(byte_variations(data))
    variations.sort(key=lambda v: v.turn)
    for one in variations[:EACH]:
        new = _put(data, one)
        if channel.holds(new):
            yield _words(channel, new), channel.put(case, new)


def _put(data: bytes, one: Variation) -> bytes:
    return data[: one.start] + one.text + data[one.end :]


def _words(channel: Channel, data: bytes) -> str:
    """An input in words."""
    words = data.replace(b"\0", b" ").strip() if channel.kind == "args" else data
    return f"{channel} {shown(words)}"


def _difference(one: RunResult, other: RunResult) -> tuple[str, str]:
    """What differs in two runs: their first lines of output that do, or how they end."""
    left, right = (result.stdout.split(b"\n") for result in (one, other))
    for number, (a, b) in enumerate(zip([*left, b""], [*right, b""], strict=False), 1):
        if a != b:
            return _line(number, a, len(left)), _line(number, b, len(right))
    return _end(one), _end(other)


def _line(number: int, text: bytes, lines: int) -> str:
    if number > lines or (number == lines and not text):
        return f"the output ends before line {number}"
    shown_text = text.decode(errors="replace")
    return f"line {number} is {shown_text[:LONGEST]!r}"


def _end(result: RunResult) -> str:
    return f"signal {result.signal}" if result.signal else f"exit status {result.status}"
