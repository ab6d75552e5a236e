"""The search for the run that a failing run is compared with: all kinds of patches, by turns.

What is preferred is looked for first, but no kind takes so much of the time that none is left for the others: each has
its turns, from short ones to long ones, and goes on where its last one ended. Of all that was found in time the kind is
taken that is preferred. A part of the time is kept for comparing the two runs.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import IntEnum
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from whence.alter.session import Session
from whence.dependence.predicate_switching import Failing
from whence.dependence.slices import symptom_start
from whence.diagnosis.edit_trials import EditTrials
from whence.diagnosis.edited_program import edited_program
from whence.diagnosis.edits_alone import ALONE, FIRST_ALONE, EditsAlone, end_of_first
from whence.diagnosis.likely_edits import likely_edits
from whence.diagnosis.own_verdict import files_of_tests
from whence.diagnosis.spectrum_and_slice import Evidence
from whence.diagnosis.spectrum_and_slice import locate as spectrum_and_slice
from whence.diagnosis.suggested import NOTHING, Suggested
from whence.diagnosis.tried_edits import STATEMENTS, known_fixes, likeliest_first, words_of
from whence.errors import WhenceError
from whence.findings import Statement, plural
from whence.investigation.clock import OutOfTime, alarm
from whence.probe.instrument import Variant
from whence.program.c_source import CSource
from whence.program.source_edits import SourceEdit, edited, edited_line
from whence.subject.candidate_edits import CandidateRuns
from whence.subject.runs import counters
from whence.subject.suspiciousness import rank_by_coverage
from whence.subject.symptoms import symptom_of
from whence.subject.trace_reader import TraceReader
from whence.techniques.bugfix.candidates import file_candidates
from whence.techniques.bugfix.suspects import Suspects
from whence.techniques.chains.reference import Kind, Reference, critical
from whence.techniques.chains.technique import nearest
from whence.techniques.rules.repairs import RepairSearch
from whence.techniques.value_replacement.technique import searched_pairs

if TYPE_CHECKING:
    from whence.alter.work import Work
    from whence.investigation.investigation import Investigation
    from whence.subject.recorder import Recording

COMPARED = 6  # equally good switches or edits, at most, of which the run that they patch is looked at
RULES = 32  # ... and rules, of which several can stand in one statement, as far as there is time
MANY = 1 << 20  # events of a failing run from which on it is not recorded with several patches
REPAIRS = 0.9  # score from which on a rule is taken for a repair
SEARCHING = 0.6  # of the time, at most, for finding a run to compare with: the rest is for comparing
SEARCHING_SHORT = 0.8  # ... with a failing run of fewer events than MANY, which takes a second or two
LATE = 1.0  # seconds that the search may go on when its time is over, before it is ended
JOINT = 0.75  # of the time for edits, for those that one build holds many of
ALTERING = 0.9  # of the search's time, for altered runs: the rest is for choosing among what they found


class Choice(IntEnum):
    """The kinds of runs to compare with, the preferred ones first (bench.chains)."""

    REPAIR = 0  # a rule that repairs (nearly) all failing cases: it comes nearest to the program without its fault
    EDIT = 1  # of the source, with which all cases pass: it fits them by chance more often than a rule does
    SWITCH = 2
    PAIR = 3
    RULE = 4  # one with which this case passes, whatever else it does
    CASE = 5

    @property
    def kind(self) -> Kind:
        """As results name it."""
        return _KINDS[self]


_KINDS = {
    Choice.REPAIR: Kind.RULE,
    Choice.SWITCH: Kind.SWITCH,
    Choice.PAIR: Kind.PAIR,
    Choice.RULE: Kind.RULE,
    Choice.EDIT: Kind.EDIT,
    Choice.CASE: Kind.CASE,
}
PATCHES = (Choice.REPAIR, Choice.SWITCH, Choice.PAIR, Choice.RULE)
# Whose turn it is, and the share that it may take of the time that is left then.
TURNS = (
    (Choice.REPAIR, 0.25),
    (Choice.SWITCH, 0.25),
    (Choice.EDIT, 0.75),
    (Choice.PAIR, 0.35),
    (Choice.REPAIR, 0.6),
    (Choice.SWITCH, 0.6),
    (Choice.PAIR, 0.8),
    (Choice.RULE, 1.0),
)


BETTER = 0.85  # ... at least, where something is found that its kind is preferred to


class ReferenceSearch:
    """Finds runs to compare a failing case with; ``remarks`` tells what was in vain. What was found is kept."""

    def __init__(self, investigation: Investigation, recording: Recording, finders: Mapping[Choice, Finder]) -> None:
        self._investigation, self._recording = investigation, recording
        self._finders = {choice: finders[choice] for choice in sorted(finders)}
        self.remarks: list[str] = []

    @classmethod
    def of(
        cls,
        investigation: Investigation,
        row: int,
        recording: Recording,
        choices: Iterable[Choice] = Choice,
        suggested: Suggested = NOTHING,
    ) -> ReferenceSearch:
        """For the failing case of a row, among some kinds of runs; no patch is made in code of tests.

        Rules are tried in the order of the ``suggested`` ranking. Of equally good ones that is taken which its first
        entry has, or another one of that statement, and none that was refuted.
        """
        tests = files_of_tests(investigation.subject, [investigation.runs.tested[row]])
        rules, switches = _Rules(investigation, row, tests, suggested), _Switches(investigation, recording, tests)
        finders: dict[Choice, Finder] = {
            Choice.REPAIR: _Repairs(rules),
            Choice.SWITCH: switches,
            Choice.PAIR: _Pairs(investigation, row, recording, tests),
            Choice.RULE: rules,
            Choice.EDIT: _Edits(investigation, recording, tests, (rules, switches)),
            Choice.CASE: _Cases(investigation, row),
        }
        return cls(investigation, recording, {choice: finders[choice] for choice in choices})

    @property
    def is_over(self) -> bool:
        """Whether all was tried: what was not found is not there."""
        return all(finder.is_over for finder in self._finders.values())

    def best(self, behind: int = -1) -> tuple[Choice, Reference] | None:
        """The preferred one of the kinds behind a choice (-1: of all); None where there is none in time."""
        wanted = [choice for choice in self._finders if choice > behind]
        searching = SEARCHING if self._recording.trace.events > MANY else SEARCHING_SHORT
        with self._investigation.clock.part(searching):
            found: Sequence[Reference] = ()
            try:
                with alarm(self._investigation.clock.left + LATE):
                    self._search(wanted)
                    choice, found = self._chosen(wanted)
                    return (choice, self._nearest(found)) if choice is not None else None
            except OutOfTime:
                choice, found = self._chosen(wanted)
                return (choice, found[0]) if choice is not None else None

    def _search(self, wanted: Sequence[Choice]) -> None:
        """Let each kind have its turns, as long as nothing is found that is preferred to it.

        The last turn of the only kind of which not all was tried has all the time that is left.
        """
        turns = [(choice, share) for choice, share in TURNS if choice in wanted]
        if not turns:
            return
        with self._investigation.work("looking for a run to compare with", ALTERING) as work:
            for number, (choice, share) in enumerate(turns):
                finder = self._finders[choice]
                is_found = any(self._finders[other].found() for other in wanted if other <= choice)
                if is_found or finder.is_over or work.stopped:
                    continue
                is_last = choice not in [later for later, _ in turns[number + 1 :]]
                is_only = all(self._finders[other].is_over for other, _ in turns if other is not choice)
                if any(self._finders[other].found() for other, _ in turns if other > choice):
                    share = max(share, BETTER)
                with work.share(1.0 if is_last and is_only else share):
                    finder.take_turn(work)

    def _chosen(self, wanted: Sequence[Choice]) -> tuple[Choice | None, Sequence[Reference]]:
        """The first kind of which something was found, and all of that; remarks what was in vain before it."""
        for choice in wanted:
            if found := self._finders[choice].found():
                return choice, found
            if choice is Choice.REPAIR and Choice.RULE in wanted and not self._finders[Choice.RULE].found():
                continue  # that there is not even such a rule is remarked then
            remark = f"compared with no {choice.kind}: {self._finders[choice].why_none()}"
            self.remarks += [remark] if remark not in self.remarks else []
        return None, ()

    def _nearest(self, found: Sequence[Reference]) -> Reference:
        """Of patched runs the one that changes least; of a long run the first."""
        if len(found) == 1 or self._recording.trace.events > MANY:
            return found[0]
        self._investigation.build(Variant.REPLAY)
        clock = self._investigation.clock
        ends = clock.within(1.0)
        with Session(self._investigation.subject, self._recording.case, variant=Variant.REPLAY) as session:
            return nearest(session, found, lambda: time.monotonic() >= ends)


# ---- Where reference runs come from ----------------------------------------------------------------------------------


class Finder(ABC):
    """Looks for one kind of runs, turn by turn."""

    def __init__(self) -> None:
        self.is_over = False  # there is nothing more to find
        self._error = ""

    def take_turn(self, work: Work) -> None:
        """Look for runs until one is found or the work's time is over."""
        try:
            self._look(work)
        except WhenceError as error:
            self._error, self.is_over = str(error), True

    def why_none(self) -> str:
        """Why nothing was found."""
        return self._error or self._why_none() + ("" if self.is_over else ", in the time that there was")

    @abstractmethod
    def found(self) -> list[Reference]:
        """What was found so far, the preferred ones first."""

    @abstractmethod
    def _look(self, work: Work) -> None:
        """Go on looking; raises WhenceError where that is of no use."""

    @abstractmethod
    def _why_none(self) -> str:
        """Why nothing was found, as far as it is known."""


class _Rules(Finder):
    """Rules with which the case passes, whatever else they do."""

    def __init__(self, investigation: Investigation, row: int, without: Collection[str], suggested: Suggested) -> None:
        super().__init__()
        self._suggested = suggested
        self.case = investigation.runs.tested[row].case.name
        self.search = RepairSearch(
            investigation.subject, investigation.runs, row, without, suggested.rows, suggested.ranking or None
        )

    def _look(self, work: Work) -> None:
        self.look(work, None)

    def look(self, work: Work, least: float | None) -> None:
        """Go on trying rules."""
        self.search.go_on(work, least)
        self.is_over = self.search.is_over

    def found(self) -> list[Reference]:
        return self.references(0.0)

    def references(self, least: float) -> list[Reference]:
        """The best rules of those tried so far, as runs that they patch."""
        repairs = self.search.best(least, self._suggested.refuted, self._suggested.told)
        first = [repair for repair in repairs if repair.statement == self._suggested.statement is not None]
        return [
            Reference(
                Kind.RULE,
                f"itself, with {repair.words}" + (f" on line {repair.statement.line}" if repair.statement else ""),
                repair.changes,
                repair.statement,
            )
            for repair in first[:1] or repairs[:RULES]
        ]

    def _why_none(self) -> str:
        return f"no change of a site repairs {self.case}"


class _Repairs(Finder):
    """The best rules that are as good as a repair of all failing cases like this one."""

    def __init__(self, rules: _Rules) -> None:
        super().__init__()
        self._rules = rules

    def _look(self, work: Work) -> None:
        self._rules.look(work, REPAIRS)
        self.is_over = self._rules.is_over

    def found(self) -> list[Reference]:
        return self._rules.references(REPAIRS)

    def _why_none(self) -> str:
        return f"no change of a site repairs {self._rules.case} and all like it"


class _Switches(Finder):
    """Critical predicates: the last one first, since of a long run that is taken.

    The first one (section 4.1) is often an option that is taken for another one, with which all that follows is another
    run: its chains hold more steps that are not in the ideal ones (docs/chains.md).
    """

    def __init__(self, investigation: Investigation, recording: Recording, without: Collection[str]) -> None:
        super().__init__()
        self._investigation, self._recording, self._without = investigation, recording, without
        self._failing: Failing | None = None
        self._references: list[Reference] = []
        self._tried = 0

    def _look(self, work: Work) -> None:
        subject, recording = self._investigation.subject, self._recording
        if self._failing is None:
            start = symptom_start(symptom_of(recording, subject.folder))
            self._failing = Failing.of(TraceReader(subject, recording.trace), recording.case, start.references)
        is_long = recording.trace.events > MANY  # of what is found for it one is taken, whichever that is
        found, self._tried = critical(work, self._failing, COMPARED, is_long)
        own = (one for one in found[::-1] if one.statement is None or one.statement.file not in self._without)
        self._references = list(own)
        self.is_over = not work.stopped

    def found(self) -> list[Reference]:
        return self._references

    def _why_none(self) -> str:
        tried = plural(self._tried, "branch instance")
        return f"{self._recording.case.name} passes with none of {tried} sent the other way"


class _Pairs(Finder):
    """The value at the most suspicious statement that has one, the first in time."""

    def __init__(self, investigation: Investigation, row: int, recording: Recording, without: Collection[str]) -> None:
        super().__init__()
        self._investigation, self._row, self._case = investigation, row, recording.case.name
        self._without = without
        self._references: list[Reference] = []

    def _look(self, work: Work) -> None:
        investigation = self._investigation
        searched = searched_pairs(investigation, [self._row], work)
        self.is_over = not work.stopped
        statements = investigation.subject.places.statements
        found = searched.pairs[~searched.pairs["relaxed"]] if searched.targets else np.zeros(0, searched.pairs.dtype)
        pairs = [pair for pair in found if statements[int(pair["statement"])].file not in self._without]
        if not pairs:
            return
        ranks = {entry.statement: entry.rank for entry in rank_by_coverage(investigation.coverage, "op2")}
        order = sorted(pairs, key=lambda p: (ranks.get(statements[int(p["statement"])], len(ranks)), int(p["event"])))
        first, statement = order[0], statements[int(order[0]["statement"])]
        changes = searched.targets[0].changes(np.array([first["event"]]), np.array([first["alternate"]]))
        text = f"itself, with another value on line {statement.line}"
        self._references = [Reference(Kind.PAIR, text, changes, statement)]

    def found(self) -> list[Reference]:
        return self._references

    def _why_none(self) -> str:
        return f"{self._case} passes with no other value that was tried"


class _Edits(Finder):
    """The program with the likeliest edit of its source with which all cases pass, and which passing ones come to.

    Code that is missing, another member or index, and tables have no instruction that a rule could change. Edits have
    one turn: first wider types, which are few and need a build each, then those that are tried as ``whence locate``
    does it (tried_edits.py), then what else needs a build each.
    """

    def __init__(
        self, investigation: Investigation, recording: Recording, without: Collection[str], others: Sequence[Finder]
    ) -> None:
        super().__init__()
        self._investigation, self._recording, self._without = investigation, recording, without
        self._others = others  # what patches this run alone stands where the fault is, or near it
        self._references: list[Reference] = []
        self._tried = 0

    def _look(self, work: Work) -> None:
        investigation = self._investigation
        subject = investigation.subject
        ranking = self._ranking()[:STATEMENTS]
        skipped = {*subject.places.changed_files(), *self._without}
        files = file_candidates(subject, [at.file for at in ranking if at.file not in skipped])
        statements = [(at.file, at.line) for at in ranking if at.file in files]
        deadline = work.deadline if work.deadline is not None else time.monotonic() + investigation.clock.left
        suspects = Suspects(files, statements, known_fixes(subject.folder))
        wider = list(islice(suspects.wider_types(), FIRST_ALONE))
        others = list(islice(suspects.alone(), len(wider), ALONE))
        alone = EditsAlone(subject, investigation.runs, suspects.sources)
        found = next(alone.passing(wider, end_of_first(deadline)), None)
        if found is None:
            now = time.monotonic()
            likely = self._joint(suspects, now + JOINT * (deadline - now))
            found = next((edit for edit in likely if any(alone.passing([edit], deadline))), None)
        if found is None:
            found = next(alone.passing(others, deadline), None)
        self._tried += alone.tried
        self.is_over &= not alone.is_late
        if found is not None:
            self._found(files[found.file].source, found)

    def _ranking(self) -> list[Statement]:
        """Where another patch mends the run, and then as ``whence locate`` ranks statements before it alters runs."""
        subject, recording = self._investigation.subject, self._recording
        symptom = symptom_of(recording, subject.folder)
        evidence = Evidence(self._investigation.coverage, TraceReader(subject, recording.trace), symptom)
        patched = [one.statement for other in self._others for one in other.found() if one.statement is not None]
        ranked = [entry.statement for entry in spectrum_and_slice(evidence, subject.name).ranking]
        return list(dict.fromkeys((*patched, *ranked)))

    def _joint(self, suspects: Suspects, deadline: float) -> list[SourceEdit]:
        """The likeliest edits that pass, of those that one build holds many of."""
        subject, runs = self._investigation.subject, self._investigation.runs
        trials = EditTrials(runs.failing, deadline, counts=lambda one: one.ran > 0)
        sources = suspects.sources
        with (
            likely_edits(subject, runs, suspects, runs.failing, deadline) as likely,
            CandidateRuns(subject, runs, deadline) as candidates,
        ):
            trials.run(candidates, sources, likely.edits, suspects.files, likely.conditions)
            self._tried, self.is_over = candidates.count.tried, trials.all_made
        passing = likeliest_first(trials, likely.places, sources)
        edits = (one.edit for _, one in passing if one.ran and len(one.edit.parts) == 1)
        return list(islice((edit for edit in edits if edited_line(sources[edit.file], edit)), COMPARED))

    def _found(self, source: CSource, edit: SourceEdit) -> None:
        """Build the program with an edit, to compare with."""
        if (line := edited_line(source, edit)) is not None:
            at = Statement(edit.file, line[0])
            with self._investigation.clock.standing():
                text = edited(source, edit)
                self._references = [edited_program(self._investigation.subject, at, text, words_of(edit))]

    def found(self) -> list[Reference]:
        return self._references

    def _why_none(self) -> str:
        return f"not all cases pass with any of {plural(self._tried, 'edit')} of the source"


class _Cases(Finder):
    """The passing case that executes most nearly the same code."""

    def __init__(self, investigation: Investigation, row: int) -> None:
        super().__init__()
        self.is_over = True
        self._investigation, self._row = investigation, row

    def _look(self, work: Work) -> None:
        """There is nothing to run."""

    def found(self) -> list[Reference]:
        runs = self._investigation.runs
        is_block = np.array([not counter.side for counter in counters(self._investigation.subject)], np.bool_)
        executed = runs.counts[:, : len(is_block)][:, is_block] > 0
        passing = [other for other in runs.passing if runs.tested[other].case.command is None]
        if not passing:
            return []
        near = min(passing, key=lambda other: (int((executed[other] != executed[self._row]).sum()), other))
        case = runs.tested[near].case
        return [Reference(Kind.CASE, f"the passing case {case.name}, which differs in its input, too", case=case)]

    def _why_none(self) -> str:
        return "no case passes that runs the program itself"
