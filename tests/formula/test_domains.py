"""Terms mean the same in every domain: integers, arrays of cases, clauses for a SAT solver, SMT."""

from __future__ import annotations

import itertools
import random
import sys

import numpy as np
import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st
from pysat.solvers import Cadical153

from whence.formula.arrays import evaluate
from whence.formula.clauses import TRUE, Clauses, Unmodelled
from whence.formula.evaluation import Evaluation
from whence.formula.floats import bits_of, is_nan, number_of
from whence.formula.integers import OPERATIONS
from whence.formula.smt import Smt
from whence.formula.terms import Term, Terms

SAME_WIDTH = ("add", "sub", "mul", "udiv", "urem", "sdiv", "srem", "and", "or", "xor", "shl", "lshr", "ashr")
FLAGS = ("eq", "ult", "ule", "slt", "sle")
WIDTHS = (1, 3, 8, 32, 64)
CASES = 6


class Drawn:
    """A random graph of terms over symbols, with values of the symbols in several cases."""

    def __init__(self, seed: int, widths: tuple[int, ...], size: int) -> None:
        self.random = random.Random(seed)
        self.terms = Terms()
        self.symbols = {self.terms.symbol(w): [self.number(w) for _ in range(CASES)] for w in widths for _ in range(2)}
        self.pool: dict[int, list[Term]] = {}
        for symbol in self.symbols:
            self.pool.setdefault(self.terms.widths[symbol], []).append(symbol)
        for _ in range(size):
            term = self.made(self.random.choice(widths), widths)
            self.pool.setdefault(self.terms.widths[term], []).append(term)

    def number(self, width: int) -> int:
        special = (0, 1, (1 << width) - 1, 1 << (width - 1), (1 << (width - 1)) - 1)
        return self.random.choice((*special, self.random.getrandbits(width), self.random.randrange(1 << min(width, 4))))

    def any(self, width: int) -> Term:
        if self.random.random() < 0.15:
            return self.terms.constant(self.number(width), width)
        return self.random.choice(self.pool[width])

    def made(self, width: int, widths: tuple[int, ...]) -> Term:
        terms, other = self.terms, self.random.choice(widths)
        kind = self.random.randrange(6)
        if kind == 0:
            return terms.apply(self.random.choice(FLAGS), 1, self.any(other), self.any(other))
        if kind == 1:
            return terms.choose(self.any(1), self.any(width), self.any(width))
        if kind == 2:
            return terms.resize(self.any(other), width, signed=self.random.random() < 0.5)
        if kind == 3:
            low = self.random.randrange(width)
            part = terms.extract(self.any(width), low, width - low)
            return terms.concat(terms.extract(self.any(width), 0, low), part) if low else part
        return terms.apply(self.random.choice(SAME_WIDTH), width, self.any(width), self.any(width))

    def expected(self, term: Term, case: int) -> int:
        evaluation = Evaluation(self.terms)
        for symbol, values in self.symbols.items():
            evaluation.set(symbol, values[case])
        found = evaluation.value(term)
        assert found is not None
        return found

    def roots(self) -> list[Term]:
        return [term for terms in self.pool.values() for term in terms[-4:]]


@given(st.integers(0, 1 << 32))
@settings(max_examples=60, deadline=None)
def test_arrays_agree_with_integers(seed: int) -> None:
    drawn = Drawn(seed, (*WIDTHS, 80), 40)
    roots = drawn.roots()
    found = evaluate(drawn.terms, roots, drawn.symbols)
    for root in roots:
        values = np.broadcast_to(found[root], CASES).tolist()
        assert values == [drawn.expected(root, case) for case in range(CASES)]


@given(st.integers(0, 1 << 32))
@settings(max_examples=25, deadline=None)
def test_smt_agrees_with_integers(seed: int) -> None:
    drawn = Drawn(seed, WIDTHS, 25)
    smt = Smt(drawn.terms)
    for root in drawn.roots():
        given_values = [(smt.of(s), _value(values[0], drawn.terms.widths[s])) for s, values in drawn.symbols.items()]
        found = z3.simplify(z3.substitute(smt.of(root), *given_values))
        assert _number(found) == drawn.expected(root, 0)


def _value(value: int, width: int) -> z3.ExprRef:
    return z3.BoolVal(bool(value)) if width == 1 else z3.BitVecVal(value, width)


def _number(found: z3.ExprRef) -> int:
    return int(z3.is_true(found)) if z3.is_bool(found) else found.as_long()


@given(st.integers(0, 1 << 32))
@settings(max_examples=25, deadline=None)
def test_clauses_agree_with_integers(seed: int) -> None:
    drawn = Drawn(seed, (1, 3, 8), 25)
    clauses, roots = Clauses(drawn.terms), drawn.roots()
    wanted = {root: clauses.bits(root) for root in roots}
    known = [
        bit if values[1] >> k & 1 else -bit
        for symbol, values in drawn.symbols.items()
        for k, bit in enumerate(clauses.bits(symbol))
    ]
    with Cadical153(bootstrap_with=clauses.clauses) as solver:
        assert solver.solve(known)
        model = set(solver.get_model())
    for root, bits in wanted.items():
        assert sum((bit in model) << k for k, bit in enumerate(bits)) == drawn.expected(root, 1)


@pytest.mark.parametrize("operation", ["udiv", "urem", "sdiv", "srem", "mul", "shl", "lshr", "ashr", "slt", "ule"])
def test_clauses_of_one_operation_for_all_small_operands(operation: str) -> None:
    terms, width = Terms(), 4
    a, b = terms.symbol(width), terms.symbol(width)
    result = terms.apply(operation, 1 if operation in FLAGS else width, a, b)
    clauses = Clauses(terms)
    bits, left, right = clauses.bits(result), clauses.bits(a), clauses.bits(b)
    with Cadical153(bootstrap_with=clauses.clauses) as solver:
        for x in range(1 << width):
            for y in range(1 << width):
                known = [
                    bit if n >> k & 1 else -bit for n, side in ((x, left), (y, right)) for k, bit in enumerate(side)
                ]
                assert solver.solve(known)
                model = set(solver.get_model())
                expected = OPERATIONS[operation](terms.widths[result], width, x, y)
                assert sum((bit in model) << k for k, bit in enumerate(bits)) == expected


@given(st.integers(0, 1 << 32))
@settings(max_examples=60, deadline=None)
def test_required_conditions_hold_in_a_solvers_models(seed: int) -> None:
    drawn = Drawn(seed, (1, 2), 12)
    terms, switch = drawn.terms, drawn.terms.symbol(1)
    first, second, third, *_ = (term for term in reversed(drawn.pool[1]))
    _, _, left, right = drawn.symbols
    same = terms.apply("or", 1, switch, terms.equal(left, right))
    clauses = Clauses(terms)
    clauses.require(terms.both([first, same]))
    clauses.require(second, clauses.literal(third))
    expected = terms.both([first, same, terms.apply("or", 1, second, third)])
    symbols = [*drawn.symbols, switch]
    bits = [clauses.bits(symbol) for symbol in symbols]
    with Cadical153(bootstrap_with=clauses.clauses) as solver:
        for numbers in itertools.product(*(range(1 << len(own)) for own in bits)):
            evaluation = Evaluation(terms)
            for symbol, number in zip(symbols, numbers, strict=True):
                evaluation.set(symbol, number)
            known = [b if n >> k & 1 else -b for n, own in zip(numbers, bits, strict=True) for k, b in enumerate(own)]
            assert solver.solve(known) == (evaluation.value(expected) == 1)


def test_required_equations_take_no_gates() -> None:
    terms = Terms()
    a, b, switch = terms.symbol(8), terms.symbol(8), terms.symbol(1)
    clauses = Clauses(terms)
    clauses.require(terms.apply("or", 1, switch, terms.equal(a, b)))
    assert clauses.variables == TRUE + 17 and len(clauses.clauses) == 1 + 2 * 8
    clauses.require(terms.equal(a, terms.constant(5, 8)))
    assert len(clauses.clauses) == 1 + 2 * 8 + 8


FLOATS = ("fadd", "fsub", "fmul", "fdiv")
SINGLE = ("fsqrt", "ffloor", "fceil", "ftrunc", "feven", "faway")


@given(st.integers(0, (1 << 64) - 1), st.integers(0, (1 << 64) - 1), st.sampled_from((32, 64)))
@settings(max_examples=40, deadline=None)
def test_floats_are_the_processors(a: int, b: int, width: int) -> None:
    a, b = a >> (64 - width), b >> (64 - width)
    kind, bits = (np.float64, np.uint64) if width == 64 else (np.float32, np.uint32)
    x, y = (np.array([n], bits).view(kind) for n in (a, b))
    with np.errstate(all="ignore"):
        for name, found in zip(FLOATS, (x + y, x - y, x * y, x / y), strict=True):
            assert _same(OPERATIONS[name](width, width, a, b), int(found.view(bits)[0]), width)
        for name, found in (("fsqrt", np.sqrt(x)), ("ffloor", np.floor(x)), ("feven", np.rint(x))):
            assert _same(OPERATIONS[name](width, width, a), int(found.view(bits)[0]), width)
        other = x.astype(np.float32 if width == 64 else np.float64)
        assert _same(
            OPERATIONS["fconvert"](96 - width, width, a),
            int(other.view(np.uint32 if width == 64 else np.uint64)[0]),
            96 - width,
        )
    assert OPERATIONS["flt"](1, width, a, b) == int((x < y)[0])
    whole = a & (1 << width) - 1
    assert OPERATIONS["uitof"](width, width, whole) == int(np.array([whole], np.uint64).astype(kind).view(bits)[0])


def _same(found: int, expected: int, width: int) -> bool:
    return found == expected or (is_nan(found, width) and is_nan(expected, width))


@pytest.mark.parametrize("width", [32, 64])
def test_smt_floats_agree_with_integers(width: int) -> None:
    numbers = (0.0, -0.0, 1.5, -2.5, 1e10, -7.75, 3e-39, float("inf"), 0.1)
    for name in (*FLOATS, *SINGLE, "feq", "flt", "fle", "frem", "ftosi", "ftoui", "fconvert"):
        operands = 1 if name in (*SINGLE, "ftosi", "ftoui", "fconvert") else 2
        for number in numbers:
            values = [bits_of(number, width), bits_of(2.5, width)][:operands]
            _assert_smt(name, width, values)
    for name in ("sitof", "uitof"):
        for value in (0, 1, (1 << width) - 1, 0x7FFFFFC1, 1 << (width - 1)):
            _assert_smt(name, width, [value])


def _assert_smt(name: str, width: int, values: list[int]) -> None:
    """z3's value of an operation on symbols that are set to the values is that of the integers."""
    terms = Terms()
    symbols = [terms.symbol(width) for _ in values]
    result_width = 1 if name in ("feq", "flt", "fle") else 96 - width if name == "fconvert" else width
    term = terms.apply(name, result_width, *symbols)
    smt = Smt(terms)
    pairs = [(smt.of(s), z3.BitVecVal(v, width)) for s, v in zip(symbols, values, strict=True)]
    expected = OPERATIONS[name](result_width, width, *values)
    solver = z3.Solver()
    solver.add(*[symbol == value for symbol, value in pairs])
    result = smt.of(term)
    if result_width == 1:
        solver.add(result != z3.BoolVal(bool(expected)))
    elif is_nan(expected, result_width) and name[0] == "f" and not name.startswith("fto"):
        sort = z3.Float64() if result_width == 64 else z3.Float32()
        solver.add(z3.Not(z3.fpIsNaN(z3.fpBVToFP(result, sort))))
    else:
        solver.add(result != z3.BitVecVal(expected, result_width))
    assert solver.check() == z3.unsat, (name, width, [number_of(v, width) for v in values])


def test_floats_have_no_clauses() -> None:
    terms = Terms()
    with pytest.raises(Unmodelled, match="fadd"):
        Clauses(terms).bits(terms.apply("fadd", 64, terms.symbol(64), terms.symbol(64)))


def test_constants_fold_in_clauses() -> None:
    terms = Terms()
    a = terms.symbol(8)
    clauses = Clauses(terms)
    assert clauses.bits(terms.constant(5, 3)) == (TRUE, -TRUE, TRUE)
    same = clauses.bits(terms.apply("and", 8, a, terms.constant(15, 8)))
    assert same == clauses.bits(a)[:4] + (-TRUE,) * 4
    assert len(clauses.clauses) == 1


class TestTerms:
    def test_equal_terms_are_one(self) -> None:
        terms = Terms()
        a, b = terms.symbol(32), terms.symbol(32)
        assert terms.apply("add", 32, a, b) == terms.apply("add", 32, b, a)
        assert terms.apply("sub", 32, a, b) != terms.apply("sub", 32, b, a)

    def test_bytes_put_together_again_are_the_whole(self) -> None:
        terms = Terms()
        a = terms.symbol(32)
        whole = terms.extract(a, 0, 8)
        for low in (8, 16, 24):
            whole = terms.concat(terms.extract(a, low, 8), whole)
        assert whole == a

    def test_a_condition_read_back_from_an_integer_is_itself(self) -> None:
        terms = Terms()
        condition = terms.apply("ult", 1, terms.symbol(8), terms.symbol(8))
        wide = terms.resize(condition, 32)
        assert terms.negate(terms.equal(wide, terms.constant(0, 32))) == condition

    def test_a_value_tells_the_symbol_behind_a_sum(self) -> None:
        terms = Terms()
        base, index = terms.symbol(64), terms.symbol(32)
        evaluation = Evaluation(terms)
        evaluation.set(index, 3)
        wide = terms.apply("mul", 64, terms.resize(index, 64, signed=True), terms.constant(4, 64))
        address = terms.apply("add", 64, base, wide)
        assert evaluation.value(address) is None
        assert evaluation.learn(address, 0x1000) == [base]
        assert evaluation.value(base) == 0x1000 - 12


def test_a_conjunction_may_be_deeper_than_the_interpreters_stack() -> None:
    terms = Terms()
    clauses = Clauses(terms)
    symbols = [terms.symbol(1) for _ in range(3 * sys.getrecursionlimit())]
    condition = symbols[0]
    for symbol in symbols[1:]:
        condition = terms.apply("and", 1, condition, symbol)
    clauses.require(condition)
    assert {clause for clause in clauses.clauses if len(clause) == 1} >= {(clauses.literal(s),) for s in symbols}
