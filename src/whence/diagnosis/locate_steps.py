"""The steps of ``locate``: each technique asked about the failure in turn, and what they say joined in one ranking.

Every step makes the ranking better, in a share of the time of its own: what fails or has no time costs a line.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import zip_longest
from typing import Any

from whence.alter.work import INTERRUPT, Work
from whence.diagnosis.chain import patched_chain
from whence.diagnosis.chosen_steps import ChosenSteps
from whence.diagnosis.combined_ranking import AROUND, SOURCES, fuse, put_last
from whence.diagnosis.confirmation import confirm
from whence.diagnosis.initial_values import of_enough_runs, suspected, with_initial_values, with_other_values
from whence.diagnosis.learned_ranking import chance_told, is_weighed, reranked, shipped
from whence.diagnosis.own_verdict import files_of_tests, others_first, told_of
from whence.diagnosis.reasoning import TREE, cause_tree, correction_sets
from whence.diagnosis.searches import FAILING, searches
from whence.diagnosis.spectrum_and_slice import SYMPTOMS, Evidence, fill_slice, locate, values_part
from whence.diagnosis.statement_kinds import Kinds, statement_kinds
from whence.diagnosis.suggested import Suggested
from whence.diagnosis.tried_edits import TriedEdits, edits_asked_for, has_clean, has_sure, known_fixes, tried_edits
from whence.diagnosis.whole_slice import whole_slice
from whence.errors import WhenceError
from whence.findings import Entry, Findings, Statement, Symptom
from whence.investigation.account import search_summary, summary
from whence.investigation.attempts import Attempts
from whence.investigation.close_cases import add_close_cases
from whence.investigation.first_use import compile_ahead
from whence.investigation.investigation import FEW, Investigation
from whence.run.cases import TAKE_APART
from whence.run.outcome import Kind
from whence.subject.initial_values import InitialValue, InitialValues
from whence.subject.memory_check import Checker
from whence.subject.recorder import Recording
from whence.subject.runs import Runs, blocks_executed, nearest_passing
from whence.subject.symptoms import symptom_of, unrecorded_symptom
from whence.subject.trace_reader import TraceReader
from whence.techniques.code_warnings import code_warnings
from whence.techniques.likely_invariants.technique import compared_values
from whence.techniques.memory.first_corruption import FirstCorruption, first_corruption, open_verdict
from whence.techniques.races.check import Checker as RaceChecker
from whence.techniques.races.failing_run import deciding_races
from whence.techniques.rules.initial_values import other_initial_values
from whence.techniques.schedules.failing_run import deciding_accesses
from whence.techniques.spectrum import spectrum
from whence.trace.decode import decode
from whence.trace.kernels import is_kept

PASSING_RECORDED = 5  # passing runs whose values are shown beside the failing run's
LONGEST_PASSING = 1_000_000  # blocks of a passing run that is recorded for its values alone
MAKING = 0.3  # of the time that is left, for making inputs
RECORDING, COMPILING = 0.5, 0.85  # of it, for recording the failing run, and where the analysis is compiled for it
SHORT_WINDOW = 4 << 20  # bytes, where there was no time for more
RECORDING_END = 0.5  # of it, for looking at so much
NO_TIME_FOR_ALL = "only the end of the failing run is looked at: there was no time for all of it (--budget 5m)"
CHECKS = 0.1  # of it, for looking for checks of the run that passed
ALIKE = 0.1  # of it, for finding failing runs that fail in the same way
READING = 0.4  # of it, for reading a run that is too long for memory in windows
DEPARTING = 0.1  # of it, for finding where a long one departs from passing ones
COMPARING, COMPARING_MOST = 0.25, 20.0  # of it, and seconds, for comparing values
REASONING = 0.1  # of it, for the cause tree
CHECKING, CHECKING_MOST = 0.2, 15.0  # of it, and seconds, for memory errors
WARNING, WARNING_MOST = 0.05, 3.0  # of it, and seconds, for what the compiler warns of
CHECKING_INSIDE = 0.1  # of it, for those that stay inside of a structure
CHECKING_LAST = 0.6  # of it, where the check is still to be compiled: that of memory comes behind all but confirming
SEARCHING = 0.5  # of it, for altered runs and formulas
ALTERING = 0.8  # of that, for altered runs
CHANGING, CHANGING_MOST = 0.35, 4.0  # of what is left then, and seconds, for other initial values that were read
SOLVING_MOST = 15.0  # seconds for formulas
# They change nothing of a clean rule's rank, and take long.
NOT_ASKED = "formulas were not asked, since a rule repairs all failing cases and breaks no passing one: whence formula"
FEW_VALUES = 0.3  # of it, for pairs of values, and then for formulas, where no rule is clean and edits come next
EDITING, EDITING_MOST = 0.7, 25.0  # of what is left then, and seconds, for edits of the source
ASKING_MOST = 5.0  # seconds for the few that the text asks for, where a rule is sure
FIRST, CALLERS = 5, 4  # statements that edits are tried at before those of so many open calls
CONFIRMING = 0.5  # of what is left then, for compiling changes
LATE = 2.0  # seconds that a search may go on when its share is over, before it is ended
TELLING, TELLING_MOST = 0.85, 12.0  # of it, and seconds, for the chain
READING_VALUES = 0.5  # of what is left at the end, for values of the slice; the rest is for those of passing runs
CRASH = "crash"  # a symptom whose place is known
VALUES_OF = 50  # ranked statements whose values are gathered


@dataclass(slots=True)
class Diagnosis:
    """What is known of a failure so far, from the spectrum alone to all that altered runs say."""

    investigation: Investigation
    options: ChosenSteps
    attempts: Attempts = field(init=False)
    generated: list[str] = field(default_factory=list)  # about inputs that were made
    found: list[Findings] = field(default_factory=list)
    rows: list[int] = field(init=False)  # of failing cases; the first is the one to explain
    base: Findings = field(init=False)
    recording: Recording | None = None
    reader: TraceReader | None = None
    is_end: bool = False  # the recording is the end of a run that is too long for memory
    whole: dict[Statement, int] = field(default_factory=dict)  # the lines of the slice of all of it, and their depths
    passing: list[TraceReader] = field(default_factory=list)
    chain: Findings | None = None
    initial: InitialValues = field(init=False)
    entries: list[InitialValue] = field(default_factory=list)  # of these the suspected ones, the first ones first
    kinds: dict[Statement, Kinds] | None = None  # what statements do, once it was looked up
    tests: set[str] | None = None  # source files of test code, once it was looked up
    confirmed: Findings | None = None  # all of it joined, the changes compiled in the source
    is_misuse: bool = False  # the failure came of a memory error
    later: frozenset[Statement] = frozenset()  # what was executed behind the first memory error alone

    def __post_init__(self) -> None:
        self.attempts = Attempts(self.investigation.clock, self.investigation.watcher)
        self.initial = InitialValues(self.investigation.subject)

    @property
    def runs(self) -> Runs:
        """The runs of all cases."""
        return self.investigation.runs

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return self.investigation.clock.left

    # ---- The ranking so far ------------------------------------------------------------------------------------------

    def findings(self) -> Findings:
        """The ranking that joins all that was found, with what was done and what failed."""
        joined = self.confirmed or self.joined()
        findings = replace(joined, parts=dict(joined.parts))  # which is added to
        if self.reader is not None:
            findings.parts["values"] = values_part(findings.ranking[:VALUES_OF], self.reader, self.passing)
        if self.chain is not None:
            findings.parts |= {name: part for name, part in self.chain.parts.items() if name == "chain"}
            findings.summary = [*findings.summary, *self.chain.summary]
        investigation = self.investigation
        lines = summary(investigation.subject, self.runs, self.recording, investigation.told_of_checks)
        lines += told_of(findings, self.tests or set())
        if "chance" in findings.parts:
            lines.append(chance_told(findings.parts["chance"]))
        findings.summary = [*self.generated, *lines, *findings.summary, *self.attempts.lines]
        return findings

    def joined(self) -> Findings:
        """What was found, in one ranking."""
        return self.ordered(fuse(self.base, self.found, AROUND if self.is_open else SOURCES))

    def ordered(self, combined: Findings) -> Findings:
        """Findings in the fixed order ranked by learned weights; the statements of test code behind all others."""
        if self.tests is None:
            self.tests = files_of_tests(self.investigation.subject, [self.runs.tested[row] for row in self.rows])
        weighed = put_last(self._weighed(combined), self._is_later)
        return others_first(weighed, self.tests)

    def _is_later(self, entry: Entry) -> bool:
        """Whether the run came to a statement behind the memory error alone, and no change there mends it either."""
        return entry.statement in self.later and "rules" not in entry.evidence

    def _weighed(self, combined: Findings) -> Findings:
        """Findings in the fixed order ranked by learned weights, where these were learned from the like."""
        if not self.options.has("weights") or not is_weighed(self.base, self.found, self.is_open):
            return combined
        if self.kinds is None:
            self.kinds = statement_kinds(self.investigation.subject)
        return reranked(combined, self.base, self.found, self.kinds, shipped())

    @property
    def is_open(self) -> bool:
        """Whether nothing is known of the right output."""
        failing = self.runs.tested[self.rows[0]]
        expected, is_wrong = failing.case.expected, failing.outcome.kind in (Kind.WRONG_OUTPUT, Kind.WRONG_STATUS)
        return not is_wrong and (expected is None or expected.stdout is None)

    def take(self, name: str, doing: str, step: Callable[[], Findings], seconds: float) -> None:
        """Add what a step finds, and make that known as the best so far."""
        if (found := self.attempts.take(name, doing, step, seconds)) is not None:
            before = [one for one in self.found if one.technique == found.technique == "rules"]
            self.found = [*(one for one in self.found if one not in before), found]
            for edits in before:  # which were tried before the rules were
                self.found = with_other_values(self.found, edits.parts["rules"], len(self.runs.passing))
            self.publish()

    def publish(self) -> None:
        """Make the findings known as the best so far."""
        investigation = self.investigation
        investigation.watcher.best(investigation.current(self.findings()), investigation.subject.folder)

    # ---- Runs --------------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Run the cases, and rank by the spectrum. Raises SubjectError where no case fails."""
        investigation = self.investigation
        self.rows = investigation.failing_rows()
        first = self.runs.tested[self.rows[0]]
        suspects = spectrum(investigation.coverage, formula=self.options.formula, subject=investigation.subject.name)
        self.base = replace(suspects, technique="locate", symptom=unrecorded_symptom(first.result, first.outcome))
        self.publish()

    def make_inputs(self) -> None:
        """Where no case passes, make some that are close to the failing one, and rank by all of them."""
        investigation = self.investigation
        if not self.options.generate or self.runs.passing:
            return
        make = partial(add_close_cases, investigation, self.rows[0], investigation.clock.within(MAKING))
        self.generated = self.attempts.take("inputs", "making inputs", make, MAKING * self.left + LATE) or []
        others = investigation.failing_rows()
        self.rows = [*self.rows, *(row for row in others if row not in self.rows)]  # the user's first
        self.rank_anew()
        self.publish()

    def can_compare(self) -> bool:
        """Whether there is a failing run whose values can be looked at, and that can be altered."""
        if all(self.runs.tested[row].case.command is None for row in self.rows):
            return True
        hint = "" if self.investigation.subject.remarks else f" ({TAKE_APART})"  # which tell what became of capturing
        text = "no values were compared and no run was altered: the cases are commands, which may run anything"
        self.attempts.lines.append(text + hint)
        self.slice()
        self.check_memory()
        return False

    # ---- Steps -------------------------------------------------------------------------------------------------------

    def explain(self) -> None:
        """Record the failing run, and take one step after the other."""
        if self.options.has("memory"):
            compile_ahead(Checker(self.investigation.subject))
        self.slice()
        self.slice_all()
        self.make_inputs()
        self.keep_alike()
        self.depart()
        check_is_compiled = Checker.is_compiled()
        if check_is_compiled:
            self.check_memory()
        self.check_warnings()
        self.check_races()
        reader, recording, symptom = self.reader, self.recording, self.base.symptom
        if self.options.has("causes") and reader is not None and recording is not None and symptom is not None:
            seconds = min(REASONING * self.left, TREE)
            tree = partial(cause_tree, reader, symptom, recording, seconds)
            self.take("cause tree", "looking for causes", tree, seconds + LATE)
        if self.options.has("invariants") and self.runs.passing:
            seconds = min(COMPARING * self.left, COMPARING_MOST)
            self.take("invariants", "comparing values", partial(self.compare, seconds), seconds + LATE)
        if self.options.has("rules", "switch", "values", "formula"):
            self.alter_and_edit()
        if not check_is_compiled:
            self.check_memory(CHECKING_LAST * self.left)
        if self.options.has("confirmation"):
            self.confirm()
        if self.options.has("chain"):
            self.tell()
        if reader is not None:
            self.read_slice(reader)
            self.passing = self.attempts.take("values of passing runs", "recording passing runs", self.nearest) or []
        self.publish()

    def slice(self) -> None:
        """Record the first failing case that can be recorded, and rank by what led to its failure.

        Where there is no time for the whole run, its end is looked at.
        """
        self.take_slice("no trace", RECORDING if is_kept(decode) else COMPILING)
        if self.attempts.is_late and not self.investigation.setup.window:
            why = self.attempts.lines.pop()
            self.investigation.keep_end(SHORT_WINDOW)
            self.take_slice("no trace of the end of the run", RECORDING_END)
            self.attempts.lines.append(why if self.recording is None else NO_TIME_FOR_ALL)

    def slice_all(self) -> None:
        """Of a run whose end alone fits into memory find what led to the failure in all of it, where there is time."""
        if self.recording is None or not self.is_end or not self.options.has("slice"):
            return
        seconds = READING * self.left
        look = partial(whole_slice, self.investigation, self.rows[0], self.recording, seconds)
        found = self.attempts.take("the run before its end", "reading the whole run", look, seconds + LATE)
        if found is not None:
            self.whole = found.depths
            self.attempts.lines.append(found.told)
            self.rank_anew()
            self.publish()

    def take_slice(self, name: str, share: float) -> None:
        """Record the failing run, and rank by its slice, in a share of the time that is left."""
        investigation = self.investigation
        window = investigation.setup.window

        def sliced() -> tuple[int, Recording, TraceReader, Findings]:
            row, recording = investigation.record_failing_or_end(self.rows)
            subject = investigation.subject
            reader = TraceReader(subject, recording.trace)
            evidence = Evidence(investigation.coverage, reader, symptom_of(recording, subject.folder))
            if not self.options.has("slice"):
                return row, recording, reader, replace(self.base, symptom=evidence.symptom)
            return row, recording, reader, locate(evidence, subject.name, self.options.formula)

        found = self.attempts.take(name, "recording the failing run", sliced, share * self.left)
        if found is not None:
            row, self.recording, self.reader, self.base = found
            self.is_end = investigation.setup.window != window
            self.rows = [row, *(other for other in self.rows if other != row)]
            self.publish()
            self.take_checks(self.recording)

    def take_checks(self, recording: Recording) -> None:
        """Let checks of the failing run that passed count in the ranking, where hardly any case passes."""
        take = partial(self.investigation.take_checks, recording)
        seconds = CHECKS * self.left
        if self.attempts.take("passed checks", "looking for checks that passed", take, seconds):
            self.rank_anew()
            self.publish()

    def rank_anew(self) -> None:
        """Rank by the coverage as it is now, and by the slice where there is one."""
        investigation, symptom = self.investigation, self.base.symptom
        subject = investigation.subject
        if self.reader is not None and symptom is not None and self.options.has("slice"):
            evidence = Evidence(investigation.coverage, self.reader, symptom, self.whole)
            self.base = locate(evidence, subject.name, self.options.formula)
        else:
            suspects = spectrum(investigation.coverage, formula=self.options.formula, subject=subject.name)
            self.base = replace(suspects, technique="locate", symptom=symptom)

    def keep_alike(self) -> None:
        """Of the failing cases keep those that fail as the recorded one does."""
        if self.recording is not None:
            alike = partial(self.investigation.alike, self.rows)
            doing, seconds = "recording failing runs", ALIKE * self.left
            self.rows = self.attempts.take("runs that fail alike", doing, alike, seconds) or self.rows[:1]

    def depart(self) -> None:
        """Look for where a long failing run departs from passing ones: what comes behind that is searched first."""
        if self.recording is not None and self.runs.passing:
            look = partial(self.investigation.depart, self.rows[0], self.recording)
            self.attempts.take("departure", "comparing with passing runs", look, DEPARTING * self.left)

    def compare(self, seconds: float) -> Findings:
        """Compare what recorded runs did; initial values that they read are in the first ranking from then on."""
        compared = compared_values(self.investigation, self.rows, seconds, self.initial)
        self.entries = suspected(compared, self.initial.entries)
        found = of_enough_runs(compared, len(self.runs.passing))
        self.base = with_initial_values(self.base, found, self.options.formula)
        return found

    def check_memory(self, seconds: float | None = None) -> None:
        """Look for memory errors in the failing run; the symptom tells of the first that the failure can come of."""
        recording, symptom = self.recording, self.base.symptom
        if symptom is None or not self.options.has("memory"):
            return
        # Inputs that were made count as good where they do not fail visibly: such a run may well corrupt memory, too.
        near = [] if self.generated else nearest_passing(self.runs, self.rows[0])
        seconds = seconds or min(CHECKING * self.left, CHECKING_MOST)
        if recording is None:  # none that fails as the program by itself does
            look = partial(open_verdict, self.investigation, self.runs.tested[self.rows[0]].case, near)
            shown = self.attempts.take("memory errors", "looking for what the verdict hangs on", look, seconds)
            if shown is not None:
                self._tell_memory(shown, symptom)
            return
        check = partial(first_corruption, self.investigation, recording, symptom, near)
        found = self.attempts.take("memory errors", "looking for memory errors", check, seconds)
        if found is None:
            return
        self._tell_memory(found, symptom)
        if not found.is_cause:
            inside, seconds = partial(check, members=True), min(CHECKING_INSIDE * self.left, CHECKING_MOST)
            further = self.attempts.take("memory errors", "looking for them inside of structures", inside, seconds)
            if further is not None and further.is_cause:
                self.found.remove(found.findings)
                self._tell_memory(further, symptom)

    def _tell_memory(self, found: FirstCorruption, symptom: Symptom) -> None:
        """Let memory errors count, and the symptom tell of the first that the failure can come of."""
        self.found.append(found.findings)
        self.is_misuse, self.later = found.is_cause, found.later
        if found.words:
            stands_alone = found.words.startswith(("before", "its"))
            failure = "" if stands_alone else SYMPTOMS.get(symptom.kind, "the failure") + " "
            text = f"{symptom.text}; {failure}{found.words}"
            self.base = replace(self.base, symptom=replace(symptom, text=text))
        self.publish()

    def check_warnings(self) -> None:
        """Look at what the compiler warns of in the statements that the failing runs executed."""
        if not self.options.has("warnings"):
            return
        seconds = min(WARNING * self.left, WARNING_MOST)
        look = partial(code_warnings, self.investigation.subject, self.base.ranking, time.monotonic() + seconds)
        self.take("warnings", "looking for warnings", look, seconds + LATE)

    def check_races(self) -> None:
        """Look for data races in the failing run, and for those whose other order lets the case pass."""
        recording = self.recording
        if recording is None or not self.options.has("races") or not recording.has_threads:
            return
        check = partial(deciding_races, self.investigation, recording)
        is_compiled = Checker.is_compiled() and RaceChecker.is_compiled()
        seconds = min(CHECKING * self.left, CHECKING_MOST) if is_compiled else CHECKING_LAST * self.left
        self.take("data races", "looking for data races", check, seconds)
        decide = partial(deciding_accesses, self.investigation, recording)
        self.take("order of threads", "comparing with another order of threads", decide, seconds)

    def alter(self) -> None:
        """Add what altered runs and formulas of the failing cases show; the last summary tells how much was run."""

        def searched() -> Findings:
            options = self.options
            with self.investigation.work(share=SEARCHING) as work:
                with work.share(ALTERING):
                    order = self.joined().ranking  # by what altered no run
                    steps = searches(self.investigation, self.rows, work, options.has("operators"), order)
                    for name, doing, share, step in (step for step in steps if options.has(step.name)):
                        with work.share(share * self.for_values if name == "values" else share):
                            if not work.stopped:
                                self.take(name, doing, step, _left(work) + LATE)
                if options.has("formula") and self.reader is not None and not work.stopped:
                    if self.is_mended:
                        self.attempts.lines.append(NOT_ASKED)
                    else:
                        self.ask_formulas(work)
            self.attempts.stopped |= work.stopped == INTERRUPT
            return Findings("alter", self.investigation.subject.name, summary=search_summary(work))

        self.take("altered runs", "altering runs", searched, float("inf"))

    def alter_and_edit(self) -> None:
        """Alter runs, change initial values and try edits of the source.

        A run without an end costs far more altered than with an edit, which takes the processor for as long as others.
        """
        if is_endless := self.runs.tested[self.rows[0]].outcome.endless:
            self.try_edits()
        self.alter()
        self.change_initial_values()
        if not is_endless:
            self.try_edits()

    def ask_formulas(self, work: Work) -> None:
        """Add what formulas say."""
        seconds = min(SOLVING_MOST, self.left)
        sets = partial(correction_sets, self.investigation, self.rows, work, seconds)
        with work.share(self.for_values):
            self.take("formulas", "solving formulas", sets, min(_left(work), seconds) + LATE)

    @property
    def for_values(self) -> float:
        """The share of their time that single values are looked for in: little where edits of the source come next."""
        return FEW_VALUES if self.mended_by_edits() else 1.0

    def change_initial_values(self) -> None:
        """Try other initial values where the failing runs read some."""
        if not self.entries or not self.options.has("rules"):
            return
        subject, seconds = self.investigation.subject, min(CHANGING * self.left, CHANGING_MOST)
        change = partial(other_initial_values, subject, self.runs, self.rows, self.entries, time.monotonic() + seconds)
        other = self.attempts.take("initial values", "changing initial values", change, seconds + LATE)
        if other is not None and other.tried:
            self.attempts.lines.append(other.told)
            self.found = with_other_values(self.found, other.rows, len(self.runs.passing))
            self.publish()

    def mended_by_edits(self) -> list[int]:
        """The failing cases that any edits are to mend; none where a rule is sure, or edits would prove nothing."""
        return [] if self._is(has_sure) else self.editable()

    def editable(self) -> list[int]:
        """The failing cases that edits can mend; none where edits would prove nothing."""
        tested = self.runs.tested
        mended = [r for r in self.rows if tested[r].case.command is None and tested[r].outcome.kind is not Kind.MEMORY]
        checks, is_one_program = self.investigation.checks, not self.has_threads
        is_checked = bool(self.runs.passing) or len(checks) >= FEW or len(self.investigation.subject.others) >= FEW
        is_known = not self.is_open or bool(checks)
        if not (self.options.has("edits") and is_checked and is_one_program and is_known):
            return []
        return mended

    @property
    def has_threads(self) -> bool:
        """Whether the failing run may have started threads: it did, or there is no recording that tells."""
        return self.recording.has_threads if self.recording else self.investigation.subject.has_threads

    @property
    def is_mended(self) -> bool:
        """Whether a rule was found that is clean."""
        return self._is(has_clean)

    def _is(self, found: Callable[[Iterable[Mapping[str, Any]]], bool]) -> bool:
        """Whether the rules of a step are such."""
        return any(found(one.parts.get("rules", ())) for one in self.found)

    def try_edits(self) -> None:
        """Try edits of the source, where it is known what is right.

        Where a sure rule repairs all and breaks nothing, only the few that the text itself asks for.
        """
        if not (mended := self.editable()):
            return
        is_sure = self._is(has_sure)
        every = with_callers(alternated(self.joined().ranking, self.base.ranking), self.base.symptom)
        order = [entry for entry in every if entry.statement.file not in (self.tests or ())] or every
        pointed = self.pointed()
        seconds = min(EDITING * self.left, ASKING_MOST if is_sure else EDITING_MOST)
        end = time.monotonic() + seconds
        pairs = [row for one in self.found for row in one.parts.get("pairs", [])]
        subject = self.investigation.subject

        def edit() -> TriedEdits:
            made = known_fixes(subject.folder, self.options.knowledge)
            if is_sure:
                return edits_asked_for(subject, self.runs, order, mended[:FAILING], end, made, pointed)
            return tried_edits(subject, self.runs, order, mended[:FAILING], end, made, pairs, self.is_mended, pointed)

        tried = self.attempts.take("edits", "trying edits", edit, seconds + LATE)
        if tried is not None and (tried.tried or not is_sure):
            self.attempts.lines.append(tried.told)
            self.found = with_other_values(self.found, tried.rows, len(self.runs.passing)) if tried.rows else self.found
            self.publish()

    def pointed(self) -> list[Statement]:
        """The statements that are pointed at whatever else is known: what the compiler warns of, and what crashed."""
        odd = (entry for one in self.found if one.technique == "warnings" for entry in one.ranking)
        found = [entry.statement for entry in odd if entry.evidence["warned"]]
        symptom = self.base.symptom
        crashed = symptom.statement if symptom is not None and symptom.kind == CRASH else None
        return [*found, crashed] if crashed is not None else found

    def confirm(self) -> None:
        """Compile the changes that the first statements have, and drop what does not hold in the source."""
        end = self.investigation.clock.within(CONFIRMING)
        subject, findings = self.investigation.subject, self.joined()
        confirmed = partial(confirm, subject, self.runs, findings, end, again=self.ordered, is_misuse=self.is_misuse)
        self.confirmed = self.attempts.take("changes not compiled", "compiling changes", confirmed)
        self.publish()

    def tell(self) -> None:
        """How the failure came about, in what is left of the time."""
        recording = self.recording
        if recording is None or recording.is_cut or recording.case.command is not None:
            return
        if self.investigation.setup.window or recording.has_threads:
            return
        seconds = min(TELLING * self.left, TELLING_MOST)

        def told() -> Findings:
            with self.investigation.clock.only(seconds):  # what was found by then is told
                suggested = Suggested.of(self.confirmed or self.joined(), self.rows[:FAILING])
                return patched_chain(self.investigation, self.rows[0], recording, self.found, suggested)

        self.chain = self.attempts.take("chain", "telling how it came about", told, seconds + LATE)
        self.publish()

    def read_slice(self, reader: TraceReader) -> None:
        """Read what the slice's lines did, for the page and other programs: where it is long, that takes seconds."""
        symptom, part = self.base.symptom, self.base.parts.get("slice")
        if part and symptom is not None:
            fill = partial(fill_slice, part, reader, symptom)
            self.attempts.take("values of the slice", "reading the slice's values", fill, READING_VALUES * self.left)

    def nearest(self) -> list[TraceReader]:
        """Record the passing cases nearest to the failing one, for the values that their statements had.

        Those whose verdict recording changes are passed over: nothing depends on any one of them.
        """
        subject = self.investigation.subject
        lengths = blocks_executed(subject, self.runs)
        rows = nearest_passing(self.runs, self.rows[0])
        near = [n for n in rows if 0 < lengths[n] <= LONGEST_PASSING][:PASSING_RECORDED]
        readers: list[TraceReader] = []
        with self.investigation.watcher.progress("recording passing runs", len(near)) as report:
            for done, number in enumerate(near, 1):
                try:
                    readers.append(TraceReader(subject, self.investigation.record(self.runs.tested[number]).trace))
                except WhenceError:
                    continue
                finally:
                    report(done, len(near))
        return readers


def _left(work: Work) -> float:
    """The seconds that are left of a search."""
    return float("inf") if work.deadline is None else max(0.0, work.deadline - time.monotonic())


def alternated(*rankings: Sequence[Entry]) -> list[Entry]:
    """The entries of several rankings, the first of each, then the second of each: each statement once."""
    found: dict[Statement, Entry] = {}
    for entries in zip_longest(*rankings):
        for entry in entries:
            if entry is not None:
                found.setdefault(entry.statement, entry)
    return list(found.values())


def with_callers(order: Sequence[Entry], symptom: Symptom | None) -> list[Entry]:
    """The entries with the innermost open calls at the symptom behind the first ones.

    What should have kept the program from being there, or is missing before, stands beside these calls; but other runs
    come there as well, and so they are late in the ranking.
    """
    stack = symptom.details.get("stack") if symptom is not None else None
    calls = stack["first"][1 : 1 + CALLERS] if stack else []
    wanted = [Statement(call["file"], call["line"]) for call in calls if call["file"] is not None]
    first = list(order[:FIRST])
    later = {entry.statement: entry for entry in order[FIRST:]}
    forward = [later.pop(statement) for statement in wanted if statement in later]
    return [*first, *forward, *later.values()]
