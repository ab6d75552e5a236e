"""A SAT solver over terms answers as the bit-vector solver does: with models, cores and in time."""

from __future__ import annotations

import random
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.incremental import Incremental
from whence.formula.clauses import Unmodelled
from whence.formula.decide import Status
from whence.formula.satisfiability import Satisfiability
from whence.formula.terms import Term, Terms

SOLVERS = ("cadical153", "glucose4", "minisat22")


@pytest.mark.parametrize("name", SOLVERS)
def test_it_answers_with_models_and_cores(name: str) -> None:
    terms = Terms()
    x, y, z = terms.symbol(32), terms.symbol(1), terms.symbol(16)
    solver = Satisfiability(terms, 5.0, name)
    solver.add([terms.apply("or", 1, terms.negate(y), terms.equal(x, terms.constant(7, 32)))])
    assert solver.check([y]) == (Status.SATISFIABLE, []) and solver.value(x) == 7
    assert solver.value(terms.apply("mul", 32, x, terms.constant(6, 32))) == 42  # a term that it was not told of
    assert solver.value(z) == 0  # nor of this symbol
    other = terms.equal(x, terms.constant(8, 32))
    assert solver.check([other, y, terms.equal(z, z)]) == (Status.UNSATISFIABLE, [0, 1])
    assert solver.check([other])[0] is Status.SATISFIABLE and solver.value(x) == 8
    solver.add([terms.negate(other)])
    assert solver.check([other]) == (Status.UNSATISFIABLE, [0])
    assert solver.questions == 4


@pytest.mark.parametrize("name", SOLVERS)
def test_assumptions_that_are_known_or_said_twice(name: str) -> None:
    terms = Terms()
    a, yes = terms.symbol(1), terms.constant(1, 1)
    solver = Satisfiability(terms, 5.0, name)
    assert solver.check([yes]) == (Status.SATISFIABLE, [])
    assert solver.check([yes, terms.negate(yes), a])[1] == [1]
    status, core = solver.check([a, yes, a, terms.negate(a)])
    assert status is Status.UNSATISFIABLE and 3 in core and {0, 2} & set(core) and 1 not in core


def equations(draw: random.Random) -> tuple[Terms, list[Term], list[Term]]:
    """A few equations of small vectors with a selector each, and the symbols."""
    terms = Terms()
    symbols = [terms.symbol(6) for _ in range(4)]
    pool, selectors = [*symbols, terms.constant(3, 6), terms.constant(17, 6)], []
    conditions = []
    for _ in range(8):
        operation = draw.choice(("add", "sub", "mul", "udiv", "and", "xor", "shl"))
        pool.append(terms.apply(operation, 6, draw.choice(pool), draw.choice(pool)))
        relation = draw.choice(("eq", "ult", "sle"))
        selectors.append(terms.symbol(1))
        condition = terms.apply(relation, 1, pool[-1], draw.choice(pool))
        conditions.append(terms.apply("or", 1, terms.negate(selectors[-1]), condition))
    return terms, conditions, selectors


@given(st.integers(0, 1 << 32), st.sampled_from(SOLVERS))
@settings(max_examples=40, deadline=None)
def test_it_agrees_with_the_solver_of_bit_vectors(seed: int, name: str) -> None:
    draw = random.Random(seed)
    terms, conditions, selectors = equations(draw)
    both: list[Any] = [Satisfiability(terms, 5.0, name), Incremental(terms, 5.0)]
    for solver in both:
        solver.add(conditions)
    for _ in range(6):
        kept = [selector for selector in selectors if draw.random() < 0.7]
        (answer, core), (expected, _) = (solver.check(kept) for solver in both)
        assert answer is expected
        if answer is Status.SATISFIABLE:
            mine = both[0]
            assert all(mine.value(c) == 1 for c in (*conditions, *kept))
        else:
            assert both[1].check([kept[index] for index in core])[0] is Status.UNSATISFIABLE


@pytest.mark.parametrize("name", SOLVERS)
def test_a_question_ends_in_time(name: str) -> None:
    terms = Terms()
    x, y = terms.symbol(40), terms.symbol(40)
    product = terms.apply("mul", 80, terms.resize(x, 80), terms.resize(y, 80))
    solver = Satisfiability(terms, 0.5, name)
    one = terms.constant(1, 40)
    solver.add([terms.equal(product, terms.constant(1000000000039 * 1000000000061, 80))])
    solver.add([terms.apply("ult", 1, one, factor) for factor in (x, y)])
    began = time.monotonic()
    assert solver.check([]) == (Status.UNKNOWN, []) and time.monotonic() - began < 5
    assert solver.check([terms.equal(x, terms.constant(1000000000039, 40))])[0] is Status.SATISFIABLE
    assert solver.value(y) == 1000000000061


def test_floats_are_refused() -> None:
    terms = Terms()
    with pytest.raises(Unmodelled, match="feq"):
        Satisfiability(terms, 1.0).add([terms.apply("feq", 1, terms.symbol(64), terms.symbol(64))])
