"""What goes wrong silently in a run, and makes its verdict another one: a memory error where `[compare] memory` asks
for that, the crash of a forked process where these are followed.

Checking takes a recording, so what came of it is kept on disk, under a hash of all that the run depends on.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterable, Mapping
from functools import cache, cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from whence.build.store import sealed, unsealed
from whence.build.toolchain import whence_home
from whence.errors import WhenceError
from whence.probe.instrument import Variant
from whence.run.case_key import add_content, case_key
from whence.run.outcome import Kind, Outcome
from whence.subject.memory_check import Checker
from whence.subject.memory_check import Kind as ErrorKind
from whence.subject.memory_words import FoundErrors
from whence.subject.processes import NothingForked

if TYPE_CHECKING:
    from whence.run.cases import Case
    from whence.subject.recorder import Recorder
    from whence.subject.subject import Subject

MOST_SHOWN = 3  # cases of which it is found out what their verdict hangs on
CODE = ("trace", "probe", "subject", "run")  # folders whose code decides what a checked run has


class MemoryOutcomes:
    """The outcomes of cases that pass in all else, each recorded, and checked for memory errors once."""

    def __init__(self, subject: Subject, recorder: Recorder) -> None:
        self._subject, self._recorder = subject, recorder

    def of(self, case: Case) -> Outcome | None:
        """The outcome that the case has silently; None: it passes. Raises what ``Recorder.record`` raises."""
        path = self._path(case)
        content = unsealed(path.read_bytes()) if path is not None and path.is_file() else None
        if content is not None:
            kept = json.loads(content)
            return Outcome(Kind.MEMORY, kept["text"], events=tuple(kept["events"])) if kept else None
        try:
            outcome = self._recorder.record(case).outcome
        except NothingForked:
            return None
        crashes = case.follows_children and outcome.kind in (Kind.CRASH, Kind.ASSERTION)
        found = outcome if crashes or outcome.kind is Kind.MEMORY else None
        if path is not None and outcome.kind in (Kind.MEMORY, Kind.PASS):
            _write(path, {"text": found.text, "events": found.events} if found else {})
        return found

    def _path(self, case: Case) -> Path | None:
        """Where what is known of a case is kept; None for one whose files cannot be read, or that is a command."""
        if case.command is not None:
            return None
        subject = self._subject
        try:
            key = case_key(self._variant, _code_version(), case, subject.limits, subject.name)
        except OSError:
            return None
        return Path(whence_home()) / "checked" / key

    @cached_property
    def _variant(self) -> str:
        return self._subject.variant(Variant.RECORD).parent.name


@cache
def _code_version() -> str:
    digest = hashlib.sha256()
    for folder in CODE:
        for path in sorted((Path(__file__).parents[1] / folder).glob("*.py")):
            add_content(digest, path.read_bytes())
    return digest.hexdigest()


def _write(path: Path, known: dict[str, object]) -> None:
    """Keep what is known; where there is no room it is found out again."""
    new = path.with_suffix(f".{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        new.write_bytes(sealed(json.dumps(known).encode()))
        new.replace(path)
    except OSError:
        new.unlink(missing_ok=True)


def judged_by_memory(
    subject: Subject, recorder: Recorder, cases: Iterable[tuple[int, Case]], deadline: float
) -> tuple[dict[int, Outcome], dict[int, str]]:
    """Of cases by their rows: the outcomes of those that fail silently, and why others could not be checked."""
    failing: dict[int, Outcome] = {}
    unchecked: dict[int, str] = {}
    outcomes = MemoryOutcomes(subject, recorder)
    for row, case in cases:
        what = "crashes of what it forks" if case.follows_children else "memory errors"
        if time.monotonic() >= deadline:
            unchecked[row] = f"not checked for {what}, since the time was over"
            continue
        try:
            outcome = outcomes.of(case)
        except WhenceError as error:
            unchecked[row] = f"not checked for {what}: {error}"
            continue
        if outcome is not None:
            failing[row] = outcome
    return failing, unchecked


def what_it_hangs_on(subject: Subject, recorder: Recorder, cases: Mapping[int, Case]) -> dict[int, str]:
    """For the first cases whose verdict hangs on what C leaves open, what their recorded runs show of that, in words.

    Best a value that was never given, else the first access outside of an object.
    """
    found: dict[int, str] = {}
    checker = Checker(subject)
    for number, case in islice(cases.items(), MOST_SHOWN):
        try:
            checked = checker.check(recorder.record_or_beginning(case).trace)
        except WhenceError:
            continue
        first = min(checked.errors, key=lambda error: error.kind is not ErrorKind.UNDEFINED, default=None)
        if first is not None:
            found[number] = f"its recorded run shows {FoundErrors(subject, checked).brief(first)}"
    return found
