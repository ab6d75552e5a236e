"""Decisions about conjunctions of terms, against trying all values."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whence.formula.decide import Decider, Status
from whence.formula.evaluation import Evaluation
from whence.formula.floats import bits_of
from whence.formula.terms import Term, Terms

WIDTH = 3
BINARY = ("add", "sub", "mul", "udiv", "urem", "sdiv", "srem", "and", "or", "xor", "shl", "lshr", "ashr")
FLAGS = ("eq", "ult", "ule", "slt", "sle")


class Problem:
    """Random conditions over two symbols of a few bits."""

    def __init__(self, seed: int, conditions: int) -> None:
        self.random, self.terms = random.Random(seed), Terms()
        self.symbols = [self.terms.symbol(WIDTH) for _ in range(2)]
        self.pool = [*self.symbols, *(self.terms.constant(n, WIDTH) for n in (0, 1, 5))]
        for _ in range(8):
            self.pool.append(self.made())
        self.conditions = [self.condition() for _ in range(conditions)]

    def made(self) -> Term:
        terms, pick = self.terms, lambda: self.random.choice(self.pool)
        kind = self.random.randrange(5)
        if kind == 0:
            return terms.choose(self.condition(), pick(), pick())
        if kind == 1:
            return terms.extract(terms.resize(pick(), 2 * WIDTH, signed=True), self.random.randrange(WIDTH), WIDTH)
        if kind == 2:
            return terms.extract(terms.concat(pick(), pick()), 1, WIDTH)
        return terms.apply(self.random.choice(BINARY), WIDTH, pick(), pick())

    def condition(self) -> Term:
        left, right = (self.random.choice(self.pool) for _ in range(2))
        return self.terms.apply(self.random.choice(FLAGS), 1, left, right)

    def can_hold(self, chosen: list[Term]) -> bool:
        for values in itertools.product(range(1 << WIDTH), repeat=len(self.symbols)):
            evaluation = Evaluation(self.terms)
            for symbol, value in zip(self.symbols, values, strict=True):
                evaluation.set(symbol, value)
            if all(evaluation.value(term) for term in chosen):
                return True
        return False

    def decider(self, guesses: bool = True) -> Decider:
        return Decider(self.terms, lambda symbol: 1 if guesses else None, limit=20.0)


@settings(max_examples=80, deadline=None)
@given(seed=st.integers(0, 1 << 32), count=st.integers(1, 4), guesses=st.booleans())
def test_answers_are_those_of_trying_all_values(seed, count, guesses):
    problem = Problem(seed, count)
    status, core = problem.decider(guesses).check(problem.conditions)
    assert (status is Status.SATISFIABLE) == problem.can_hold(problem.conditions)
    assert status is not Status.UNKNOWN
    assert not core or not problem.can_hold([problem.conditions[k] for k in core])


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 1 << 32))
def test_least_cores_lose_their_contradiction_with_any_condition(seed):
    problem = Problem(seed, 6)
    decider = problem.decider()
    status, _ = decider.check(problem.conditions)
    if status is not Status.UNSATISFIABLE:
        return
    least, decided = decider.minimal(problem.conditions, list(range(6)), kept=0)
    chosen = [problem.conditions[k] for k in least]
    assert decided and not problem.can_hold(chosen)
    for left_out in least:
        assert problem.can_hold([problem.conditions[k] for k in least if k != left_out])


def test_the_kept_condition_stays_where_there_is_a_choice():
    terms = Terms()
    x, one, two = terms.symbol(8), terms.constant(1, 8), terms.constant(2, 8)
    conditions = [terms.equal(x, one), terms.equal(x, two), terms.negate(terms.equal(x, one))]
    assert Decider(terms, lambda symbol: 0).minimal(conditions, [0, 1, 2], kept=0)[0][0] == 0
    assert 2 in Decider(terms, lambda symbol: 0).minimal(conditions, [0, 1, 2], kept=2)[0]


def test_floating_point_goes_to_z3():
    terms = Terms()
    x = terms.symbol(64)
    number = {n: terms.constant(bits_of(n, 64), 64) for n in (1.5, 2.5)}
    above = terms.apply("flt", 1, number[2.5], x)
    below = terms.apply("flt", 1, x, number[1.5])
    decider = Decider(terms, lambda symbol: None, limit=20.0)
    assert decider.check([above])[0] is Status.SATISFIABLE
    assert decider.check([above, below]) == (Status.UNSATISFIABLE, [0, 1])
    assert decider.queries == 2 and decider.conditions == 3


def test_constants_need_no_solver():
    terms = Terms()
    decider = Decider(terms, lambda symbol: None)
    yes, no = terms.constant(1, 1), terms.constant(0, 1)
    assert decider.check([yes]) == (Status.SATISFIABLE, [])
    assert decider.check([yes, no]) == (Status.UNSATISFIABLE, [1])
    assert decider.queries == 0


@pytest.mark.parametrize("width", [8, 32])
def test_another_value_of_one_unknown_is_tried_before_a_solver(width):
    terms = Terms()
    x = terms.symbol(width)
    decider = Decider(terms, lambda symbol: 7)
    assert decider.check([terms.equal(x, terms.constant(9, width))])[0] is Status.SATISFIABLE
    assert decider.guessed == 1 and decider.queries == 0


def test_what_takes_too_long_is_not_decided():
    """The factors of a 64-bit number take far more than a millisecond."""
    terms = Terms()
    x, y = (terms.resize(terms.symbol(32), 64) for _ in range(2))
    product = terms.apply("mul", 64, x, y)
    square = terms.constant(18446744030759878681, 64)
    one = terms.constant(1, 64)
    conditions = [terms.equal(product, square), terms.apply("ult", 1, one, x), terms.apply("ult", 1, one, y)]
    assert Decider(terms, lambda symbol: None, limit=0.001).check(conditions)[0] is Status.UNKNOWN
