"""The formulas against a naive twin in exact arithmetic and values computed by hand; ranks and ties."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.errors import SubjectError, UsageError
from whence.findings import Statement
from whence.subject.coverage import Coverage, Site
from whence.subject.suspiciousness import FORMULAS, Counts, branch_spectrum, dstar, statement_spectrum, tie_ranks
from whence.techniques.spectrum import spectrum


def line(number: int, file: str = "a.c") -> Statement:
    return Statement(file, number)


def block(*numbers: int) -> Site:
    return Site(tuple(line(n) for n in numbers))


def coverage(rows: list[list[int]], failed: list[bool], sites: list[Site], names: tuple[str, ...] = ()) -> Coverage:
    matrix = np.array(rows, np.uint32).reshape(len(failed), len(sites))
    return Coverage(matrix, np.array(failed, np.bool_), sites, names)


# Four cases, two of them failing. Line 10 is run by all, 11 by the failing ones only, 12 by one of each,
# 13 by a passing one only.
SMALL = coverage(
    [[1, 5, 0, 0], [1, 1, 1, 0], [3, 0, 1, 0], [1, 0, 0, 2]],
    [True, True, False, False],
    [block(10), block(11), block(12), block(13)],
)

BY_HAND = {  # lines 10, 11, 12, 13
    "tarantula": [0.5, 1.0, 0.5, 0.0],
    "ochiai": [2 / math.sqrt(2 * 4), 1.0, 1 / math.sqrt(2 * 2), 0.0],
    "jaccard": [2 / 4, 1.0, 1 / 3, 0.0],
    "dstar": [4 / 2, 4 / 0.5, 1 / 2, 0.0],
    "barinel": [1 - 2 / 4, 1.0, 1 - 1 / 2, 0.0],
    "op2": [2 - 2 / 3, 2.0, 1 - 1 / 3, -1 / 3],
}


@pytest.mark.parametrize("formula", FORMULAS)
def test_values_computed_by_hand(formula: str) -> None:
    _, counts = statement_spectrum(SMALL)
    assert FORMULAS[formula](counts).tolist() == pytest.approx(BY_HAND[formula])


def exact(formula: str, a11: int, a10: int, failed: int, passed: int) -> Fraction:
    """The naive twin; Ochiai is squared, which keeps it rational and its order."""
    a01 = failed - a11
    zero = Fraction(0)
    if formula == "tarantula":
        bad = Fraction(a11, failed) if failed else zero
        good = Fraction(a10, passed) if passed else zero
        return bad / (bad + good) if bad + good else zero
    if formula == "ochiai":
        return Fraction(a11 * a11, failed * (a11 + a10)) if failed * (a11 + a10) else zero
    if formula == "jaccard":
        return Fraction(a11, a11 + a01 + a10) if a11 + a01 + a10 else zero
    if formula == "dstar":
        return a11 * a11 / (Fraction(a10 + a01) or Fraction(1, 2))
    if formula == "barinel":
        return 1 - Fraction(a10, a10 + a11) if a10 + a11 else zero
    return a11 - Fraction(a10, passed + 1)


@st.composite
def spectra(draw: st.DrawFn) -> Counts:
    failed, passed = draw(st.integers(0, 40)), draw(st.integers(0, 300))
    pairs = draw(st.lists(st.tuples(st.integers(0, failed), st.integers(0, passed)), min_size=1, max_size=30))
    a11, a10 = (np.array(column, np.int64) for column in zip(*pairs, strict=True))
    return Counts(a11, a10, failed, passed)


@pytest.mark.parametrize("formula", FORMULAS)
@given(counts=spectra())
def test_scores_and_ties_are_those_of_exact_arithmetic(formula: str, counts: Counts) -> None:
    scores = FORMULAS[formula](counts)
    pairs = zip(counts.a11.tolist(), counts.a10.tolist(), strict=True)
    twin = [exact(formula, a, b, counts.total_failed, counts.total_passed) for a, b in pairs]
    shown = scores**2 if formula == "ochiai" else scores
    assert np.isfinite(scores).all()
    assert shown.tolist() == pytest.approx([float(x) for x in twin])
    best, worst = tie_ranks(scores)
    assert best.tolist() == [1 + sum(y > x for y in twin) for x in twin]
    assert worst.tolist() == [sum(y >= x for y in twin) for x in twin]


@given(st.data())
def test_a_statement_is_executed_when_any_of_its_blocks_is(data: st.DataObject) -> None:
    lines = st.lists(st.integers(1, 6), max_size=4)
    sites = [block(*numbers) for numbers in data.draw(st.lists(lines, max_size=6))]
    failed = data.draw(st.lists(st.booleans(), min_size=1, max_size=6))
    row = st.lists(st.sampled_from([0, 0, 1, 7]), min_size=len(sites), max_size=len(sites))
    rows = [data.draw(row) for _ in failed]
    statements, counts = statement_spectrum(coverage(rows, failed, sites))
    assert statements == sorted({s for site in sites for s in site.statements})
    for i, statement in enumerate(statements):
        holders = [column for column, site in enumerate(sites) if statement in site.statements]
        ran = [any(r[column] for column in holders) for r in rows]
        assert counts.a11[i] == sum(r and f for r, f in zip(ran, failed, strict=True))
        assert counts.a10[i] == sum(r and not f for r, f in zip(ran, failed, strict=True))


def test_ranking_lists_what_failing_cases_executed_with_ties() -> None:
    findings = spectrum(SMALL, formula="tarantula", subject="small")
    assert findings.technique == "spectrum/tarantula"
    assert findings.subject == "small"
    shown = [(e.statement.line, e.rank, e.rank_average, e.rank_worst) for e in findings.ranking]
    assert shown == [(11, 1, 1, 1), (10, 2, 2.5, 3), (12, 2, 2.5, 3)]
    evidence = findings.ranking[2].evidence
    assert evidence["text"] == "executed by 1 of 2 failing and 1 of 2 passing cases"
    assert (evidence["failing"], evidence["passing"]) == (1, 1)
    assert findings.summary == ["compared 4 cases (2 passed, 2 failed): a failing case executed 3 statements"]


def test_every_formula_is_compared_for_the_ranked_statements() -> None:
    rows = spectrum(SMALL).parts["formulas"]
    assert [row["line"] for row in rows] == [11, 10, 12]
    assert set(rows[0]["formulas"]) == set(FORMULAS)
    assert rows[1]["formulas"]["tarantula"] == {"score": 0.5, "best": 2, "average": 2.5, "worst": 3}


def test_branches_are_ranked_by_their_sides() -> None:
    sites = [
        block(5, 6),
        Site((line(5),), "true", 7),
        Site((line(5),), "false", 7),
        Site((line(9),), "case 3", 3),
        Site((line(5),), "true", 7),  # the same header function in a second module
    ]
    rows = [[1, 0, 1, 1, 1], [1, 0, 1, 0, 0], [1, 1, 0, 1, 0]]
    matrix = coverage(rows, [True, False, False], sites)
    sides, counts = branch_spectrum(matrix)
    assert [(s.statements[0].line, s.side) for s in sides] == [(5, "false"), (5, "true"), (9, "case 3")]
    assert counts.a11.tolist() == [1, 1, 1]
    assert counts.a10.tolist() == [1, 1, 1]
    findings = spectrum(matrix, level="branch")
    assert [e.statement.line for e in findings.ranking] == [5, 9]
    assert [(b["line"], b["side"], b["rank"], b["rank_worst"]) for b in findings.parts["branches"]] == [
        (5, "false", 1, 3),
        (5, "true", 1, 3),
        (9, "case 3", 1, 3),
    ]
    text = findings.ranking[1].evidence["text"]
    assert text == "branch went 'case 3' in 1 of 1 failing and 1 of 2 passing cases"


def test_names_of_failed_cases() -> None:
    matrix = coverage([[1], [1]], [False, True], [block(1)], ("fine", "broken"))
    assert spectrum(matrix).parts["cases"] == {"passed": 1, "failed": 1, "names_failed": ["broken"]}


def test_without_passing_cases_there_is_still_a_ranking() -> None:
    findings = spectrum(coverage([[1]], [True], [block(1)]))
    assert findings.ranking[0].evidence["text"].endswith("there is no passing case to compare with")


def test_dstar_exponent_changes_the_order() -> None:
    counts = Counts(np.array([3, 2]), np.array([8, 3]), 3, 10)
    assert dstar(counts, 1).argmax() == 1
    assert dstar(counts, 2).tolist() == pytest.approx([9 / 8, 4 / 4])
    assert dstar(counts, 4).argmax() == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"formula": "magic"}, "unknown formula 'magic': use one of tarantula"),
        ({"level": "function"}, "unknown level 'function'"),
        ({"formula": "dstar", "exponent": 0}, "use a number above 0"),
    ],
)
def test_wrong_options_are_named(options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        spectrum(SMALL, **options)  # type: ignore[arg-type]


def test_no_failing_case_is_an_error() -> None:
    with pytest.raises(SubjectError, match="none of the 1 cases failed"):
        spectrum(coverage([[1]], [False], [block(1)]))


def test_shapes_are_checked() -> None:
    with pytest.raises(ValueError, match="expected cases by sites"):
        Coverage(np.zeros((2, 2), np.uint32), np.zeros(2, np.bool_), [block(1)])
    with pytest.raises(ValueError, match="1 names for 2 cases"):
        Coverage(np.zeros((2, 1), np.uint32), np.zeros(2, np.bool_), [block(1)], ["one"])
