from __future__ import annotations

import pytest
from cli_programs import PRICES, fault_line, line_of, prices
from cli_tool import whence

from whence.cli.options import FORMULAS
from whence.techniques import spectrum

CASES = ("--fails", "200 5", "--expect", "2 prices, 1 large\nsum 185\n", "--passes", "5 7", "--passes", "1")


def test_formulas_are_those_of_the_technique():
    assert set(FORMULAS) == set(spectrum.FORMULAS)


@pytest.mark.parametrize("formula", FORMULAS)
def test_formulas(formula):
    done = whence(prices(), "spectrum", "prices.c", *CASES, "--formula", formula, "--json")
    assert (done.status, done.json["technique"]) == (0, f"spectrum/{formula}")
    first = [e["line"] for e in done.json["ranking"] if e["rank"] == 1]
    assert first == [line_of(PRICES, "large++"), fault_line(PRICES)]


def test_branches():
    done = whence(prices(), "spectrum", "prices.c", *CASES, "--level", "branch", "--json")
    best = done.json["branches"][0]
    assert (best["line"], best["side"], best["rank_worst"]) == (line_of(PRICES, "price >= 100"), "true", 1)


def test_ties_are_told():
    done = whence(prices(), "spectrum", "prices.c", *CASES, "-n", "1")
    assert " 1-2  prices.c:" in done.out and "1 of them tied with the last one here" in done.out


def test_no_passing_case():
    done = whence(prices(), "spectrum", "prices.c", *CASES[:4], "--json")
    assert len({e["score"] for e in done.json["ranking"]}) == 1
    assert any("no passing case" in line for line in done.json["summary"])


def test_unknown_formula():
    done = whence(prices(), "spectrum", "prices.c", *CASES, "--formula", "best")
    assert done.status == 2 and "'best' is not one of" in done.err
