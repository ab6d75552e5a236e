"""Edits that mend a program: candidates of the first statements, sieved in joint builds, the best ones confirmed.

What passes the sieve is compiled by itself, as the user builds the program, and run on all cases. Only what holds there
is told as passing. The first ones are checked further: with traps where memory or arithmetic is misused, and in
recorded runs whose memory is checked. What misuses memory comes behind what is clean, or not checked.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

from whence.diagnosis.edit_trials import EditTrials, ToldAt
from whence.diagnosis.edits_alone import ALONE, AT_ONCE
from whence.diagnosis.likely_edits import likely_edits
from whence.diagnosis.proposed_edits import proposed
from whence.diagnosis.recorded_edits import NOT_RECORDED, RECORDED, memory_of
from whence.findings import Entry, Statement
from whence.program.c_source import CSource
from whence.program.source_edits import SourceEdit, edited, unified_diff
from whence.run.outcome import Kind
from whence.subject.candidate_edits import CandidateRuns, Count, Sieved
from whence.subject.edited import Checks, Editing, Tried
from whence.subject.edited_elsewhere import EditedElsewhere
from whence.subject.edited_memory import EditedMemory
from whence.techniques.bugfix.candidates import FileCandidates, file_candidates
from whence.techniques.bugfix.descriptions import describe
from whence.techniques.bugfix.novelty import cost, new_literals
from whence.techniques.bugfix.right_values import RightValues
from whence.techniques.bugfix.suspects import Suspects

if TYPE_CHECKING:
    from whence.subject.runs import Runs
    from whence.subject.subject import Subject

Favoured = Mapping[Statement, Sequence[str]]  # descriptions of fixes of statements, the most likely first
SIEVING = 0.85  # of the time, for joint builds; the rest is for what passed
CONFIRMED = 12  # edits that are compiled by themselves, the best ones
NEAREST = 4  # ... where none passes
FIRST_OF_ALL = -1  # the place of edits that rules stand for
NOT_HELD = "compiled by itself it mends no failing case"


@dataclass(slots=True)
class Mending:
    """An edit that was compiled by itself and run on all cases; what further ``checks`` say of it.

    ``alike`` others are the same to an optimising compiler.
    """

    edit: SourceEdit
    tried: Tried
    diff: str
    descriptions: list[str]
    place: int  # in the order in which it was tried
    checks: Checks = field(default_factory=lambda: Checks(NOT_RECORDED, NOT_RECORDED))
    alike: int = 0

    def passes(self, failing: int) -> bool:
        """Whether all cases pass with it; ``failing`` do without."""
        return self.tried.passes(failing)


@dataclass(slots=True)
class Found:
    """What a search came to: the best edits first; ``passing`` counts those that passed the sieve.

    ``made`` counts the edits that were made until the search ended, with ``all_made`` all that there are; ``proposed``
    those that rules stand for; ``refuted`` those with which all cases pass, and a test of another program fails.
    ``unconfirmed`` are those of them that were to be compiled by themselves, by why they are not among the best.
    """

    mendings: list[Mending] = field(default_factory=list)
    count: Count = field(default_factory=Count)
    made: int = 0
    all_made: bool = False
    proposed: int = 0
    passing: int = 0
    refuted: int = 0
    unconfirmed: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)
    files: dict[str, CSource] = field(default_factory=dict)


class EditSearch:
    """A search for edits of a program that mend its failing cases, until ``deadline`` (of ``time.monotonic``).

    ``made``: how often fixes of each kind were made, which says what is tried first.
    """

    def __init__(self, subject: Subject, runs: Runs, deadline: float, made: Mapping[str, int]) -> None:
        self._subject, self._runs, self.deadline, self._made = subject, runs, deadline, made
        self._elsewhere = subject.derived(EditedElsewhere)
        self._favoured: Favoured = {}
        self.found = Found()

    def run(self, ranking: Sequence[Entry], favoured: Favoured | None = None) -> Found:
        """The edits of the ranked statements that mend most, the smallest first.

        Of edits of one size those come first whose descriptions are ``favoured``.
        """
        self._favoured = favoured or {}
        statements = [(entry.statement.file, entry.statement.line) for entry in ranking]
        files = self._files([file for file, _ in statements])
        suspects, began = Suspects(files, statements, self._made), time.monotonic()
        with likely_edits(self._subject, self._runs, suspects, self._failing, self.deadline) as likely:
            self.found.seconds += time.monotonic() - began
            self._try(likely.edits, self.deadline, files, islice(suspects.alone(), ALONE), likely.conditions)
        return self.found

    def with_values(self, right: Mapping[Statement, RightValues], deadline: float) -> None:
        """Try the edits that follow from ``right`` values, of the first statements first, until ``deadline``."""
        files = self._files([statement.file for statement in right])
        known = [(files[at.file], at.line, values) for at, values in right.items() if at.file in files]
        self._try((edit for file, line, values in known for edit in file.with_values(line, values)), deadline)

    def _try(
        self,
        candidates: Iterable[SourceEdit],
        deadline: float,
        files: Mapping[str, FileCandidates] | None = None,
        alone: Iterable[SourceEdit] = (),
        conditions: ToldAt | None = None,
    ) -> None:
        """Sieve edits, compile the best by themselves, and put what mends among what was found.

        Where none passes, statements put in are tried under ``conditions`` that were observed where they stand, or that
        ``files`` have for them, and then those that no joint build can hold, ``alone``.
        """
        found, began, rows = self.found, time.monotonic(), self._failing
        end = began + SIEVING * (deadline - began)
        trials = EditTrials(
            rows,
            end,
            doubts=lambda one: bool(self.fitted(one.edit)),
            found_before=bool(self.passing),
        )
        with CandidateRuns(self._subject, self._runs, end) as runs:
            trials.run(runs, found.files, candidates, files or {}, conditions)
            found.count.add(runs.count)
        found.all_made, sieved, found.refuted = trials.all_made, trials.sieved, found.refuted + trials.refuted
        order = {edit: found.made + place for edit, place in trials.places.items()}
        found.made += len(order)
        best = sorted(sieved, key=lambda one: self._promise(one, len(rows), order[one.edit]))
        known = [self._text(mending.edit) for mending in self.passing]
        passing = sum(self._text(one.edit) not in known for one in trials.passing)
        found.passing += passing
        with Editing(self._subject, self._runs, deadline) as editing:
            most = CONFIRMED if passing else NEAREST
            tried = self._confirm(editing, [one.edit for one in best[: min(most, passing or most)]], order)
            found.unconfirmed.update(one.trouble or NOT_HELD for one in tried if not one.repaired)
            if not self.passing:
                self._alone(editing, list(alone))
            elif next(iter(alone), None) is not None:
                found.all_made = False
                self._alone(editing, self._other_types(files or {}))
            self._join(editing)
        self._order()
        found.seconds += time.monotonic() - began

    def propose(self, rules: Sequence[Mapping[str, Any]], deadline: float) -> None:
        """Try the edits of the best ``rules`` (of that part), each in a build of its own, until ``deadline``.

        Headers are edited, too: all modules that include one are compiled again.
        """
        found, began = self.found, time.monotonic()
        for name in dict.fromkeys(rule["file"] for rule in rules):
            path = self._subject.folder / name
            if name not in found.files and self._is_unchanged(name) and self._subject.places.modules_with(path):
                found.files[name] = CSource(path.read_bytes())
        edits = proposed(rules, found.files)
        with Editing(self._subject, self._runs, deadline) as editing:
            self._by_themselves(editing, edits, dict.fromkeys(edits, FIRST_OF_ALL))
            self._join(editing)
        found.proposed, found.made = found.proposed + len(edits), found.made + len(edits)
        found.seconds += time.monotonic() - began
        self._order()

    @property
    def passing(self) -> list[Mending]:
        """The edits with which all cases pass, the best first."""
        return [mending for mending in self.found.mendings if mending.passes(len(self._failing))]

    @property
    def _failing(self) -> list[int]:
        """The rows of the cases to be mended: not those that fail by a memory error, which no plain run shows."""
        return [row for row in self._runs.failing if self._runs.tested[row].outcome.kind is not Kind.MEMORY]

    def _files(self, names: Sequence[str]) -> dict[str, FileCandidates]:
        """The files of statements that can be edited; of the others is said why not."""
        unchanged = [name for name in dict.fromkeys(names) if self._is_unchanged(name)]
        found = file_candidates(self._subject, unchanged)
        for name in unchanged:
            if name not in found:
                self._note(f"{name} is not compiled by itself: no edit of it was tried but what rules stand for")
        self.found.files |= {name: file.source for name, file in found.items()}
        return found

    def _is_unchanged(self, name: str) -> bool:
        """Whether a file is what the program was built from; it is said where it is not."""
        if name in self._changed:
            self._note(f"{name} was changed since the program was built: no edit of it was tried")
        return name not in self._changed

    @cached_property
    def _changed(self) -> set[str]:
        return set(self._subject.places.changed_files())

    def _note(self, text: str) -> None:
        if text not in self.found.notes:
            self.found.notes.append(text)

    # ---- What holds --------------------------------------------------------------------------------------------------

    def _promise(self, one: Sieved, failing: int, place: int) -> tuple[bool, bool, int, int, int, int]:
        """The order in which edits are compiled by themselves."""
        own = self._favour(one.edit)
        return not one.passes(failing), bool(one.broken), -len(one.repaired), self._cost(one.edit), own, place

    def _confirm(self, editing: Editing, edits: Sequence[SourceEdit], order: Mapping[SourceEdit, int]) -> list[Tried]:
        """Compile edits by themselves, and keep those with which a failing case passes; what came of each."""
        texts = [self._text(edit) for edit in edits]
        seen = {mending.diff for mending in self.found.mendings}
        found = editing.texts(texts)
        for edit, (file, text), tried in zip(edits, texts, found, strict=True):
            old = self.found.files[file].text
            diff = unified_diff(file, old, text)
            at, passes = Statement(file, edit.line), tried.passes(len(self._failing))
            if passes and self._elsewhere.sieve(at, text, self.deadline).found:
                self.found.refuted += 1
            elif tried.repaired and diff not in seen:
                seen.add(diff)
                self.found.mendings.append(Mending(edit, tried, diff, self._described(edit), order[edit]))
        return found

    def _alone(self, editing: Editing, edits: Sequence[SourceEdit]) -> None:
        """Edits that need a build each, until one of them passes."""
        order = {edit: self.found.made + place for place, edit in enumerate(edits)}
        self.found.made += len(edits)
        self.found.all_made &= len(edits) < ALONE
        passing = len(self.passing)
        for start in range(0, len(edits), AT_ONCE):
            if len(self.passing) > passing or time.monotonic() >= self.deadline:
                self.found.all_made = False
                break
            self._by_themselves(editing, edits[start : start + AT_ONCE], order)

    def _other_types(self, files: Mapping[str, FileCandidates]) -> list[SourceEdit]:
        """The edits of declarations where a cast lets all cases pass: a type is wrong, and may be so from the start."""
        casts = [m.edit for m in self.passing if any("cast" in text.split() for text in m.descriptions)]
        statements = list(dict.fromkeys((edit.file, edit.line) for edit in casts))
        return list(islice(Suspects(files, statements, self._made).alone(), ALONE))

    def _by_themselves(self, editing: Editing, edits: Sequence[SourceEdit], order: Mapping[SourceEdit, int]) -> None:
        """Edits that no sieve has seen, compiled and counted."""
        before = len(self.passing)
        self._confirm(editing, edits, order)
        self.found.count.tried += len(edits)
        self.found.passing += len(self.passing) - before

    def _join(self, editing: Editing) -> None:
        """Of passing edits of a function that an optimising compiler makes the same code of, keep the smallest."""
        passing = sorted(self.passing, key=lambda m: (self._cost(m.edit), m.place))
        texts = [self._text(m.edit) for m in passing]
        first: dict[tuple[str, int, bytes], Mending] = {}
        for mending, code in zip(passing, editing.codes(texts), strict=True):
            function = self.found.files[mending.edit.file].function_at(mending.edit.parts[0].start)
            key = mending.edit.file, function.start_byte if function is not None else -1, code or b""
            kept = first.setdefault(key, mending) if code is not None else mending
            if kept is not mending:
                kept.alike += 1
                self.found.mendings.remove(mending)

    def check(self, deadline: float) -> None:
        """Check the first edits until ``deadline``, and put them in order again.

        Tests of other programs run with them; where none fails they are run with traps, and runs of them are recorded,
        whose memory is checked. In place of one that fails or misuses memory the next one comes first, and is checked.
        """
        checked = list[Mending]()
        with (
            Editing(self._subject, self._runs, deadline) as editing,
            EditedMemory(self._subject, self._runs, deadline) as memory,
        ):
            while waiting := [m for m in self.found.mendings[:RECORDED] if m not in checked]:
                for mending in waiting:
                    at, (_, text) = Statement(mending.edit.file, mending.edit.line), self._text(mending.edit)
                    mending.checks.elsewhere = self._elsewhere.check(at, text, deadline)
                self._check([m for m in waiting if not m.checks.elsewhere.found], editing, memory, deadline)
                checked += waiting
                self._order()

    def _check(self, waiting: Sequence[Mending], editing: Editing, memory: EditedMemory, deadline: float) -> None:
        """Check edits with traps and in recorded runs, and what the compiler says of them."""
        texts = [self._text(mending.edit) for mending in waiting]
        traps = editing.trapped(texts, [mending.tried for mending in waiting])
        for mending, (file, text), trap, warning in zip(waiting, texts, traps, editing.warned(texts), strict=True):
            at, checks = Statement(file, mending.edit.line), mending.checks
            checks.traps, checks.warning = trap, warning
            checks.memory = memory_of(memory, at, text, mending.tried, deadline)

    def _text(self, edit: SourceEdit) -> tuple[str, bytes]:
        """The file that an edit changes, with its new text."""
        return edit.file, edited(self.found.files[edit.file], edit)

    def _order(self) -> None:
        """Put the best edits first."""
        self.found.mendings.sort(key=self._worth)

    def _worth(self, mending: Mending) -> tuple[object, ...]:
        tried, cost = mending.tried, self._cost(mending.edit)
        gain = len(tried.repaired) - len(tried.broken)
        own = self._favour(mending.edit)
        return not mending.passes(len(self._failing)), -gain, mending.checks.doubt, cost, own, mending.place

    def _cost(self, edit: SourceEdit) -> int:
        return cost(self.found.files[edit.file], edit)

    def fitted(self, edit: SourceEdit) -> list[str]:
        """The numbers and characters that an edit brings into its file: they were made to fit the cases."""
        return sorted(new_literals(self.found.files[edit.file], edit))

    # ---- Words -------------------------------------------------------------------------------------------------------

    def _described(self, edit: SourceEdit) -> list[str]:
        """What an edit is called."""
        source = self.found.files[edit.file]
        old, new = source.text, edited(source, edit)
        return describe(*changed_range(old, new))

    def _favour(self, edit: SourceEdit) -> int:
        liked = self._favoured.get(Statement(edit.file, edit.line), ())
        mine = self._described(edit) if liked else ()
        return min((liked.index(text) for text in mine if text in liked), default=len(liked))


def changed_range(old: bytes, new: bytes) -> tuple[bytes, bytes]:
    """The lines from the first to the last that differ in two texts."""
    before, after = old.split(b"\n"), new.split(b"\n")
    first = next(
        (n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after))
    )
    most = min(len(before), len(after)) - first
    last = next((n for n in range(most) if before[-1 - n] != after[-1 - n]), most)
    return b"\n".join(before[first : len(before) - last]), b"\n".join(after[first : len(after) - last])
