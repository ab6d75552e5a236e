"""Constants to compare with, from the values that were compared in runs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trace_readers import subject_of

from whence.alter.changes import EVENT, Op
from whence.alter.describe import Describer
from whence.alter.profile import Profile
from whence.probe.sites import Form, Role
from whence.techniques.rules.candidates import Candidates
from whence.techniques.rules.operands import Number, from_bits, to_bits
from whence.techniques.rules.thresholds import AWAY, thresholds

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


@given(st.integers(-50, 50), st.sets(st.integers(-60, 60)))
def test_they_part_the_nearest_values_otherwise_than_the_number_does(number, compared):
    found = thresholds(number, sorted(compared))
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


def _tried(condition: str, operand: str, had: list[Number]) -> list[Number]:
    """The constants that are tried in a comparison, where its operand had some values."""
    subject = subject_of(TEXT)
    sites, describer = subject.alter_plan.sites, Describer(subject)

    def site(role: Role, what: str) -> int:
        return next(n for n in range(len(sites)) if sites[n]["role"] == role and describer.what(n) == what)

    compare, load = site(Role.COMPARE, condition), site(Role.LOAD, operand)
    events = np.zeros(len(had), EVENT)
    events["site"] = load
    width, form = int(sites["width"][load]), Form(int(sites["form"][load]))
    events["value"] = [to_bits(number, width, form) if form is not Form.POINTER else number for number in had]
    rules = Candidates(subject, Profile.of(sites, [events])).of(compare)
    form = Form.FLOAT if "fabs" in condition else Form.INTEGER
    return [from_bits(rule.value, 64 if form is Form.FLOAT else 32, form) for rule in rules if rule.op is Op.RIGHT_SET]
