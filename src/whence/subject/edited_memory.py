"""The memory of an edited program: runs of it are recorded and checked, as `whence memory` does it.

That all cases pass says nothing of a write beyond a block that hits nothing yet. So the record variant of the program
with the edit is built, and the cases that pass with it are recorded.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from whence.build.edited import Rebuild
from whence.build.scratch import scratch
from whence.errors import WhenceError
from whence.findings import Statement
from whence.probe.instrument import Variant
from whence.run.outcome import Outcome
from whence.subject.coverage import Coverage
from whence.subject.edited import Check, Tried
from whence.subject.memory_check import Checker, Error, Kind
from whence.subject.memory_words import FoundErrors
from whence.subject.recorder import Recorder
from whence.subject.runs import Runs, blocks_executed, coverage
from whence.subject.subject import Subject, of_capture

REPAIRED, PASSING = 3, 5  # cases of each kind that are recorded
NO_TIME = "there was no time to record runs with it"
ErrorKey = tuple[str, str, bytes]  # the kind of an error, its file, and the text of its line


class EditedMemory:
    """Checks the memory of edited programs until ``deadline`` (of ``time.monotonic``); use it in a ``with`` statement.

    What passing cases do wrong without an edit counts against none. Blocks that are lost count where a passing case
    loses them that did not, and in repaired ones where no passing case loses any: of runs that failed it is not known
    what they would have given back.
    """

    def __init__(self, subject: Subject, runs: Runs, deadline: float) -> None:
        self._subject, self._runs, self._deadline = subject, runs, deadline
        self._scratch = scratch("edited-memory")
        self._rebuild = Rebuild(subject.capture, Path(self._scratch.name), subject.places.modules_with)
        self._before, self._seen = set[ErrorKey](), set[int]()
        self._numbers = 0

    def __enter__(self) -> EditedMemory:
        return self

    def __exit__(self, *_: object) -> None:
        self._scratch.cleanup()

    @staticmethod
    def is_compiled() -> bool:
        """Whether checking has been compiled before, which takes a minute."""
        return Checker.is_compiled()

    def check(self, at: Statement, text: bytes, tried: Tried) -> Check:
        """The memory errors of the program with a new text of a file, which was changed at a statement.

        ``tried`` is what came of it on all cases.
        """
        rows, file = self._rows(at, tried), at.file
        self._numbers += 1
        name, made, known = f"edit-{self._numbers}", 0, ""
        try:
            passing = [row for row in rows if row in self._runs.passing]
            before = self._done_before(passing)
            loses = not passing or any(kind == Kind.LEAK for kind, _, _ in before)
            capture = self._rebuild.capture(self._subject.folder / file, text, name, self._deadline)
            subject = of_capture(self._subject, capture)
            executable = subject.build(Variant.RECORD, Path(self._scratch.name, f"{name}-record"))
            for row, outcome, errors in self._errors(subject, executable, rows, {file: text}):
                name = f"`{self._runs.tested[row].case.name}`"
                old = next((words for key, words in errors if key in before and key[0] != Kind.LEAK), "")
                known = known or (old and f"{name} has {old}")
                is_open = loses and row not in passing
                new = [words for key, words in errors if key not in before and not (is_open and key[0] == Kind.LEAK)]
                if new:
                    return Check(made + 1, len(rows), f"{name} has {new[0]}", before=known)
                if outcome.failed:
                    return Check(made, len(rows), "", f"{name} ends otherwise when it is recorded ({outcome.kind})")
                made += 1
        except TimeoutError:
            return Check(made, len(rows), "", NO_TIME)
        except (WhenceError, OSError) as error:
            return Check(made, len(rows), "", str(error))
        return Check(made, len(rows), before=known)

    def _rows(self, at: Statement, tried: Tried) -> list[int]:
        """Some cases that pass with the edit, the repaired ones first, and of each kind those that come to the changed
        statement, the shortest run first.
        """
        lengths, reaching = blocks_executed(self._subject, self._runs), self._reaching(at)
        passing = [row for row in self._runs.passing if row not in tried.broken]
        shortest = (
            sorted(rows, key=lambda row: (row not in reaching, lengths[row])) for rows in (tried.repaired, passing)
        )
        return [row for rows, most in zip(shortest, (REPAIRED, PASSING), strict=True) for row in rows[:most]]

    def _reaching(self, at: Statement) -> set[int]:
        """The rows of the cases that execute a statement."""
        columns = [column for column, site in enumerate(self._coverage.sites) if at in site.statements]
        return set(np.flatnonzero(self._coverage.counts[:, columns].any(axis=1)).tolist())

    @cached_property
    def _coverage(self) -> Coverage:
        found: Coverage = coverage(self._subject, self._runs)
        return found

    def _done_before(self, rows: Sequence[int]) -> set[ErrorKey]:
        """What passing cases do wrong without an edit, these and those that were asked for before."""
        new, subject = [row for row in rows if row not in self._seen], self._subject
        for row, _, errors in self._errors(subject, subject.variant(Variant.RECORD), new, {}):
            self._seen.add(row)
            self._before.update(key for key, _ in errors)
        return self._before

    def _errors(
        self, subject: Subject, executable: Path, rows: Sequence[int], texts: Mapping[str, bytes]
    ) -> Iterator[tuple[int, Outcome, list[tuple[ErrorKey, str]]]]:
        """How each case's recorded run ends, and its errors with words for each; ``texts`` are those of edited files.

        Raises TimeoutError where there is no time.
        """
        checker = Checker(subject)
        with Recorder(subject, executable=executable, confined=True) as recorder:
            for row in rows:
                left = self._deadline - time.monotonic()
                if left <= 0:
                    raise TimeoutError
                recording = recorder.record(self._runs.tested[row].case, time=left)
                if recording.result.timed_out and time.monotonic() >= self._deadline:
                    raise TimeoutError
                found = FoundErrors(subject, checked := checker.check(recording.trace, leaks=True))
                errors = [
                    (_key(error, found.statement(error), subject.folder, texts), found.brief(error))
                    for error in checked.errors
                    if error.kind is not Kind.LEAK or not error.writes  # which says that it can be reached still
                ]
                yield row, recording.outcome, errors


def _key(error: Error, at: Statement | None, folder: Path, texts: Mapping[str, bytes]) -> ErrorKey:
    """What tells an error of one text of the program in another one, where its line has another number."""
    if at is None:
        return str(error.kind), "", b""
    path = folder / at.file
    text = texts.get(at.file) or (path.read_bytes() if path.is_file() else b"")
    line = b"".join(text.split(b"\n")[at.line - 1 : at.line])
    return str(error.kind), at.file, line.strip()
