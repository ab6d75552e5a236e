"""Constants to compare with, from the values that were compared in runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trace_readers import subject_of

from whence.alter.changes import EVENT, Op
from whence.alter.describe import Describer
from whence.alter.profile import Profile
from whence.probe.sites import LEFT_CONSTANT, Form, Operation, Role
from whence.subject.subject import Subject
from whence.techniques.rules.candidates import Candidates
from whence.techniques.rules.operands import Number, from_bits, to_bits
from whence.techniques.rules.thresholds import AWAY, Compared, thresholds

TEXT = """\
#include <math.h>
static int test(int n, double x, unsigned char c, char *p, short s)
{
    return (n < 1000) + (fabs(x) <= 1e-9) + (c > 500) + (p == 0) + (s >= 777) + (n < s);
}
int main(int argc, char **argv)
{
    return test(argc, argc, (unsigned char)argc, *argv, (short)argc);
}
"""

LIMITS = """\
static int test(int n, unsigned u)
{
    return (n < 1000) + (n <= 1001) + (n > 1002) + (n >= 1003) + (u < 1004) + (1005 > n) + (1006 <= n);
}
int main(int argc, char **argv)
{
    (void)argv;
    return test(argc, (unsigned)argc);
}
"""


@given(st.integers(-50, 50), st.sets(st.integers(-60, 60)))
def test_they_part_the_nearest_values_otherwise_than_the_number_does(number, compared):
    found = thresholds(number, np.array(sorted(compared), np.int64))
    assert len(found) == len(set(found)) <= 2 * len(AWAY) and set(found) <= compared - {number}
    assert found == sorted(found, key=lambda value: abs(value - number))
    for side in ([v for v in compared if v < number], [v for v in compared if v > number]):
        nearest = sorted(side, key=lambda value: abs(value - number))
        assert set(nearest[:3]) <= set(found), "the nearest three of each side"


@pytest.mark.parametrize(
    ("condition", "operand", "had", "tried"),
    [
        ("n < 1000", "n", [-70000, 5, 930, 1000, 1060, 80000], [1060, 930, 5, -70000, 80000]),
        ("fabs(x) <= 1e-09", "x", [-1e-7, 1e-12, 0.25], [1e-12, 1e-7, 0.25]),
        ("c > 500", "c", [3, 200], [200, 3]),
        ("s >= 777", "s", [-3, 750, 790], [790, 750, -3]),
    ],
)
def test_constants_become_what_they_were_compared_with(condition, operand, had, tried):
    found = _tried(condition, operand, had)
    assert [number for number in found if number in tried] == tried
    assert not set(tried) & set(_tried(condition, operand, []))


def test_pointers_and_two_variables_are_compared_with_no_constant():
    assert _tried("p == NULL", "p", [1234]) == [] and _tried("n < s", "n", [1234]) == []


HOLDS = {
    "n < 1000": lambda value, limit: value < limit,
    "n <= 1001": lambda value, limit: value <= limit,
    "n > 1002": lambda value, limit: value > limit,
    "n >= 1003": lambda value, limit: value >= limit,
    "u < 1004": lambda value, limit: value % 2**32 < limit % 2**32,
    "1005 > n": lambda value, limit: limit > value,
    "1006 <= n": lambda value, limit: limit <= value,
}


@given(st.sampled_from(sorted(HOLDS)), st.sets(st.integers(-30, 30), min_size=2), st.integers(-30, 30))
def test_limits_that_runs_do_not_tell_apart(condition, had, limit):
    subject, site, profile = _profile(LIMITS, condition, "u" if "u" in condition else "n", sorted(had))
    row = subject.alter_plan.sites[site]
    side = Op.LEFT_SET if row["constant"] == LEFT_CONSTANT else Op.RIGHT_SET
    found = Compared(subject, profile).alike(site, side, int(row["operation"]), limit % 2**32)
    holds = HOLDS[condition]

    def outcomes(other: int) -> list[bool]:
        return [holds(value, other) for value in had]

    if not found:  # it is the only one, or one without an end: it holds for all of them, or for none
        around = [outcomes(limit - 1), outcomes(limit + 1)]
        assert len(set(outcomes(limit))) == 1 or outcomes(limit) not in around
        return
    least, greatest = found
    assert least < greatest and least <= limit % 2**32 - (0 if limit >= 0 or "u" in condition else 2**32) <= greatest
    assert outcomes(least) == outcomes(greatest) == outcomes(limit)
    assert outcomes(limit) not in (outcomes(least - 1), outcomes(greatest + 1))


def test_what_is_no_limit_has_none_that_would_do_as_well():
    subject, site, profile = _profile(TEXT, "n < 1000", "n", [1, 5000])
    sites = subject.alter_plan.sites
    compared = Compared(subject, profile)
    load = next(n for n in range(len(sites)) if sites[n]["role"] == Role.LOAD)
    assert compared.alike(site, Op.OPERATOR, Operation.SLE, 0) == []
    assert compared.alike(site, Op.RIGHT_SET, Operation.EQ, 7) == []
    assert compared.alike(load, Op.SET, 0, 3) == []
    assert compared.alike(site, Op.RIGHT_SET, Operation.SLT, 7) == [2, 5000]


def _tried(condition: str, operand: str, had: list[Number]) -> list[Number]:
    """The constants that are tried in a comparison, where its operand had some values."""
    subject, compare, profile = _profile(TEXT, condition, operand, had)
    rules = Candidates(subject, profile).of(compare)
    form = Form.FLOAT if "fabs" in condition else Form.INTEGER
    return [from_bits(rule.value, 64 if form is Form.FLOAT else 32, form) for rule in rules if rule.op is Op.RIGHT_SET]


def _profile(text: str, condition: str, operand: str, had: Sequence[Number]) -> tuple[Subject, int, Profile]:
    """A program, the site of a comparison in it, and a profile in which its operand had some values."""
    subject = subject_of(text)
    sites, describer = subject.alter_plan.sites, Describer(subject)

    compare = next(n for n in range(len(sites)) if describer.what(n) == condition and sites[n]["role"] == Role.COMPARE)
    loads = [n for n in range(compare) if describer.what(n) == operand and sites[n]["role"] == Role.LOAD]
    load = loads[-1]  # of this comparison
    events = np.zeros(len(had), EVENT)
    events["site"] = load
    width, form = int(sites["width"][load]), Form(int(sites["form"][load]))
    events["value"] = [to_bits(number, width, form) if form is not Form.POINTER else number for number in had]
    return subject, compare, Profile.of(sites, [events])
