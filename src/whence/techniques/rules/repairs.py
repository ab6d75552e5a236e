"""Repairs of one failing case: a search for rules that can be taken up again where its time was over."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from whence.alter.describe import Describer
from whence.findings import Entry, Statement
from whence.subject.runs import coverage
from whence.subject.suspiciousness import rank_by_coverage
from whence.techniques.rules import trials
from whence.techniques.rules.candidates import Rule, batch_of
from whence.techniques.rules.rules import best_first, doubt, rules_to_try
from whence.techniques.rules.suggestions import Suggestions
from whence.techniques.rules.trials import Search, Settings, Suite, Trial

if TYPE_CHECKING:
    from whence.alter.work import Work
    from whence.subject.runs import Runs
    from whence.subject.subject import Subject


Told = tuple[Statement | None, str]  # a rule, by its statement and its words


class Repair(NamedTuple):
    """A rule that repairs a run: its changes (CHANGE, one or two), words to follow "with", and where it stands."""

    changes: NDArray[np.void]
    words: str
    statement: Statement | None


@dataclass(slots=True)
class RepairSearch:
    """Looks for rules with which the failing case of a row passes, by the suspiciousness of their statements.

    They are tried in portions, on that case and others of the failing ones (of ``among``, where it is given). What
    there was no time for is tried when the search goes on. Statements of the files ``without`` are left as they are.
    ``order`` is a ranking whose first statements are tried first (that by Op2).
    """

    subject: Subject
    runs: Runs
    row: int
    without: Collection[str] = ()
    among: Sequence[int] | None = None
    order: Sequence[Entry] | None = None
    _describer: Describer = field(init=False)
    _waiting: list[Rule] | None = field(default=None, init=False)  # None: what to try is not known yet
    _suite: Suite = field(init=False)
    _trials: dict[Rule, Trial] = field(default_factory=dict, init=False)
    _size: int = field(init=False)

    def __post_init__(self) -> None:
        self._describer = Describer(self.subject)
        self._size = trials.FIRST

    @property
    def is_over(self) -> bool:
        """Whether all rules were tried."""
        return self._waiting is not None and not self._waiting

    def go_on(self, work: Work, least: float | None = None) -> None:
        """Try rules up to the first portion in which there is a repair, or to the end of the work's time.

        A repair has a score of ``least`` or a better one, and nothing speaks against it; None: all rules are tried.
        Raises SubjectError where the failing runs cannot be altered.
        """
        if self._waiting is None and not self._prepare(work):
            return
        while self._waiting and not work.stopped and not (least and self._serving(least)):
            portion, self._waiting = self._waiting[: self._size], self._waiting[self._size :]
            tried = Search(self.subject, self._suite, work).trials(portion)
            again = [trial.rule for trial in tried if trial.unknown and not trial.is_unlike]
            self._trials |= {trial.rule: trial for trial in tried if not trial.is_untried}
            if work.stopped or len(again) < len(tried):  # else there is no use in trying them again
                self._waiting = again + self._waiting
            self._size = min(2 * self._size, trials.PORTION)

    def _prepare(self, work: Work) -> bool:
        """Find what to try; whether there was time for that."""
        suite = Suite(self.subject, self.runs, Settings(), self.among, first=self.row)
        order = self.order or rank_by_coverage(coverage(self.subject, self.runs), "op2")
        wanted = [rule for rule in rules_to_try(suite, work, (), self._describer, order) if not self._is_left_out(rule)]
        if work.stopped:
            return False
        self._suite, self._waiting = suite, wanted
        return True

    def _is_left_out(self, rule: Rule) -> bool:
        statement = self._describer.statement(rule.site)
        return statement is not None and statement.file in self.without

    def best(self, least: float = 0.0, without: Collection[Told] = (), preferred: Told | None = None) -> list[Repair]:
        """The rules with which the case passes, of those tried so far that are equally good.

        The best one of each statement comes first, behind these come the others. With ``least`` only rules of that
        score or a better one, that nothing speaks against; ``without`` some, told by statement and words. The
        ``preferred`` one is taken before others of its statement that are as good.
        """
        suggestions, sites = Suggestions(self._describer), self._describer.sites
        found: dict[Statement | None, list[Repair]] = {}
        score = 0.0
        for trial in self._serving(least):
            if found and trial.score < score:
                break
            statement = self._describer.statement(trial.rule.site)
            told = statement, suggestions.of(trial.rule).words
            if told in without:
                continue
            repairs, score = found.setdefault(statement, []), trial.score
            repair = Repair(batch_of([trial.rule], sites).changes, told[1], statement)
            repairs.insert(0 if told == preferred else len(repairs), repair)
        return [repair for repairs in zip_longest(*found.values()) for repair in repairs if repair is not None]

    def _serving(self, least: float) -> list[Trial]:
        """The trials of rules that serve, the best first."""
        sites = self._describer.sites
        mine = [trial for trial in best_first(self._trials.values(), sites) if self.row in trial.repaired]
        return [trial for trial in mine if not least or (trial.score >= least and not doubt(trial, sites))]
