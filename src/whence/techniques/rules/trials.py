"""Rules tried on cases: which failing ones pass with a rule, and which passing ones fail."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from whence.alter.changes import Results, Verdict
from whence.alter.faithful import HELP
from whence.alter.profile import Profile
from whence.alter.streams import Request
from whence.errors import SubjectError
from whence.run.cases import TAKE_APART, Case
from whence.subject.alike import others_alike
from whence.subject.runs import block_counts, blocks_executed
from whence.techniques.rules.candidates import Family, Rule, batch_of, change_records

if TYPE_CHECKING:
    from whence.alter.work import Work
    from whence.subject.runs import Runs
    from whence.subject.subject import Subject

FAILING, PASSING = 5, 25  # cases on which rules are tried
FURTHER = 20  # failing cases on which those that repair most of the first are tried, too
PROMISING = 0.5  # score from which on they are
FIRST, PORTION = 500, 4000  # rules tried at a time, at first and at most: the most suspicious ones are through first
REPAIRING = 0.7  # of the time that is left, at most, for failing cases: what repairs them is tried on passing ones
UNAFFECTED = (Verdict.PASS, Verdict.NOT_REACHED, Verdict.NOT_RUN)  # of a passing case that is not seen to break

Bools = NDArray[np.bool_]
Integers = NDArray[np.int64]


@dataclass(slots=True, frozen=True)
class Settings:
    """What is tried: the kinds of rules, on how many cases, and (``everywhere``) where only some failing cases come.

    ``further``: failing cases on which what repairs most of the first is tried, too.
    """

    families: frozenset[Family] = frozenset(Family)
    failing: int = FAILING
    passing: int = PASSING
    everywhere: bool = False
    further: int = FURTHER


@dataclass(slots=True, frozen=True)
class Trial:
    """What came of a rule: rows of ``Runs`` of the failing cases that pass with it, and of passing ones that fail.

    It was to be tried on ``failing`` failing cases, with the further ones that it was run on, and was tried on
    ``checked`` passing ones; ``unknown`` of all the runs were not made. ``astray``: how many blocks more, or fewer, the
    passing runs execute with the rule: what tells a right limit from a condition that never holds.
    """

    rule: Rule
    repaired: tuple[int, ...]
    broken: tuple[int, ...]
    failing: int
    checked: int = 0
    unknown: int = 0
    astray: int = 0

    @property
    def is_untried(self) -> bool:
        """Whether it was run on no failing case."""
        return not self.repaired and self.unknown >= self.failing

    @property
    def is_unlike(self) -> bool:
        """Whether it did not repair the first failing case, and was run on no other one."""
        return not self.repaired and 0 < self.unknown == self.failing - 1

    @property
    def score(self) -> float:
        """``f2p / sqrt(F (f2p + p2f))``, 0 to 1; runs that were not made count as if the rule had failed them."""
        f2p, p2f = len(self.repaired), len(self.broken) + self.unknown
        return f2p / sqrt(self.failing * (f2p + p2f)) if f2p else 0.0


class Suite:
    """The cases on which rules are tried: rows of ``runs``, and which blocks of the program each executes.

    ``failing`` are the shortest of the failing cases (of ``among``, where it is given), the row ``first`` before all
    others, ``further`` others that fail in the same way, ``passing`` all passing ones, those first whose coverage is
    nearest to that of a failing case. A case that is a command of a test suite is left out, since its program's runs
    are not ours to repeat; SubjectError where no failing case is left.
    """

    def __init__(
        self,
        subject: Subject,
        runs: Runs,
        settings: Settings,
        among: Sequence[int] | None = None,
        first: int | None = None,
    ) -> None:
        self.runs, self.settings = runs, settings
        failing, passing = (
            [row for row in rows if runs.tested[row].case.command is None]
            for rows in (runs.failing if among is None else among, runs.passing)
        )
        if not failing:
            raise SubjectError(*_nothing_to_repair(runs))
        self._executed: Bools = block_counts(subject, runs) > 0
        lengths = blocks_executed(subject, runs)
        shortest = sorted(failing, key=lambda row: (row != first, lengths[row] == 0, lengths[row]))
        self.failing = shortest[: settings.failing]
        self.further = others_alike(runs, self.failing, settings.further)
        executed = self._executed[self.failing]
        distance = {row: int((executed != self._executed[row]).sum(axis=1).min()) for row in passing}
        self.passing = sorted(passing, key=lambda row: (distance[row], row))
        self.lengths: dict[int, int] = {}  # of unaltered runs, in clock ticks, as far as they were observed
        self.profile: Profile | None = None  # of all their values; None: it lacks some

    def leave_out(self, unusable: Mapping[str, str]) -> None:
        """Try nothing on these cases (by name, with the reason). Raises SubjectError where no failing case is left."""

        names = {row: self.runs.tested[row].case.name for row in (*self.failing, *self.further, *self.passing)}
        usable = [row for row in self.failing if names[row] not in unusable]
        if not usable:
            reasons = "; ".join(f"{names[row]}: {unusable[names[row]]}" for row in self.failing)
            raise SubjectError(f"no failing run can be altered: {reasons}", HELP)
        self.failing = usable
        self.further = [row for row in self.further if names[row] not in unusable]
        self.passing = [row for row in self.passing if names[row] not in unusable]

    def cases(self, rows: Sequence[int]) -> list[Case]:
        """The cases of some rows."""
        return [self.runs.tested[row].case for row in rows]

    @property
    def observed(self) -> list[int]:
        """The cases whose values make the profile."""
        return [*self.failing, *self.passing[: self.settings.passing]]

    def are_tried(self, blocks: Integers) -> Bools:
        """Which of some blocks all failing cases execute; or any of them, where rules are tried everywhere."""
        reached = self._executed[self.failing][:, blocks]
        return np.asarray(reached.any(axis=0) if self.settings.everywhere else reached.all(axis=0))

    def checks(self, blocks: Integers) -> Bools:
        """Passing cases by blocks: on which of ``passing`` a change in each block is checked.

        Those are the nearest ones that execute it; to the others it does nothing.
        """
        reached = self._executed[self.passing][:, blocks]
        return np.asarray(reached & (np.cumsum(reached, axis=0) <= self.settings.passing))


def _nothing_to_repair(runs: Runs) -> tuple[str, str]:
    """What is wrong, and what to do, where no failing case can be altered."""
    if not runs.failing:
        return "no case fails, so there is nothing to repair", "add a case that shows the failure"
    name = runs.tested[runs.failing[0]].case.name
    return (
        f"case {name} runs a command: only a case that runs the program itself can be altered",
        TAKE_APART,
    )


class Search:
    """Tries rules on the cases of a suite."""

    def __init__(self, subject: Subject, suite: Suite, work: Work) -> None:
        self._sites, self._suite, self._work = subject.alter_plan.sites, suite, work

    def portions(self, rules: Iterable[Rule]) -> Iterator[list[Trial]]:
        """The trials of rules in their order, portion by portion, until the search is stopped.

        What does not repair the first failing case, the shortest run, is tried on the others when all have been tried
        on that one. What there was no time to try on it, so that passing cases had theirs, comes again.
        """
        upcoming, again, size = iter(rules), list[Rule](), min(FIRST, PORTION)
        unlike: list[Rule] = []
        while not self._work.stopped and (portion := [*again, *islice(upcoming, size - len(again))]):
            trials, again = self.trials(portion), []
            left = [trial.rule for trial in trials if trial.is_untried]
            if not self._work.stopped and len(left) < len(trials):
                again, trials = left, [trial for trial in trials if not trial.is_untried]
            yield trials
            unlike += [trial.rule for trial in trials if trial.is_unlike]
            size = min(2 * size, PORTION)
        for start in range(0, len(unlike), PORTION):
            if self._work.stopped:
                break
            yield [
                trial for trial in self.trials(unlike[start : start + PORTION], is_last=True) if not trial.is_untried
            ]

    def trials(self, rules: Sequence[Rule], is_last: bool = False) -> list[Trial]:
        """Run rules on the failing cases, those that repair one on the passing cases, the best on further failing ones.

        All are run on the first failing case, and on the others those that repair it; or all, where it ``is_last``, or
        several faults are looked for. A few failing cases are much alike where others are not: what repairs those alone
        is no repair of the fault.
        """
        records = change_records(rules, self._sites)
        failing, passing = self._suite.failing, self._suite.passing
        with self._work.share(REPAIRING):
            chosen = np.zeros((len(failing), len(rules)), np.bool_)
            chosen[0] = True
            first = self._verdicts(failing, rules, chosen)
            on_all = is_last or self._suite.settings.everywhere
            chosen = np.logical_or(first[0] == Verdict.PASS, on_all) & ~chosen
            first = np.where(chosen, self._verdicts(failing, rules, chosen), first)
        repaired = first == Verdict.PASS
        checked = self._suite.checks(records["block"].astype(np.int64)) & repaired.any(axis=0)
        second, astray = np.full(checked.shape, Verdict.NOT_RUN, np.uint8), np.zeros(len(rules), np.int64)
        for n, results in self._results(passing, rules, checked):
            second[n, checked[n]] = results.records["verdict"]
            astray[checked[n]] += self._astray(passing[n], results)
        checked[[self._suite.runs.tested[row].case.name in self._work.unusable for row in passing]] = False
        broken = checked & ~np.isin(second, UNAFFECTED)
        unknown = (first == Verdict.NOT_RUN).sum(axis=0) + (checked & (second == Verdict.NOT_RUN)).sum(axis=0)
        found = [
            Trial(
                rule,
                tuple(failing[n] for n in np.flatnonzero(repaired[:, at]).tolist()),
                tuple(passing[n] for n in np.flatnonzero(broken[:, at]).tolist()),
                len(failing),
                int((checked[:, at] & (second[:, at] != Verdict.NOT_RUN)).sum()),
                int(unknown[at]),
                int(astray[at]),
            )
            for at, rule in enumerate(rules)
        ]
        return self._tried_further(found)

    def _tried_further(self, trials: list[Trial]) -> list[Trial]:
        """The trials, the promising ones with the further failing cases."""
        further, promising = self._suite.further, [trial for trial in trials if trial.score >= PROMISING]
        shape = (len(further), len(promising))
        verdicts = self._verdicts(further, [trial.rule for trial in promising], np.ones(shape, np.bool_))
        known = {
            trial.rule: replace(
                trial,
                repaired=(*trial.repaired, *(further[n] for n in np.flatnonzero(mine == Verdict.PASS).tolist())),
                failing=trial.failing + int((mine != Verdict.NOT_RUN).sum()),
            )
            for trial, mine in zip(promising, verdicts.T, strict=True)
        }
        return [known.get(trial.rule, trial) for trial in trials]

    def _verdicts(self, rows: list[int], rules: Sequence[Rule], chosen: Bools) -> NDArray[np.uint8]:
        """The verdicts (cases by rules) of the chosen runs; the others are NOT_RUN."""
        verdicts = np.full(chosen.shape, Verdict.NOT_RUN, np.uint8)
        for n, results in self._results(rows, rules, chosen):
            verdicts[n, chosen[n]] = results.records["verdict"]
        return verdicts

    def _results(self, rows: list[int], rules: Sequence[Rule], chosen: Bools) -> Iterator[tuple[int, Results]]:
        """What came of the chosen runs (cases by rules), case by case, each with its place among the rows."""
        cases = self._suite.cases(rows)
        wanted = [n for n in range(len(rows)) if chosen[n].any()]
        mine = {n: [rules[at] for at in np.flatnonzero(chosen[n]).tolist()] for n in wanted}
        requests = [Request(cases[n], batch_of(mine[n], self._sites)) for n in wanted]
        yield from zip(wanted, self._work.run(requests) if requests else [], strict=True)

    def _astray(self, row: int, results: Results) -> Integers:
        """By how many blocks the runs of a case that pass differ from its unaltered one (int64); 0: it is not known."""
        lengths = results.records["length"].astype(np.int64)
        return np.where(results.passed, np.abs(lengths - self._suite.lengths.get(row, lengths)), 0)
