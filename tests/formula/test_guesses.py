"""Values that make conditions hold, found by trying: doubles are narrowed down."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from whence.formula.decide import Decider, Status
from whence.formula.evaluation import Evaluation
from whence.formula.floats import bits_of, number_of
from whence.formula.terms import Term, Terms


def between(terms: Terms, term: Term, low: float, high: float) -> Term:
    """That a double lies between two numbers."""
    bounds = [terms.constant(bits_of(bound, 64), 64) for bound in (low, high)]
    return terms.both([terms.apply("fle", 1, bounds[0], term), terms.apply("fle", 1, term, bounds[1])])


def decided(terms: Terms, conditions: list[Term], recorded: dict[Term, int]) -> tuple[Status, dict[Term, int]]:
    decider = Decider(terms, recorded.get)
    return decider.check(conditions)[0], decider.model


@given(st.floats(-1e6, 1e6), st.floats(0.001, 1e3), st.floats(-1e3, 1e3), st.floats(0.001, 10))
def test_a_double_is_found_behind_a_product_and_a_sum(target, factor, addend, half):
    terms = Terms()
    x = terms.symbol(64)
    product = terms.apply("fmul", 64, x, terms.constant(bits_of(factor, 64), 64))
    result = terms.apply("fadd", 64, product, terms.constant(bits_of(addend, 64), 64))
    condition = between(terms, result, target - half, target + half)
    status, model = decided(terms, [condition], {x: bits_of(1.0, 64)})
    assert status is Status.SATISFIABLE
    evaluation = Evaluation(terms)
    for symbol, value in model.items():
        evaluation.set(symbol, value)
    if model:  # else the value of the run would do
        assert evaluation.value(condition) == 1


def test_a_round_number_is_preferred():
    terms = Terms()
    x = terms.symbol(64)
    rest = terms.apply("fsub", 64, terms.constant(bits_of(1.0, 64), 64), x)
    price = terms.apply("fmul", 64, rest, terms.constant(bits_of(30.0, 64), 64))
    _, model = decided(terms, [between(terms, price, 28.495, 28.505)], {x: bits_of(0.5, 64)})
    assert number_of(model[x], 64) == 0.05


def test_what_no_number_meets_is_not_found():
    terms = Terms()
    x = terms.symbol(64)
    square = terms.apply("fmul", 64, x, x)
    status, model = decided(terms, [between(terms, square, -2.0, -1.0)], {x: bits_of(1.0, 64)})
    assert status is not Status.SATISFIABLE and model == {}
