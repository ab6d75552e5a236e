"""Edits that mend a program: candidates of the first statements, sieved in joint builds, the best ones confirmed.

What passes the sieve is compiled by itself, as the user builds the program, and run on all cases; and once more with
checks that trap where memory or arithmetic is misused. Only what holds there is told as passing.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from whence.findings import Entry, Statement
from whence.program.c_source import CSource, own_headers
from whence.program.source_edits import SourceEdit, edited, unified_diff
from whence.run.outcome import Kind
from whence.subject.candidate_edits import CandidateRuns, Count, Sieved
from whence.subject.edited import Editing, Tried
from whence.techniques.bugfix.candidates import FileCandidates, ordered
from whence.techniques.bugfix.descriptions import describe

if TYPE_CHECKING:
    from whence.subject.runs import Runs
    from whence.subject.subject import Subject

Favoured = Mapping[Statement, Sequence[str]]  # descriptions of fixes of statements, the most likely first
SIEVING = 0.85  # of the time, for joint builds; the rest is for what passed
CONFIRMED = 12  # edits that are compiled by themselves, the best ones
NEAREST = 4  # ... where none passes
CHECKED = 3  # of these, with checks of memory
ENOUGH = 40  # passing edits that end a search
AGAIN, LEAST = 1.5, 6.0  # times that the first passing edit took, and seconds, that the search goes on for more
ALONE = 48  # edits that no joint build can hold, such as other types, that are tried
FOREIGN = 2  # tokens that a name counts for which the function does not use elsewhere
_NAME = re.compile(rb"[A-Za-z_]\w*")
NOT_HELD = "compiled by itself it mends no failing case"
CHECKS = (
    "-fsanitize=array-bounds,bool,integer-divide-by-zero,null,pointer-overflow,shift,vla-bound",
    "-fsanitize-trap=all",
)


@dataclass(slots=True)
class Mending:
    """An edit that was compiled by itself and run on all cases; ``is_clean`` None: not checked.

    ``alike`` others are the same to an optimising compiler.
    """

    edit: SourceEdit
    tried: Tried
    diff: str
    descriptions: list[str]
    place: int  # in the order in which it was tried
    is_clean: bool | None = None
    alike: int = 0

    def passes(self, failing: int) -> bool:
        """Whether all cases pass with it; ``failing`` do without."""
        return not self.tried.trouble and len(self.tried.repaired) == failing and not self.tried.broken


@dataclass(slots=True)
class Found:
    """What a search came to: the best edits first; ``passing`` counts those that passed the sieve.

    ``unconfirmed`` are those of them that were to be compiled by themselves, by why they are not among the best.
    """

    mendings: list[Mending] = field(default_factory=list)
    count: Count = field(default_factory=Count)
    candidates: int = 0
    passing: int = 0
    unconfirmed: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)
    files: dict[str, CSource] = field(default_factory=dict)


class EditSearch:
    """A search for edits of a program that mend its failing cases, until ``deadline`` (of ``time.monotonic``)."""

    def __init__(self, subject: Subject, runs: Runs, deadline: float) -> None:
        self._subject, self._runs, self._deadline = subject, runs, deadline
        self._began = time.monotonic()
        self.found = Found()

    def run(self, ranking: Sequence[Entry], favoured: Favoured | None = None) -> Found:
        """The edits of the ranked statements that mend most, the smallest first.

        Of edits of one size those come first whose descriptions are ``favoured``.
        """
        found = self.found
        statements = [(entry.statement.file, entry.statement.line) for entry in ranking]
        files = self._files([file for file, _ in statements])
        found.files = {name: file.source for name, file in files.items()}
        edits = list[SourceEdit]()  # those that were asked for
        rows = [row for row in self._runs.failing if self._runs.tested[row].outcome.kind is not Kind.MEMORY]
        sieved = self._sieved(_kept(ordered(files, statements), edits), rows)
        order = {id(edit): place for place, edit in enumerate(edits)}
        found.candidates = len(edits)
        best = sorted(sieved, key=lambda one: self._promise(one, len(rows), order[id(one.edit)], favoured or {}))
        found.passing = sum(one.passes(len(rows)) for one in sieved)
        with Editing(self._subject, self._runs, self._deadline) as editing:
            most = CONFIRMED if found.passing else NEAREST
            tried = self._confirm(editing, [one.edit for one in best[: min(most, found.passing or most)]], order)
            found.unconfirmed.update(one.trouble or NOT_HELD for one in tried if not one.repaired)
            if not any(m.passes(len(rows)) for m in found.mendings):
                self._alone(editing, [edit for edit in edits if not edit.is_choice][:ALONE], order)
            self._join(editing, len(rows))
            self._check(editing, len(rows))
        found.mendings.sort(key=lambda m: self._worth(m, len(rows), favoured or {}))
        found.seconds = time.monotonic() - self._began
        return found

    def _files(self, names: Sequence[str]) -> dict[str, FileCandidates]:
        """The files of statements that can be edited; of the others is said why not."""
        changed = set(self._subject.places.changed_files())
        compiled = {module.source for module in self._subject.capture.modules}
        found: dict[str, FileCandidates] = {}
        for name in dict.fromkeys(names):
            path = self._subject.folder / name
            if name in changed:
                self.found.notes.append(f"{name} was changed since the program was built: no edit of it was tried")
            elif str(path) not in compiled:
                self.found.notes.append(f"{name} is not compiled by itself: no edit of it was tried")
            else:
                source = CSource(path.read_bytes())
                found[name] = FileCandidates(source, name, own_headers(source, path))
        return found

    # ---- The sieve ---------------------------------------------------------------------------------------------------

    def _sieved(self, edits: Iterable[SourceEdit], rows: Sequence[int]) -> list[Sieved]:
        """The edits that repair a failing case, until there are enough or the time for it is over."""
        sieved: list[Sieved] = []
        end = self._began + SIEVING * (self._deadline - self._began)
        first = 0.0
        with CandidateRuns(self._subject, self._runs, end) as runs:
            for batch in runs.sieve(self.found.files, edits, rows):
                sieved += batch
                took = time.monotonic() - self._began
                passing = sum(one.passes(len(rows)) for one in sieved)
                first = first or (took if passing else 0.0)
                if passing >= ENOUGH or (first and took > first + max(LEAST, AGAIN * first)):
                    break
            self.found.count = runs.count
        return sieved

    def _promise(
        self, one: Sieved, failing: int, place: int, favoured: Favoured
    ) -> tuple[bool, bool, int, int, int, int]:
        """The order in which edits are compiled by themselves."""
        own = self._favour(one.edit, favoured)
        return not one.passes(failing), bool(one.broken), -len(one.repaired), self._cost(one.edit), own, place

    # ---- What holds --------------------------------------------------------------------------------------------------

    def _confirm(self, editing: Editing, edits: Sequence[SourceEdit], order: Mapping[int, int]) -> list[Tried]:
        """Compile edits by themselves, and keep those with which a failing case passes; what came of each."""
        texts = [(edit.file, edited(self.found.files[edit.file], edit)) for edit in edits]
        seen = {mending.diff for mending in self.found.mendings}
        found = editing.texts(texts)
        for edit, (file, text), tried in zip(edits, texts, found, strict=True):
            old = self.found.files[file].text
            diff = unified_diff(file, old, text)
            if tried.repaired and diff not in seen:
                seen.add(diff)
                self.found.mendings.append(Mending(edit, tried, diff, self._described(edit), order[id(edit)]))
        return found

    def _alone(self, editing: Editing, edits: Sequence[SourceEdit], order: Mapping[int, int]) -> None:
        """Edits that need a build each."""
        before = len(self.found.mendings)
        for start in range(0, len(edits), 8):
            self._confirm(editing, edits[start : start + 8], order)
            self.found.count.tried += len(edits[start : start + 8])
            if time.monotonic() >= self._deadline:
                break
        self.found.passing += len(self.found.mendings) - before

    def _join(self, editing: Editing, failing: int) -> None:
        """Of passing edits of a function that an optimising compiler makes the same code of, keep the smallest."""
        found = sorted(self.found.mendings, key=lambda m: (self._cost(m.edit), m.place))
        passing = [mending for mending in found if mending.passes(failing)]
        texts = [(m.edit.file, edited(self.found.files[m.edit.file], m.edit)) for m in passing]
        first: dict[tuple[str, int, bytes], Mending] = {}
        for mending, code in zip(passing, editing.codes(texts), strict=True):
            function = self.found.files[mending.edit.file].function_at(mending.edit.parts[0].start)
            key = mending.edit.file, function.start_byte if function is not None else -1, code or b""
            kept = first.setdefault(key, mending) if code is not None else mending
            if kept is not mending:
                kept.alike += 1
                self.found.mendings.remove(mending)

    def _check(self, editing: Editing, failing: int) -> None:
        """Run the passing edits with checks of memory and arithmetic, in which nothing may end that passes without."""
        passing = [m for m in self.found.mendings if m.passes(failing)]
        passing = sorted(passing, key=lambda m: (self._cost(m.edit), m.place))[:CHECKED]
        texts = [(m.edit.file, edited(self.found.files[m.edit.file], m.edit)) for m in passing]
        for mending, tried in zip(passing, editing.texts(texts, CHECKS), strict=True):
            mending.is_clean = None if tried.trouble else len(tried.repaired) == failing and not tried.broken

    def _worth(self, mending: Mending, failing: int, favoured: Favoured) -> tuple[object, ...]:
        tried, cost = mending.tried, self._cost(mending.edit)
        own = self._favour(mending.edit, favoured)
        is_unclean = mending.is_clean is False
        gain = len(tried.repaired) - len(tried.broken)
        return not mending.passes(failing), -gain, is_unclean, cost, own, mending.place

    def _cost(self, edit: SourceEdit) -> int:
        """The size of an edit; names that its function does not use elsewhere count more."""
        source = self.found.files[edit.file]
        function = source.function_at(edit.parts[0].start)
        known = set(_NAME.findall(source.of(function))) if function is not None else set()
        new = {name for _, text in edit.changes for name in _NAME.findall(text)}
        return edit.size + FOREIGN * len(new - known)

    # ---- Words -------------------------------------------------------------------------------------------------------

    def _described(self, edit: SourceEdit) -> list[str]:
        """What an edit is called."""
        source = self.found.files[edit.file]
        old, new = source.text, edited(source, edit)
        return describe(*changed_range(old, new))

    def _favour(self, edit: SourceEdit, favoured: Favoured) -> int:
        liked = favoured.get(Statement(edit.file, edit.line), ())
        mine = self._described(edit) if liked else ()
        return min((liked.index(text) for text in mine if text in liked), default=len(liked))


def _kept(edits: Iterable[SourceEdit], made: list[SourceEdit]) -> Iterator[SourceEdit]:
    """The edits, each of which is also put into ``made`` when it is asked for."""
    for edit in edits:
        made.append(edit)
        yield edit


def changed_range(old: bytes, new: bytes) -> tuple[bytes, bytes]:
    """The lines from the first to the last that differ in two texts."""
    before, after = old.split(b"\n"), new.split(b"\n")
    first = next(
        (n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after))
    )
    most = min(len(before), len(after)) - first
    last = next((n for n in range(most) if before[-1 - n] != after[-1 - n]), most)
    return b"\n".join(before[first : len(before) - last]), b"\n".join(after[first : len(after) - last])
