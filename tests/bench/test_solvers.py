"""The benchmark of solvers: all ways give the sets that trying all gives, and answers that differ are told."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from itertools import combinations
from pathlib import Path

import cvc5  # type: ignore[import-not-found,import-untyped,unused-ignore]
import pytest

from bench.cvc5_terms import Cvc5
from bench.incremental import Incremental
from bench.solver_questions import FLOATING, SOLVERS, replies
from bench.solver_ways import WAYS, Answer, Problem
from bench.solvers import Formula, Row, disagreements, isolated, table_of_sets
from whence.formula.decide import Status
from whence.formula.floats import bits_of, is_nan
from whence.formula.integers import OPERATIONS
from whence.formula.terms import Term, Terms

ROOT = Path(__file__).parents[2]
Sets = frozenset[frozenset[int]]


def problem(seed: int) -> Problem:
    """Groups of equations over a few numbers, of which some contradict each other."""
    draw, terms = random.Random(seed), Terms()
    numbers = [terms.symbol(8) for _ in range(5)]

    def number() -> Term:
        return draw.choice([*numbers, terms.constant(draw.randrange(4), 8)])

    def equation() -> Term:
        return terms.equal(draw.choice(numbers), terms.apply(draw.choice(("add", "mul", "xor")), 8, number(), number()))

    hard = [terms.apply("ult", 1, terms.constant(3, 8), draw.choice(numbers))]
    equations = [[equation() for _ in range(draw.choice((1, 2)))] for _ in range(draw.choice((3, 6)))]
    return Problem(terms, hard, [terms.symbol(1) for _ in equations], equations)


def tried(given: Problem, size: int) -> Sets:
    """The minimal correction sets, each possible one asked about."""
    found: list[frozenset[int]] = []
    for count in range(size + 1):
        for dropped in map(frozenset, combinations(range(len(given.equations)), count)):
            left = [e for group, own in enumerate(given.equations) if group not in dropped for e in own]
            holds = Incremental(given.terms, 10.0).check([*given.hard, *left])[0] is Status.SATISFIABLE
            if holds and not any(smaller <= dropped for smaller in found):
                found.append(dropped)
    return frozenset(found)


EXPECTED = {(seed, size): tried(problem(seed), size) for seed in range(16) for size in (1, 2)}


def test_the_problems_are_worth_it() -> None:
    counts = {len(s) for sets in EXPECTED.values() for s in sets}
    assert counts == {0, 1, 2} and frozenset() in EXPECTED.values()


@pytest.mark.parametrize("name", WAYS)
def test_each_way_gives_all_minimal_sets(name: str) -> None:
    for (seed, size), expected in EXPECTED.items():
        answer = WAYS[name](problem(seed), size)
        assert answer.sets == expected, (seed, size)
        assert 0 <= answer.build <= answer.seconds and answer.questions > 0


@pytest.mark.parametrize("name", SOLVERS)
def test_each_solver_answers_questions(name: str) -> None:
    terms = Terms()
    x, five = terms.symbol(32), terms.constant(5, 32)
    small, square = terms.apply("ult", 1, x, five), terms.equal(terms.apply("mul", 32, x, x), terms.constant(16, 32))
    other = terms.negate(terms.equal(x, terms.constant(4, 32)))
    found = replies(SOLVERS[name], terms, [(small, square), (small, square, other)], 5.0)
    assert [reply.status for reply in found] == [Status.SATISFIABLE, Status.UNSATISFIABLE]


@pytest.mark.parametrize("name", FLOATING)
def test_each_solver_answers_questions_of_floats(name: str) -> None:
    terms = Terms()
    x, n = terms.symbol(32), terms.symbol(16)
    two = terms.constant(bits_of(2.0, 32), 32)
    whole = terms.equal(terms.apply("ftosi", 16, x), n)
    less, more = terms.apply("flt", 1, x, two), terms.apply("slt", 1, terms.constant(1, 16), n)
    wide = terms.apply("fle", 1, two, terms.apply("sitof", 32, n))
    zero = terms.equal(terms.apply("fsub", 32, x, x), terms.constant(0, 32))
    questions = [(whole, more), (wide, terms.negate(more)), (zero, less, terms.apply("feq", 1, x, two))]
    found = replies(FLOATING[name], terms, questions, 20.0)
    assert [reply.status for reply in found] == [Status.SATISFIABLE, Status.UNSATISFIABLE, Status.UNSATISFIABLE]


NUMBERS = (0.0, -0.0, 1.5, 2.5, -2.5, -7.25, 1e10, 5e18, 1.2e19, 0.1, float("inf"))
FLOATS = {
    **dict.fromkeys(("fadd", "fsub", "fmul", "fdiv", "frem"), (2, (64,))),
    **dict.fromkeys(("fsqrt", "ffloor", "fceil", "ftrunc", "feven", "faway"), (1, (64,))),
    **dict.fromkeys(("feq", "flt", "fle"), (2, (1,))),
    **{"fconvert": (1, (32,)), "ftosi": (1, (16, 32, 64)), "ftoui": (1, (8, 32, 64)), "sitof": (1, (32, 64))},
    "uitof": (1, (32, 64)),
}


@pytest.mark.parametrize("operation", FLOATS)
def test_cvc5_computes_as_c_does(operation: str) -> None:
    """With constant operands only the integers' answer is possible."""
    operands, widths = FLOATS[operation]
    draw = random.Random(operation)
    for width in widths:
        terms = Terms()
        values = [bits_of(draw.choice(NUMBERS), 64) for _ in range(operands)]
        expected = OPERATIONS[operation](width, 64, *values)
        symbols = [terms.symbol(64) for _ in values]
        given = [terms.equal(s, terms.constant(value, 64)) for s, value in zip(symbols, values, strict=True)]
        result = terms.equal(terms.apply(operation, width, *symbols), terms.constant(expected, width))
        assert possible(terms, [*given, result])
        is_float = width > 1 and not operation.startswith("fto")
        if not (is_float and is_nan(expected, width)):  # whose bits are open
            assert not possible(terms, [*given, terms.negate(result)])


def possible(terms: Terms, conditions: list[Term]) -> bool:
    """cvc5's answer where all is told, nothing assumed: constants fold."""
    domain = Cvc5(terms)
    solver = cvc5.Solver(domain.manager)
    for condition in conditions:
        solver.assertFormula(domain.of(condition))
    for definition in domain.needed(conditions):
        solver.assertFormula(definition)
    answer = solver.checkSat()
    assert answer.isSat() or answer.isUnsat()
    return bool(answer.isSat())


def answers(*sets: Sets | None) -> Row:
    """A fault with one formula, to which the ways give these sets in turn."""
    found = [None if s is None else Answer(s, 0.0, 0.1, 1) for s in sets]
    return Row("p", "1", [Formula(3, {name: found[k % len(found)] for k, name in enumerate(WAYS)})])


def test_sets_that_differ_are_told() -> None:
    one, other = frozenset([frozenset([1])]), frozenset([frozenset([2])])
    assert not list(disagreements(answers(one))) and not list(disagreements(answers(one, None)))
    assert ["formula 1: different sets" in line for line in disagreements(answers(one, other))] == [True]


def test_what_is_not_finished_counts_with_the_limit() -> None:
    rows = list(table_of_sets(answers(frozenset(), None).formulas, 7.0))
    assert rows[0][1:] == ["1 of 1", "0.0", "100.0", "100.0", "100.0", "1"]
    assert rows[1][1:] == ["0 of 1", "-", "7,000.0", "7,000.0", "7,000.0", "-"]


def test_work_is_ended_at_its_limit() -> None:
    began = time.monotonic()
    assert isolated(lambda: time.sleep(60), 0.2) is None and time.monotonic() - began < 10
    assert isolated(lambda: 42, 10.0) == 42
    with pytest.raises(ZeroDivisionError):
        isolated(lambda: 1 // 0, 10.0)
    with pytest.raises(RuntimeError, match="died"):
        isolated(lambda: __import__("os")._exit(3), 10.0)


def test_one_fault() -> None:
    """The sets of a real formula, and a real tree's questions: all answers agree."""
    words = ["--every", "100", "--questions", "20", "--limit", "20", "--details"]
    command = [sys.executable, "-m", "bench.solvers", "gatekeeper", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "gatekeeper 01: " in done.stdout and "all answers agree" in done.stdout
    assert all(f"| {name} | 1 of 1 |" in done.stdout for name in WAYS)
    assert all(f"| {name} | " in done.stdout for name in SOLVERS)
