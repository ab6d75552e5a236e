"""Suspicious statements and their candidate edits, the likeliest of all of them first."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import chain, islice

from whence.program.c_source import CSource
from whence.program.source_edits import Part, SourceEdit
from whence.techniques.bugfix.candidates import FileCandidates
from whence.techniques.bugfix.declarations import LIKELY, LOSING, POSSIBLE, WIDER
from whence.techniques.bugfix.likelihood import likeliest_first

ASKED_FOR, COMPLETING = 200, 150  # edits that put in what the text asks for, and such as use what is left over
UNUSED, PLACES = 300, 40  # edits that name what nothing names, at so many statements
ALIKE = 20  # edits of a statement whose turns come nearly together

Tiered = Iterator[tuple[float, SourceEdit]]  # edits with their tiers
Waiting = tuple[int, int, int, SourceEdit, Iterator[SourceEdit]]  # its turn, place, number, itself, those behind it


@dataclass(frozen=True, slots=True)
class Suspects:
    """``statements`` (file and line), the most suspicious first, with the candidates of their ``files``.

    ``made``: how often fixes of each kind were made (``likelihood.py``). Files that are not given have no edits.
    ``others`` come behind them, and have those edits alone that the text asks for, or that name what nothing names.
    """

    files: Mapping[str, FileCandidates]
    statements: Sequence[tuple[str, int]]
    made: Mapping[str, int]
    others: Sequence[tuple[str, int]] = ()

    @property
    def sources(self) -> dict[str, CSource]:
        """The sources of the files."""
        return {name: file.source for name, file in self.files.items()}

    def edits(
        self, of: Callable[[FileCandidates, int], Tiered] = lambda file, line: file.on(line)
    ) -> Iterator[SourceEdit]:
        """The distinct candidate edits of the statements, the likeliest first; they are made as they are asked for.

        ``of``: the edits of a file on a line. How likely an edit is falls with its statement's place among them, and
        with its own among the edits of the statement: those with the smallest product of the two come first.
        """
        waiting: list[Waiting] = []
        seen = set[tuple[str, tuple[Part, ...]]]()
        opened = 0
        while waiting or opened < len(self.statements):
            while opened < len(self.statements) and (not waiting or waiting[0][0] >= _turn(opened, 0)):
                file, line = self.statements[opened]
                if file in self.files:
                    _wait(waiting, opened, 0, iter(likeliest_first(of(self.files[file], line), self.made)))
                opened += 1
            if waiting:
                _, place, number, edit, others = heappop(waiting)
                _wait(waiting, place, number + 1, others)
                if (edit.file, edit.parts) not in seen:
                    seen.add((edit.file, edit.parts))
                    yield edit

    def asked_for(self) -> Iterator[SourceEdit]:
        """The edits that the text of the files itself asks for, at the statements and the others, the first ones first.

        Behind them come those that use what is left over.
        """
        places = {at: place for place, at in reversed(list(enumerate((*self.statements, *self.others))))}
        asked = (edit for file in self.files.values() for edit in file.asked_for)
        completing = (edit for file in self.files.values() for edit in file.completing)
        for edits, most in ((asked, ASKED_FOR), (completing, COMPLETING)):
            able = [edit for edit in edits if (edit.file, edit.line) in places]
            yield from sorted(able, key=lambda edit: places[edit.file, edit.line])[:most]

    def naming_unused(self, deadline: float = math.inf) -> Iterator[SourceEdit]:
        """The edits that name what nothing names, at the first statements that can, the likeliest first.

        At those that it comes to until ``deadline`` (of ``time.monotonic``): to make all edits of a statement, and keep
        hardly any, takes a tenth of a second in a long file.
        """
        able = (at for at in (*self.statements, *self.others) if at[0] in self.files and self._can_name(*at))
        first = replace(self, statements=list(islice(able, PLACES)))

        def in_time(file: FileCandidates, line: int) -> Tiered:
            return file.naming_unused(line) if time.monotonic() < deadline else iter(())

        yield from islice(first.edits(in_time), UNUSED)

    def _can_name(self, file: str, line: int) -> bool:
        return self.files[file].can_name_unused(line)

    def wider_types(self) -> Iterator[SourceEdit]:
        """The edits that give what the statements name a wider type than a small one, each of which needs a build.

        A program has few variables of small types, and what is lost in one is lost wherever that is seen.
        """
        return chain(self.other_types(), self._alone([WIDER]))

    def other_types(self) -> Iterator[SourceEdit]:
        """The edits that give what the statements name a type that keeps all of the values which it is given."""
        return self._alone([LOSING])

    def alone(self) -> Iterator[SourceEdit]:
        """The distinct edits of the statements that need a build each, wider types first, then the likeliest."""
        return chain(self.wider_types(), self._alone([LIKELY, POSSIBLE]))

    def _alone(self, tiers: Collection[int]) -> Iterator[SourceEdit]:
        return self.edits(lambda file, line: (one for one in file.alone(line) if one[0] in tiers))


def _wait(waiting: list[Waiting], place: int, number: int, edits: Iterator[SourceEdit]) -> None:
    """Let the next edit of a statement wait for its turn."""
    if (edit := next(edits, None)) is not None:
        heappush(waiting, (_turn(place, number), place, number, edit, edits))


def _turn(place: int, number: int) -> int:
    return (place + 1) * (number + ALIKE)
