"""Edits tried one batch after the other: what came of them, how long to go on, and conditions where nothing passes.

A statement that mends failing cases and breaks others may lack the condition under which it is to be done. Where no
edit passes, conditions are tried: when all else was, or a part of the time is over, and then what is left of the edits.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, zip_longest

from whence.program.c_source import CSource
from whence.program.source_edits import Kind, SourceEdit
from whence.subject.candidate_edits import CandidateRuns, Sieved
from whence.techniques.bugfix.candidates import FileCandidates
from whence.techniques.bugfix.observed_conditions import At

ENOUGH = 40  # edits with which all cases pass that end a search
AGAIN, LEAST = 1.5, 6.0  # times that the first of them took, and seconds, that the search goes on for more
DOUBTING = 3.0  # times as long where each of them has a number that was made to fit
ALMOST, CONDITIONS = 12, 120  # statements that lack a condition, and conditions that are tried with each
UNGUARDED = 0.55  # of the time, after which conditions are tried where there is such a statement, and nothing better
ToldAt = Mapping[At, Sequence[str]]  # that were observed to hold there in failing runs
_PUT_IN = (Kind.BEFORE, Kind.BEHIND)


class EditTrials:
    """Trials of edits on failing cases, ``rows``, and all passing ones, until ``deadline`` (of ``time.monotonic``).

    ``counts``: which of the edits with which all cases pass are what is looked for. ``doubts``: which of them end the
    search later than others. ``found_before``: such an edit is known already, so the search is to end soon.
    """

    def __init__(
        self,
        rows: Sequence[int],
        deadline: float,
        counts: Callable[[Sieved], bool] = lambda one: True,
        doubts: Callable[[Sieved], bool] = lambda one: False,
        found_before: bool = False,
    ) -> None:
        self._rows, self._began, self._deadline, self._counts = rows, time.monotonic(), deadline, counts
        self._first = 0.0 if found_before else None  # seconds until an edit was found, at best one without doubt
        self._doubts, self._is_sure = doubts, found_before
        self._found = 0  # edits that count, and that there is no doubt about
        self._is_checked = found_before  # one without doubt is known with which all cases pass, which come there
        self._lacking: list[Sieved] = []
        self._are_guarded = False  # statements were tried under conditions
        self.sieved: list[Sieved] = []  # what repairs a failing case, and nothing refutes
        self.refuted = 0  # edits with which all cases pass, and another program's test fails
        self.places: dict[SourceEdit, int] = {}  # of all edits that were made, in their order
        self.all_made = False  # all edits that were to be tried, but for those under conditions

    @property
    def passing(self) -> list[Sieved]:
        """The edits with which all cases pass."""
        return [one for one in self.sieved if one.passes(len(self._rows))]

    def run(
        self,
        runs: CandidateRuns,
        sources: Mapping[str, CSource],
        edits: Iterable[SourceEdit],
        files: Mapping[str, FileCandidates],
        observed: ToldAt | None = None,
    ) -> None:
        """Try edits, and, where none without doubt lets all cases pass that come to it, statements under conditions.

        ``files`` have the conditions; where some were ``observed`` to hold in failing runs, a statement that mends all
        failing cases comes under these as soon as that is known.
        """
        for batch in runs.sieve(sources, self._noted(self._with_conditions(edits, files, observed or {})), self._rows):
            self._take(batch)
            if self._is_over:
                break
        else:
            self.all_made = time.monotonic() < self._deadline
        if not self._is_checked and not self._are_guarded:
            for batch in runs.sieve(sources, self._noted(self._guarded(files)), self._rows):
                self._take(batch)

    def _with_conditions(
        self, edits: Iterable[SourceEdit], files: Mapping[str, FileCandidates], observed: ToldAt
    ) -> Iterator[SourceEdit]:
        """The edits, among them statements under conditions when it is time for those."""
        seen = 0
        for edit in edits:
            for one in self._lacking[seen:]:
                seen += 1
                if len(one.repaired) == len(self._rows) and (told := observed.get(_place(one.edit))):
                    yield from files[one.edit.file].guarded(one.edit, told)
            if self._is_time_for_conditions:
                yield from self._guarded(files)
            yield edit

    def _guarded(self, files: Mapping[str, FileCandidates]) -> Iterator[SourceEdit]:
        self._are_guarded = True
        return guarded(files, [one for one in self._lacking if one.edit.file in files])

    def _noted(self, edits: Iterable[SourceEdit]) -> Iterator[SourceEdit]:
        """The edits that are made in time, whose places among all are kept."""
        for edit in edits:
            if time.monotonic() >= self._deadline:
                return
            self.places.setdefault(edit, len(self.places))
            yield edit

    def _take(self, batch: Sequence[Sieved]) -> None:
        self.refuted += sum(one.refuted for one in batch)
        self.sieved += (one for one in batch if not one.refuted)
        passing = [one for one in batch if one.passes(len(self._rows))]
        sure = [one for one in passing if not self._doubts(one)]
        counted = [one for one in passing if self._counts(one)]
        self._found += sum(self._counts(one) for one in sure)
        self._is_checked |= any(one.ran for one in sure)
        is_first_sure = self._found > 0 and not self._is_sure
        if is_first_sure or (self._first is None and counted):
            self._first, self._is_sure = self._taken, is_first_sure
        self._lacking += (one for one in batch if self._may_lack_a_condition(one))

    def _may_lack_a_condition(self, one: Sieved) -> bool:
        is_put_in = len(one.edit.parts) == 1 and one.edit.parts[0].kind in _PUT_IN
        return is_put_in and (bool(one.broken) or one.refuted or len(one.repaired) < len(self._rows))

    @property
    def _taken(self) -> float:
        return time.monotonic() - self._began

    @property
    def _is_over(self) -> bool:
        """Whether enough was found to try no more."""
        if self._first is None:
            return False
        more = max(LEAST, AGAIN * self._first) * (1.0 if self._is_sure else DOUBTING)
        return self._found >= ENOUGH or self._taken > self._first + more

    @property
    def _is_time_for_conditions(self) -> bool:
        if self._are_guarded or self._first is not None or self._is_checked:
            return False
        is_late = self._taken > UNGUARDED * (self._deadline - self._began)
        return is_late and any(len(one.repaired) == len(self._rows) for one in self._lacking)


def _place(edit: SourceEdit) -> At:
    """Where an edit of one part stands."""
    (part,) = edit.parts
    return edit.file, part.start, part.end, part.kind is Kind.BEHIND


def guarded(files: Mapping[str, FileCandidates], lacking: Sequence[Sieved]) -> Iterator[SourceEdit]:
    """Statements that mend most under conditions: the likely ones of each statement before the others of any."""
    statements = [one.edit for one in sorted(lacking, key=lambda one: -len(one.repaired))]
    open_ = (edit for edit in statements if next(files[edit.file].guarded(edit), None) is not None)
    ways = [islice(files[edit.file].guarded(edit), CONDITIONS) for edit in islice(open_, ALMOST)]
    return (edit for edits in zip_longest(*ways) for edit in edits if edit is not None)
