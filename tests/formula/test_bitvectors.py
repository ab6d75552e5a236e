"""A question to the solver ends where a signal comes, and the signal is not lost in the solver's callback."""

from __future__ import annotations

import time

import pytest

from whence.formula.bitvectors import BitVectors
from whence.formula.terms import Term, Terms
from whence.investigation.clock import OutOfTime, alarm

BITS = 64


def a_product_of_two(terms: Terms, product: int) -> list[Term]:
    """Two factors above 1 whose product, without overflow, is given."""
    left, right = (terms.resize(terms.symbol(BITS), 2 * BITS) for _ in range(2))
    one = terms.constant(1, 2 * BITS)
    found = terms.equal(terms.apply("mul", 2 * BITS, left, right), terms.constant(product, 2 * BITS))
    return [found, terms.apply("ult", 1, one, left), terms.apply("ult", 1, one, right)]


def test_an_alarm_ends_a_question(capfd):
    terms = Terms()
    question = BitVectors(terms)
    asked = question.holds(a_product_of_two(terms, (2**61 - 1) * (2**62 - 57)))
    began = time.monotonic()
    with pytest.raises(OutOfTime), alarm(0.3):
        question.check(asked, 60.0)
    assert time.monotonic() - began < 10
    assert capfd.readouterr().err == ""
