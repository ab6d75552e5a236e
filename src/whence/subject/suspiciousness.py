"""Suspiciousness: what failing cases execute and passing ones do not, as a score for each statement.

A *spectrum* is, for each statement (or side of a branch), the number of failing and of passing cases
that executed it. A formula turns the four numbers of a statement into one score. Everything here is a pure
function of a coverage matrix; nothing is run.

Equal scores matter as much as high ones, since a tie is what a reader has to walk through. So the formulas
are arranged to compute with whole numbers as long as they can and to round a single quotient: statements
whose scores are equal on paper are equal here too, and share a rank range.

Sources: Tarantula and Ochiai as in Sahoo et al., ASPLOS 2013, section 8.3, whose names ``a11`` to ``a00`` are
used; Tarantula also as in Jeffrey's dissertation (2009), definition 5.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from whence.errors import SubjectError, UsageError
from whence.findings import Entry, Statement, rank
from whence.subject.coverage import Coverage, Site

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Key = TypeVar("Key", bound=Hashable)


@dataclass(slots=True, frozen=True, eq=False)
class Counts:
    """The spectrum: int64 arrays, one element a statement (or side), and the two totals.

    The first digit says whether the case executed the statement, the second whether it failed. ``checks`` of what
    passed are no cases, but checks that passed within a failing one.
    """

    a11: Integers
    a10: Integers
    total_failed: int
    total_passed: int
    checks: int = 0

    @property
    def passing_what(self) -> str:
        """What passed, in words."""
        return "cases" if not self.checks else "checks" if self.checks == self.total_passed else "cases and checks"

    @property
    def a01(self) -> Integers:
        """Failing cases that did not execute the statement."""
        return self.total_failed - self.a11

    @property
    def a00(self) -> Integers:
        """Passing cases that did not execute the statement."""
        return self.total_passed - self.a10


def _divide(numerator: Integers, denominator: Integers) -> Floats:
    """Quotient, 0 where the denominator is 0."""
    return np.divide(numerator, denominator, out=np.zeros(len(numerator)), where=denominator != 0)


def tarantula(counts: Counts) -> Floats:
    """Share of failing cases over the sum of the shares of failing and passing cases, 0 to 1.

    A share of no cases is 0: without passing cases everything that a failing case executed scores 1. Never
    executed: 0. Both shares are multiplied by both totals, which keeps numerator and denominator whole.
    """
    failing = counts.a11 * max(counts.total_passed, 1)
    passing = counts.a10 * max(counts.total_failed, 1)
    return _divide(failing, failing + passing)


def ochiai(counts: Counts) -> Floats:
    """``a11 / sqrt((a11 + a01) (a11 + a10))``, 0 to 1; 0 where nothing failed or executed it."""
    return np.sqrt(_divide(counts.a11**2, counts.total_failed * (counts.a11 + counts.a10)))


def jaccard(counts: Counts) -> Floats:
    """``a11 / (a11 + a01 + a10)``, 0 to 1; 0 where nothing failed and the statement was never executed."""
    return _divide(counts.a11, counts.total_failed + counts.a10)


def dstar(counts: Counts, exponent: float = 2.0) -> Floats:
    """``a11^exponent / (a10 + a01)``, unbounded; 0 where no failing case executed the statement.

    The denominator is 0 for statements that all failing and no passing cases execute, the most suspicious
    there are. It counts as one half there: the score lies above every other (which divide by 1 at least) and
    stays finite, so that it can be written as JSON. ``exponent`` is above 0.
    """
    powers = np.arange(counts.total_failed + 1.0) ** exponent
    scores: Floats = powers[counts.a11] / np.maximum(counts.a10 + counts.a01, 0.5)
    return scores


def barinel(counts: Counts) -> Floats:
    """``1 - a10 / (a10 + a11)``, 0 to 1: share of failing cases among those executing it, else 0."""
    return _divide(counts.a11, counts.a11 + counts.a10)


def op2(counts: Counts) -> Floats:
    """``a11 - a10 / (total passed + 1)``, above -1, up to the number of failing cases; never divides by 0."""
    return counts.a11 - counts.a10 / (counts.total_passed + 1)


FORMULAS: dict[str, Callable[[Counts], Floats]] = {
    "tarantula": tarantula,
    "ochiai": ochiai,
    "jaccard": jaccard,
    "dstar": dstar,
    "barinel": barinel,
    "op2": op2,
}

DEFAULT_FORMULA = "ochiai"


def statement_spectrum(coverage: Coverage) -> tuple[list[Statement], Counts]:
    """Statements in order of file and line, with their counts; one is executed when any of its blocks is."""
    columns: dict[Statement, list[int]] = {}
    for column, site in enumerate(coverage.sites):
        if not site.side:
            for statement in site.statements:
                columns.setdefault(statement, []).append(column)
    keys = sorted(columns, key=lambda s: (s.file, s.line))  # much faster than comparing the objects
    return keys, _count(coverage, [columns[key] for key in keys])


def branch_spectrum(coverage: Coverage) -> tuple[list[Site], Counts]:
    """Sides of branches in order of file, line and side, with their counts.

    Equal sites (a function of a header that several modules compiled) count as one.
    """
    columns: dict[Site, list[int]] = {}
    for column, site in enumerate(coverage.sites):
        if site.side:
            columns.setdefault(site, []).append(column)
    keys = sorted(columns)
    return keys, _count(coverage, [columns[key] for key in keys])


def _count(coverage: Coverage, groups: list[list[int]]) -> Counts:
    """Count, for each group of columns, the failing and passing cases that reached any of them."""
    a11 = np.zeros(len(groups), np.int64)
    a10 = np.zeros(len(groups), np.int64)
    if groups:
        order = np.fromiter(chain.from_iterable(groups), np.int64)
        starts = np.cumsum([0, *(len(group) for group in groups[:-1])])
        for row, failed in zip(coverage.counts, coverage.failed, strict=True):
            (a11 if failed else a10)[:] += np.logical_or.reduceat((row > 0)[order], starts)
    failed_cases = int(np.count_nonzero(coverage.failed))
    return Counts(a11, a10, failed_cases, len(coverage.failed) - failed_cases, coverage.checks)


def tie_ranks(scores: Floats) -> tuple[Integers, Integers]:
    """Best and worst rank (from 1) of each score among all, highest score first; equal scores share both."""
    ascending = np.sort(scores)
    best = len(scores) - np.searchsorted(ascending, scores, side="right") + 1
    worst = len(scores) - np.searchsorted(ascending, scores, side="left")
    return best.astype(np.int64), worst.astype(np.int64)


def formula_of(name: str, exponent: float = 2.0) -> Callable[[Counts], Floats]:
    """The formula of a name; ``exponent`` is DStar's. Raises UsageError for one that there is not."""
    if name not in FORMULAS:
        raise UsageError(f"unknown formula {name!r}: use one of {', '.join(FORMULAS)}")
    if exponent <= 0:
        raise UsageError(f"DStar's exponent is {exponent}: use a number above 0")
    return partial(dstar, exponent=exponent) if name == "dstar" else FORMULAS[name]


def rank_by_coverage(coverage: Coverage, formula: str = DEFAULT_FORMULA, exponent: float = 2.0) -> list[Entry]:
    """The statements that a failing case executed, ranked by a formula (a key of ``FORMULAS``).

    Raises ``UsageError`` for an unknown formula, ``SubjectError`` when no case failed.
    """
    score = formula_of(formula, exponent)
    check_failing(coverage)
    return ranked(*reached(*statement_spectrum(coverage)), score)


def ranked(statements: list[Statement], counts: Counts, score: Callable[[Counts], Floats]) -> list[Entry]:
    """The statements with these counts, ranked by a formula; the evidence tells which cases executed each."""
    notes = {s: counts_note(counts, i, "executed by") for i, s in enumerate(statements)}
    return rank(dict(zip(statements, score(counts).tolist(), strict=True)), notes)


def check_failing(coverage: Coverage) -> None:
    """Raise ``SubjectError`` when no case failed."""
    if not coverage.failed.any():
        raise SubjectError(
            f"none of the {len(coverage.failed)} cases failed: no statement is more suspicious than another",
            "add a case that shows the failure",
        )


def reached(keys: list[Key], counts: Counts) -> tuple[list[Key], Counts]:
    """Only the keys that a failing case executed, with their counts."""
    kept = np.flatnonzero(counts.a11)
    a11, a10 = counts.a11[kept], counts.a10[kept]
    return [keys[i] for i in kept], Counts(a11, a10, counts.total_failed, counts.total_passed, counts.checks)


def counts_note(counts: Counts, i: int, verb: str) -> dict[str, Any]:
    """The evidence of the i-th statement or side; ``verb`` begins its sentence."""
    failing, passing = int(counts.a11[i]), int(counts.a10[i])
    text = f"{verb} {failing} of {counts.total_failed} failing"
    if counts.total_passed:
        text += " and " if not counts.checks else " cases and "
        text += f"{passing or 'none'} of {counts.total_passed} passing {counts.passing_what}"
    else:
        text += " cases; there is no passing case to compare with"
    return {
        "text": text,
        "failing": failing,
        "failing_total": counts.total_failed,
        "passing": passing,
        "passing_total": counts.total_passed,
    }
