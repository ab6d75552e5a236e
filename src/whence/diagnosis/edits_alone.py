"""Edits that no running program can choose, such as other types: each is built by itself, and run.

A build takes a part of a second, so a few dozen are tried where joint builds try thousands.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from whence.program.c_source import CSource
from whence.program.source_edits import SourceEdit, edited
from whence.run.outcome import Kind
from whence.subject.edited import Editing

if TYPE_CHECKING:
    from whence.subject.runs import Runs
    from whence.subject.subject import Subject

ALONE, AT_ONCE = 48, 8  # edits that are tried, and at a time
FIRST, FIRST_ALONE = 0.3, 24  # of the time for edits, and how many, are tried before joint builds: wider types


def end_of_first(deadline: float) -> float:
    """When those that are tried before joint builds have to be done (of ``time.monotonic``); ``deadline``: of all."""
    now = time.monotonic()
    return now + FIRST * (deadline - now)


class EditsAlone:
    """Tries edits of ``sources``, by name, by themselves.

    ``tried`` counts them; ``is_late``: not all that were given have been tried.
    """

    def __init__(self, subject: Subject, runs: Runs, sources: Mapping[str, CSource]) -> None:
        self._subject, self._runs, self.sources = subject, runs, sources
        self.tried = 0
        self.is_late = False

    def passing(self, edits: Sequence[SourceEdit], deadline: float) -> Iterator[SourceEdit]:
        """Those with which all cases pass, in order, until ``deadline``; each is run only until one fails."""
        tested = self._runs.tested
        failing = sum(tested[row].outcome.kind is not Kind.MEMORY for row in self._runs.failing)
        with Editing(self._subject, self._runs, deadline) as editing:
            for start in range(0, len(edits), AT_ONCE):
                if time.monotonic() >= deadline:
                    self.is_late = True
                    return
                some = edits[start : start + AT_ONCE]
                texts = [(edit.file, edited(self.sources[edit.file], edit)) for edit in some]
                tried = editing.texts(texts, to_the_end=False)
                self.tried += len(some)
                yield from (edit for edit, one in zip(some, tried, strict=True) if one.passes(failing))
