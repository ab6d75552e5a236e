"""Value Replacement: a statement is suspicious where other values of its own make failing runs pass.

The values of all cases make up the profile; the shortest failing runs are searched for pairs of an original and an
alternate value that mends the run (``pairs.py``), and statements are ranked by the number of failing runs in which they
have one, ties by how suspicious their coverage is. Source: Jeffrey's dissertation (2009), chapters 2 and 4: figure 2.7,
definitions 4 and 5. Beyond the source, what speaks for a statement is weighed (``weights.py``): runs with a pair, such
with relaxed pairs alone, those that one kind of change mends, what kind of value has the pair, and its coverage.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from whence.alter.changes import Observed, Verdict
from whence.alter.describe import Describer
from whence.alter.faithful import HELP
from whence.alter.profile import Profile
from whence.errors import SubjectError, WhenceError
from whence.findings import Entry, Findings, Statement, rank
from whence.probe.sites import Role
from whence.subject.coverage import Coverage
from whence.subject.departure import Departure
from whence.subject.recorder import Recorder
from whence.subject.suspiciousness import rank_by_coverage
from whence.subject.symptoms import symptom_of
from whence.techniques.value_replacement.mapping_pairs import ROUNDS, Search, Searched, Settings
from whence.techniques.value_replacement.targets import DEFINING, USING, Plan, Point, Target
from whence.techniques.value_replacement.value_sets import SetSearch, ValueSets
from whence.techniques.value_replacement.weights import weighed

if TYPE_CHECKING:
    from whence.alter.work import Work
    from whence.run.cases import Case
    from whence.subject.subject import Subject

RELAXED = 0.5  # what a failing run with relaxed pairs alone counts, against 1; chosen on the corpus (docs/values.md)
BELOW = 0.5  # all differences among statements with equal counts are less than this
LONGEST = 1_000_000  # blocks of a run that is recorded to find its first wrong output
TIES = "op2"  # the formula that orders equals
CHUNK = 32  # cases that are observed at a time
TOLD = 3  # values of a set that a sentence names
LOW = np.uint64(0xFFFFFFFF)  # the bits of an integer in which its neighbours differ
KINDS = ("branches", "defined", "used", "called", "beside", "last")  # of pairs
LISTED = 5  # pairs of one statement in one run that are listed


# ---- The search ------------------------------------------------------------------------------------------------------


def search(
    subject: Subject,
    failing: Sequence[Case],
    others: Sequence[Case],
    work: Work,
    settings: Settings | None = None,
    departures: Mapping[str, Departure] | None = None,
) -> Searched:
    """Search failing cases for pairs, with the values that they and other cases have had.

    ``departures`` tell, by the names of failing cases, where these depart from passing ones, where that is known.

    Raises SubjectError where no failing run can be altered: each of them passes when it is observed.
    """
    settings = settings or Settings()
    plan = Plan.of(subject, settings.among)
    seen = _Seen(ValueSets(plan) if settings.sets else None)
    observed = work.observe(failing)
    profile = Profile.of(plan.sites, seen.events(observed, others, work))
    if work.stopped:
        return Searched([])
    chosen = sorted(zip(observed, failing, strict=True), key=lambda pair: pair[0].length)
    left_out = [f"{case.name}: {_why_not(run)}" for run, case in chosen if _why_not(run)]
    with Recorder(subject) as recorder:
        since = {name: one.clock for name, one in (departures or {}).items()}
        targets = [
            Target(plan, case, run, wrong_output(recorder, case, run), since.get(case.name, 0))
            for run, case in chosen
            if not _why_not(run)
        ]
    if not targets:
        raise SubjectError(f"no failing run can be altered: {'; '.join(left_out)}", HELP)
    if seen.sets is not None:
        searched = SetSearch(targets, profile, work, settings, seen.sets).run()
    else:
        searched = Search(targets, profile, work, settings).run()
    return searched


@dataclass(slots=True)
class _Seen:
    """What the unaltered runs of all cases tell."""

    sets: ValueSets | None

    def events(self, observed: Sequence[Observed], others: Sequence[Case], work: Work) -> Iterator[NDArray[np.void]]:
        """The events of observed runs and of those of other cases, of which few are held at a time."""
        chunks = (others[start : start + CHUNK] for start in range(0, len(others), CHUNK))
        for run in chain(observed, chain.from_iterable(map(work.observe, chunks))):
            if self.sets is not None:
                self.sets.add(run.events)
            yield run.events


def wrong_output(recorder: Recorder, case: Case, observed: Observed) -> Point | None:
    """The call that wrote the first wrong byte of a failing run; None: there is none, or it is not known."""
    wrong = int(observed.result["verdict"]) == Verdict.WRONG_OUTPUT and case.comparison.exact
    if not wrong or observed.length > LONGEST:
        return None
    try:
        recording = recorder.record(case)
        symptom = symptom_of(recording, recorder.subject.folder)
    except WhenceError:  # all instances are searched then
        return None
    trace = recording.trace
    if symptom.kind not in ("wrong-output", "extra-output") or symptom.event < 0:
        return None
    return Point(symptom.clock, int(trace.plan.sites[trace.site(symptom.event)]["instruction"]))


def _why_not(observed: Observed) -> str:
    """Why a failing run cannot be searched; empty where it can."""
    passes = int(observed.result["verdict"]) == Verdict.PASS
    return observed.unusable or ("it passes in the variant whose runs are altered" if passes else "")


# ---- The ranking -----------------------------------------------------------------------------------------------------


def values(
    subject: Subject, searched: Searched, coverage: Coverage, ties: str | None = None, plain: bool = False
) -> Findings:
    """Rank the statements that failing cases executed by what a search found.

    With ``ties``, a formula of spectra, by the runs with a pair, and equals by that; without by all that speaks for
    them, or by TIES where no run has a pair. ``plain``: by definitions 4 and 5 alone, without what goes beyond the
    source, whose formula orders equals.
    """
    is_weighed = not (ties or plain) and len(searched.pairs) > 0
    ties = ties or ("tarantula" if plain else TIES)
    found_pairs, suspects = FoundPairs(subject, searched), rank_by_coverage(coverage, ties)
    ranking = found_pairs.weighed(suspects) if is_weighed else _ranking(suspects, found_pairs, plain)
    findings = Findings("values", subject.name, ranking)
    findings.parts = {"cases": coverage.case_totals(), "pairs": list(found_pairs.listed())}
    findings.summary = [what_was_found(searched)]
    findings.remarks = [*what_was_searched(searched), *_why_none(searched, ties)]
    return findings


def _ranking(suspects: list[Entry], found_pairs: FoundPairs, plain: bool) -> list[Entry]:
    """The suspects by the runs with a pair, then by ``Found.order``, then by their scores."""
    found = {entry.statement: found_pairs.found(entry.statement) for entry in suspects}
    order = {e.statement: (*(() if plain else found[e.statement].order), e.score) for e in suspects}
    levels = {key: level for level, key in enumerate(sorted(set(order.values())))}
    scores, notes = {}, {}
    for entry in suspects:
        statement, mine = entry.statement, found[entry.statement]
        runs = mine.exact + (0.0 if plain else RELAXED * mine.relaxed)
        scores[statement] = runs + BELOW * levels[order[statement]] / len(levels)
        notes[statement] = found_pairs.evidence(entry, mine)
    return rank(scores, notes)


def what_was_searched(searched: Searched) -> list[str]:
    """What the search looked at, in sentences; none where it came to no run."""
    if not searched.targets:
        return []
    runs, looked_at = len(searched.targets), searched.instances - searched.beyond - searched.late
    lines = [
        f"searched {looked_at:,} values of {_count(runs, 'failing run')} for pairs "
        f"with {searched.altered:,} altered runs, where the full search would make {searched.possible:,}",
    ]
    if searched.late:
        lines.append(f"{searched.late:,} more values come behind the first wrong output, which they cannot change")
    if searched.beyond:
        most = 1 << (ROUNDS - 1)
        lines.append(
            f"left out: {searched.beyond:,} values of what a run executes more than {most:,} times; --full takes them"
        )
    for target in searched.targets:
        if target.observed.cut:
            lines.append(f"of {target.case.name} only the first {len(target.events):,} values are searched")
        if target.observed.refusal:
            why = target.observed.refusal
            lines.append(f"altered runs of {target.case.name} start from the beginning: {why}")
    return lines


def what_was_found(searched: Searched) -> str:
    """The search's result in a sentence."""
    if not searched.targets:
        return "no failing run was searched for pairs: the time was up"
    runs = range(len(searched.targets))
    by_run = [searched.statements(run) for run in runs]
    statements = set(searched.pairs["statement"].tolist())
    if not statements:
        return "no failing run has a pair"
    relaxed = len(statements - set().union(*by_run))
    text = f"found pairs at {_count(len(statements), 'statement')}"
    if relaxed:
        text += f", at {relaxed} of them only such as correct the first wrong line of the output"
    without = sum(not found for found in by_run)
    return text + (f"; {without} of {len(by_run)} failing runs have none that mends them" if without else "")


def _why_none(searched: Searched, ties: str) -> Iterator[str]:
    """Where nothing was found, what kept values from being altered, and what ranks statements then."""
    if searched.targets and not len(searched.pairs):
        every = searched.instances + searched.pointers
        yield (
            f"of itself `whence values` ranks as {ties} does: of {every:,} values {searched.pointers:,} are addresses, "
            f"which are left alone, and {searched.lonely:,} are the same in all cases, so that there is no other one "
            "to try"
        )


# ---- Pairs in C terms ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found at a statement: failing runs with a pair, and those with relaxed ones alone.

    ``same`` counts the runs that one kind of change mends, the best one: a relaxed pair counts in part. ``branches``
    counts those that a branch outcome mends, and the others those with a pair of its kind (``weights.py``). ``best`` is
    the pair to tell of (index of the search's pairs, -1: none).
    """

    exact: int = 0
    relaxed: int = 0
    same: float = 0.0
    branches: int = 0
    defined: int = 0
    used: int = 0
    called: int = 0
    beside: int = 0
    last: int = 0
    best: int = -1

    @property
    def order(self) -> tuple[float, int]:
        """What orders statements with equal numbers of runs."""
        return self.same, self.branches


class FoundPairs:
    """Tells what was found at each statement."""

    def __init__(self, subject: Subject, searched: Searched) -> None:
        self._searched, self._describer = searched, Describer(subject)
        self._statements = subject.places.statements
        self._same = {
            kind: sum(1.0 if exact else RELAXED for exact in runs.values()) for kind, runs in searched.same.items()
        }

    def found(self, statement: Statement) -> Found:
        """What was found at a statement."""
        return self._found.get(statement, Found())

    @cached_property
    def _found(self) -> dict[Statement, Found]:
        found: dict[Statement, Found] = {}
        for number, pairs in self._by_statement.items():
            relaxed = self._searched.pairs["relaxed"][pairs]
            runs = self._searched.pairs["run"][pairs]
            exact = set(runs[~relaxed].tolist())
            same = float(self._weight[pairs].max())
            others = len(set(runs.tolist()) - exact)
            kinds = {name: len(set(runs[~relaxed & is_one[pairs]].tolist())) for name, is_one in self._kinds.items()}
            at = self._statements[number]
            found[at] = Found(exact=len(exact), relaxed=others, same=same, best=int(pairs[0]), **kinds)
        return found

    @cached_property
    def _by_statement(self) -> dict[int, NDArray[np.int64]]:
        """The pairs of each statement: exact ones first, then those of the change that mends the most runs."""
        pairs = self._searched.pairs
        order = np.lexsort((pairs["run"], -self._weight, pairs["relaxed"], pairs["statement"]))
        numbers, starts = np.unique(pairs["statement"][order], return_index=True)
        return dict(zip(numbers.tolist(), np.split(order, starts)[1:], strict=True))

    @cached_property
    def _weight(self) -> NDArray[np.float64]:
        """For each pair how many runs its kind of change mends."""
        return np.array([self._same.get(kind, 0.0) for kind in self._searched.kinds()], np.float64)

    @cached_property
    def _kinds(self) -> dict[str, NDArray[np.bool_]]:
        """By what counts them (``Found``) which pairs are of a kind."""
        pairs, targets = self._searched.pairs, self._searched.targets
        sites = np.array([site for site, _ in self._searched.kinds()], np.int64)
        originals, last = np.zeros(len(pairs), np.uint64), np.zeros(len(pairs), np.bool_)
        for run, target in enumerate(targets):
            mine = np.flatnonzero(pairs["run"] == run)
            events = pairs["event"][mine]
            originals[mine] = target.values[events]
            last[mine] = target.occurrence[events] == target.instances[events]
        role = self._describer.sites["role"][sites]
        apart = (originals - pairs["alternate"]) & LOW
        return {
            "branches": np.asarray(role == Role.BRANCH),
            "defined": np.isin(role, DEFINING),
            "used": np.isin(role, USING),
            "called": np.isin(role, (Role.RESULT, Role.RETURN)),
            "beside": np.isin(apart, (np.uint64(1), LOW)),
            "last": last,
        }

    def weighed(self, suspects: Sequence[Entry]) -> list[Entry]:
        """The suspects by the sum of all that speaks for them."""
        runs, scores, notes = len(self._searched.targets), dict[Statement, float](), dict[Statement, dict[str, Any]]()
        for entry in suspects:
            found = self.found(entry.statement)
            mine = notes[entry.statement] = self.evidence(entry, found)
            totals = runs, mine["failing_total"], mine["passing_total"]
            scores[entry.statement] = round(weighed(mine, *totals), 6)
        return rank(scores, notes)

    def evidence(self, entry: Entry, found: Found) -> dict[str, Any]:
        """The evidence of a statement with its coverage; ``consistent``: one kind of change mends all searched runs."""
        runs = len(self._searched.targets)
        notes = {**entry.evidence, "suspiciousness": round(entry.score, 6), "searched": runs}
        notes |= {"pairs": found.exact, "relaxed": found.relaxed, "same_change": found.same}
        notes |= {name: getattr(found, name) for name in KINDS}
        notes["consistent"] = runs > 0 and found.same == runs
        if found.best >= 0:
            notes["text"] = f"line {entry.statement.line}: {self._sentence(found)}; {entry.evidence['text']}"
        return notes

    def _sentence(self, found: Found) -> str:
        """A pair, and how many runs have one."""
        runs = len(self._searched.targets)
        text = self.pair(found.best)
        if runs == 1:
            return text
        text += f"; {found.exact} of {runs} failing runs have such a pair"
        if found.relaxed:
            text += f", {found.relaxed} more a relaxed one"
        return text

    def pair(self, index: int) -> str:
        """A pair in words: ``with `count` 3 instead of 4 (2nd of 5 times) the output is right``."""
        shown, target = self._row(index), self._target(index)
        times = f" ({_ordinal(shown['occurrence'])} of {shown['instances']} times)" if shown["instances"] > 1 else ""
        changes = [
            f"{self._describer.quoted(int(target.sites[event]))} {new} instead of {old}"
            for event, old, new in self._changes(index)
        ]
        more = f" and {len(changes) - TOLD} more" if len(changes) > TOLD else ""
        return f"with {', '.join(changes[:TOLD])}{more}{times} {self._effect(index)}"

    def _changes(self, index: int) -> list[tuple[int, str, str]]:
        """What a pair changes: each event, its value and its new one as C prints them."""
        pair, target = self._searched.pairs[index], self._target(index)
        changes = [(int(pair["event"]), int(pair["alternate"]))]
        if pair["further"] >= 0:
            events, values = self._searched.further[pair["further"]]
            changes += zip(events.tolist(), values.tolist(), strict=True)
        show = self._describer.value
        return [
            (event, show(int(target.sites[event]), int(target.values[event])), show(int(target.sites[event]), value))
            for event, value in changes
        ]

    def _effect(self, index: int) -> str:
        pair = self._searched.pairs[index]
        if pair["relaxed"]:
            return "the first wrong line of the output is right"
        wrong = int(self._target(index).observed.result["verdict"]) == Verdict.WRONG_OUTPUT
        return "the output is right" if wrong else "the run passes"

    def _target(self, index: int) -> Target:
        return self._searched.targets[int(self._searched.pairs[index]["run"])]

    def _row(self, index: int) -> dict[str, Any]:
        """A pair as the part ``pairs`` lists it (docs/json.md)."""
        pair, target = self._searched.pairs[index], self._target(index)
        statement = self._statements[int(pair["statement"])]
        named = [
            {"name": self._describer.what(int(target.sites[event])), "original": old, "alternate": new}
            for event, old, new in self._changes(index)
        ]
        event = int(pair["event"])
        return {
            "file": statement.file,
            "line": statement.line,
            **named[0],
            "further": named[1:],
            "occurrence": int(target.occurrence[event]),
            "instances": int(target.instances[event]),
            "clock": int(target.events[event]["clock"]),
            "case": target.case.name,
            "relaxed": bool(pair["relaxed"]),
        }

    def listed(self) -> Iterator[dict[str, Any]]:
        """The part ``pairs``: the first ones of each statement and run."""
        for pairs in self._by_statement.values():
            seen: Counter[int] = Counter()
            for index in pairs.tolist():
                run = int(self._searched.pairs[index]["run"])
                seen[run] += 1
                if seen[run] <= LISTED:
                    yield self._row(index)


def _ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, ..., 11th, ..., 21st."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10 if number % 100 // 10 != 1 else 0, "th")
    return f"{number}{ending}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
