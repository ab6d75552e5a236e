"""The rules that a site has: what is changed where, with which constants and variables, and once only."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trace_readers import subject_of

from whence.alter.changes import EVENT, EVERY, Batch, Flag, Op
from whence.alter.check import check
from whence.alter.describe import Describer
from whence.alter.profile import Profile
from whence.probe.sites import Form, Operation, Role
from whence.techniques.rules.candidates import Candidates, Family, Rule, change_records, guarded
from whence.techniques.rules.operands import from_bits, to_bits
from whence.techniques.rules.operations import LEFT_NEUTRAL, OPPOSITE, OTHER_SIGN, RIGHT_NEUTRAL, SYMBOLS, others

TEXT = """\
#include <stdio.h>
#include <string.h>
struct pair { int a; double b; };
static int limit = 40;
static double half(double x) { return x / 2; }
static int pick(const char *word, struct pair *p, unsigned count, int n)
{
    const char *rest = word;
    int total = 7;
    for (int i = 0; i < n; i++) {
        int inner = i * 3;
        total += inner;
    }
    if (rest != NULL && p->a > limit)
        total = n;
    if (count >= 5u)
        rest = NULL;
    switch (n) {
    case 1: total = 9; break;
    case 4: total--; break;
    }
    p->b = half(p->b) + 0.5;
    printf("%d\\n", total);
    return rest ? (int)strlen(word) : total;
}
int main(int argc, char **argv)
{
    struct pair q = {argc, 1.0};
    return pick(argv[0], &q, 3, argc) > 100;
}
"""
NOTHING = np.zeros(0, EVENT)


@cache
def world():
    subject = subject_of(TEXT)
    sites = subject.alter_plan.sites
    return subject, Describer(subject), Candidates(subject, Profile.of(sites, [NOTHING]))


def rules_at(role: Role, what: str) -> list[Rule]:
    """The rules of the only site with this role and text."""
    subject, describer, candidates = world()
    sites = subject.alter_plan.sites
    found = [n for n in range(len(sites)) if sites[n]["role"] == role and describer.what(n) == what]
    assert found, f"no such site: {what}"
    return candidates.of(found[0])


def variables_of(rules: list[Rule]) -> set[str]:
    plan = world()[0].alter_plan
    names = (int(plan.functions[plan.sites[r.site]["function"]]) + r.variable for r in rules if r.op is Op.VARIABLE)
    return {plan.variable_names[n] for n in names}


def numbers(rules: list[Rule], op: Op, width: int = 32) -> set[int | float]:
    return {from_bits(rule.value, width, Form.INTEGER) for rule in rules if rule.op is op}


def test_conditions_are_negated_and_forced():
    rules = rules_at(Role.BRANCH, "the condition i < n")
    assert [(rule.op, rule.value) for rule in rules] == [(Op.NOT, 0), (Op.SET, 1), (Op.SET, 0)]
    assert {rule.family for rule in rules} == {Family.BRANCH}


def test_comparisons_leave_their_opposite_to_the_branch():
    rules = rules_at(Role.COMPARE, "i < n")
    assert {rule.operation for rule in rules} == {
        Operation.EQ, Operation.NE, Operation.SLE, Operation.SGT, Operation.ULT,
    }  # fmt: skip
    assert all(rule.tier == 0 for rule in rules)


def test_comparisons_that_no_branch_uses_have_their_opposite():
    operations = {r.operation for r in rules_at(Role.COMPARE, "pick(argv[0], &q, 3, argc) > 100")}
    assert Operation.SLE in operations


def test_constants_become_neighbours_and_constants_of_the_function():
    found = numbers(rules_at(Role.COMPARE, "count >= 5"), Op.RIGHT_SET)
    assert {4, 6, 0, 1, -1, 10, 2, -5} <= found  # around, small ones, double, half, negative
    assert {3, 7, 9} <= found and 40 not in found and 100 not in found  # of this function, and only of this one
    assert 5 not in found


def test_what_is_compared_is_also_compared_with_the_ends_of_ranges_next_to_it():
    subject = subject_of(
        "int main(int argc, char **argv)\n{\n    int c = **argv;\n    if (c == 240)\n        return c < 144;\n"
        "    return c > 159 ? c * 80 : 2;\n}\n"
    )
    sites, describer = subject.alter_plan.sites, Describer(subject)
    candidates = Candidates(subject, Profile.of(sites, [NOTHING]))

    def tried(what: str) -> set[int | float]:
        (site,) = (n for n in range(len(sites)) if describer.what(n) == what)
        return numbers(candidates.of(site), Op.RIGHT_SET)

    assert {143, 145, 144} <= tried("c > 159") and {158, 160, 159} <= tried("c < 144")
    assert 144 in tried("c * 80") and 143 not in tried("c * 80")


def test_values_are_changed_where_they_are_made():
    assert {rule.op for rule in rules_at(Role.STORE, "total")} == {Op.KEEP, Op.SET, Op.VARIABLE}  # total = 7
    assert [rule.op for rule in rules_at(Role.STORE, "inner")] == [Op.KEEP]  # i * 3 has a site
    assert {rule.op for rule in rules_at(Role.LOAD, "inner")} == {Op.ADD, Op.NEGATE, Op.SET, Op.VARIABLE}
    assert all(rule.op is not Op.ADD for rule in rules_at(Role.BINARY, "total + inner"))
    assert any(rule.op is Op.ADD for rule in rules_at(Role.BINARY, "i * 3"))


def test_an_operand_can_be_left_out():
    rules = rules_at(Role.BINARY, "total + inner")
    assert {(rule.op, rule.value) for rule in rules if rule.op in (Op.LEFT_SET, Op.RIGHT_SET)} == {
        (Op.RIGHT_SET, 0),
        (Op.LEFT_SET, 0),
    }


def test_variables_are_those_that_can_be_named_there():
    assert variables_of(rules_at(Role.LOAD, "i")) == {"count", "n", "total", "limit"}
    assert variables_of(rules_at(Role.LOAD, "inner")) == {"count", "n", "total", "i", "limit"}
    assert variables_of(rules_at(Role.LOAD, "limit")) == {"count", "n", "total"}


def test_pointers_stand_for_pointers_of_their_type():
    assert variables_of(rules_at(Role.LOAD, "rest")) == {"word"}
    assert variables_of(rules_at(Role.LOAD, "p")) == set()
    assert [rule.value for rule in rules_at(Role.LOAD, "rest") if rule.op is Op.SET] == [0]


def test_calls_are_left_out():
    assert [(r.op, r.value) for r in rules_at(Role.CALL, "the call of printf()")] == [(Op.SKIP, 0)]
    assert [(r.op, r.value) for r in rules_at(Role.CALL, "the call of half()")] == [(Op.SKIP, 0), (Op.SKIP, 1)]
    assert rules_at(Role.RESULT, "the result of printf()") == []
    assert any(rule.op is Op.NOT for rule in rules_at(Role.RESULT, "the result of strlen()"))


def test_floating_point():
    rules = rules_at(Role.BINARY, "half(p->b) + 0.5")
    values = {from_bits(rule.value, 64, Form.FLOAT) for rule in rules if rule.op is Op.RIGHT_SET}
    assert {1.5, -0.5, 0.0, 1.0, -1.0, 0.25} <= values
    assert {rule.operation for rule in rules if rule.op is Op.OPERATOR} == {
        Operation.FSUB, Operation.FMUL, Operation.FDIV,
    }  # fmt: skip


def test_switches_go_to_other_cases():
    subject, _describer, _ = world()
    sites = subject.alter_plan.sites
    (site,) = np.flatnonzero(sites["role"] == Role.SWITCH).tolist()
    events = np.zeros(2, EVENT)
    events["site"], events["value"] = site, [4, 2]
    rules = Candidates(subject, Profile.of(sites, [events])).of(site)
    assert [rule.value for rule in rules if rule.guard is None] == [1, 4, 5]  # 5: the default
    assert {(rule.guard, rule.value) for rule in rules if rule.guard is not None} == {
        (2, 1), (2, 4), (2, 5), (4, 1), (4, 5),
    }  # fmt: skip


def test_extreme_values_of_the_runs_are_tried():
    subject, describer, _ = world()
    sites = subject.alter_plan.sites
    (site,) = (n for n in range(len(sites)) if sites[n]["role"] == Role.LOAD and describer.what(n) == "limit")
    events = np.zeros(3, EVENT)
    events["site"], events["value"] = site, [30, (1 << 32) - 6, 12]
    rules = Candidates(subject, Profile.of(sites, [events])).of(site)
    assert numbers(rules, Op.SET) == {0, 1, -1, 30, -6}


def test_a_value_that_it_always_was_is_not_tried():
    subject, describer, _ = world()
    sites = subject.alter_plan.sites
    (site,) = (n for n in range(len(sites)) if sites[n]["role"] == Role.LOAD and describer.what(n) == "limit")
    events = np.zeros(1, EVENT)
    events["site"], events["value"] = site, 1
    assert numbers(Candidates(subject, Profile.of(sites, [events])).of(site), Op.SET) == {0, -1}


def test_all_rules_are_changes_that_sessions_accept_and_none_comes_twice():
    subject, _, candidates = world()
    sites = subject.alter_plan.sites
    rules = [rule for site in range(len(sites)) for rule in candidates.of(site)]
    assert len(set(rules)) == len(rules) > 300
    records = change_records(rules, sites)
    check(Batch.single(records), subject.alter_plan)
    assert (records["clock"] == EVERY).all() and not (records["flags"] & Flag.MEMORY).any()


# ---- Guarded rules ---------------------------------------------------------------------------------------------------


def integer_sites() -> np.ndarray:
    sites = np.zeros(2, world()[0].alter_plan.sites.dtype)
    sites["form"], sites["width"] = [Form.INTEGER, Form.FLOAT], [32, 64]
    return sites


def test_a_pair_becomes_a_guarded_rule():
    assert guarded([(0, 3, 4)], integer_sites()) == [Rule(0, Family.GUARDED, Op.SET, 4, guard=3)]
    assert guarded([(0, 3, 4), (0, 3, 4)], integer_sites()) == guarded([(0, 3, 4)], integer_sites())


def test_pairs_with_the_same_difference_become_one_rule_without_a_guard():
    rules = guarded([(0, 3, 2), (0, 0, (1 << 32) - 1)], integer_sites())
    assert rules[0] == Rule(0, Family.VALUE, Op.ADD, (1 << 32) - 1)
    assert {rule.guard for rule in rules[1:]} == {0, 3}


def test_pairs_with_the_same_value_become_one_rule_without_a_guard():
    rules = guarded([(1, 3, 9), (1, 5, 9)], integer_sites())
    assert rules[0] == Rule(1, Family.VALUE, Op.SET, 9) and len(rules) == 3


def test_a_guard_is_passed_on():
    subject, _describer, _ = world()
    sites = subject.alter_plan.sites
    site = next(n for n in range(len(sites)) if sites[n]["role"] == Role.LOAD and sites[n]["width"] == 32)
    (record,) = change_records(guarded([(site, 3, 4)], sites), sites)
    assert (record["flags"], record["guard"], record["value"]) == (Flag.GUARDED, 3, 4)


# ---- Numbers and operators -------------------------------------------------------------------------------------------


@given(st.sampled_from([8, 16, 32, 64]), st.data())
def test_integers_and_their_bits(width, data):
    number = data.draw(st.integers(-(1 << width - 1), (1 << width - 1) - 1))
    bits = to_bits(number, width, Form.INTEGER)
    assert bits is not None and 0 <= bits < 1 << width
    assert from_bits(bits, width, Form.INTEGER) == number
    assert to_bits(1 << width, width, Form.INTEGER) is None


@given(st.floats(allow_nan=False))
def test_doubles_and_their_bits(number):
    bits = to_bits(number, 64, Form.FLOAT)
    assert bits is not None and from_bits(bits, 64, Form.FLOAT) == number


def test_a_number_too_large_for_float():
    assert to_bits(1e300, 32, Form.FLOAT) is None


@pytest.mark.parametrize("operation", list(SYMBOLS))
def test_other_operations(operation):
    found = others(operation)
    assert operation not in found and len(set(found)) == len(found)
    assert all(other in SYMBOLS for other in found)
    if operation in OPPOSITE:
        assert OPPOSITE[OPPOSITE[operation]] == operation and OPPOSITE[operation] in found
    if operation in OTHER_SIGN:
        assert SYMBOLS[OTHER_SIGN[operation]] == SYMBOLS[operation] and OTHER_SIGN[operation] in found


@given(st.integers(-100, 100))
def test_neutral_operands(number):
    compute = {
        "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / b,
        "&": lambda a, b: a & b, "|": lambda a, b: a | b, "^": lambda a, b: a ^ b,
        "<<": lambda a, b: a << b, ">>": lambda a, b: a >> b,
    }  # fmt: skip
    for operation, neutral in RIGHT_NEUTRAL.items():
        assert compute[SYMBOLS[operation]](number, neutral) == number
    for operation, neutral in LEFT_NEUTRAL.items():
        assert compute[SYMBOLS[operation]](neutral, number) == number
