"""The domain of bitwuzla's terms: bit-vectors of true width, without floating point.

Of the questions of cause trees bitwuzla answers the typical one in a third of z3's time (docs/causes.md); z3 (``smt``)
has the floating-point operations, which bitwuzla can only describe, not turn back into bits.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from whence.formula.solvers import load
from whence.formula.terms import Term, Terms
from whence.trace.undisturbed import signals_deferred

bitwuzla = load("bitwuzla")
Kind, Option = bitwuzla.Kind, bitwuzla.Option
Expression = Any  # a bitwuzla term

_KINDS = {
    "add": Kind.BV_ADD,
    "sub": Kind.BV_SUB,
    "mul": Kind.BV_MUL,
    "udiv": Kind.BV_UDIV,
    "urem": Kind.BV_UREM,
    "sdiv": Kind.BV_SDIV,
    "srem": Kind.BV_SREM,
    "and": Kind.BV_AND,
    "or": Kind.BV_OR,
    "xor": Kind.BV_XOR,
    "shl": Kind.BV_SHL,
    "lshr": Kind.BV_SHR,
    "ashr": Kind.BV_ASHR,
    "concat": Kind.BV_CONCAT,
}
_COMPARISONS = {
    "eq": Kind.EQUAL,
    "ult": Kind.BV_ULT,
    "ule": Kind.BV_ULE,
    "slt": Kind.BV_SLT,
    "sle": Kind.BV_SLE,
}
_EXTENSIONS = {"zext": Kind.BV_ZERO_EXTEND, "sext": Kind.BV_SIGN_EXTEND}
PRODUCTS = ("mul", "udiv", "urem", "sdiv", "srem")
MOST_PRODUCTS = 200  # in one question
OPERATIONS = frozenset({"const", "symbol", "ite", "extract", *_KINDS, *_COMPARISONS, *_EXTENSIONS})


def is_decidable(terms: Terms, roots: Iterable[Term]) -> bool:
    """Whether a solver may decide terms: no floating point is in them, and no great number of products or quotients.

    With hundreds of these bitwuzla takes minutes to prepare a question, in which no limit of time ends it.
    """
    operations = Counter(terms.operations[part] for part in terms.cone(roots))
    return operations.keys() <= OPERATIONS and sum(operations[name] for name in PRODUCTS) <= MOST_PRODUCTS


class BitVectors:
    """Translates terms to bitwuzla's, each once; one bit is a vector of width 1.

    ``manager`` owns the expressions; solvers that keep their state are made with it.
    """

    def __init__(self, terms: Terms) -> None:
        self._terms, self.manager = terms, bitwuzla.TermManager()
        self._made: dict[Term, Expression] = {}
        self._sorts: dict[int, Any] = {}
        self._yes, self._no = (self.manager.mk_bv_value(self._sort(1), bit) for bit in (1, 0))

    def holds(self, terms: Iterable[Term]) -> list[Expression]:
        """For terms of one bit, that each is 1: Boolean expressions."""
        return [self.manager.mk_term(Kind.EQUAL, [self.of(term), self._yes]) for term in terms]

    def of(self, term: Term) -> Expression:
        """The expression of a term; KeyError for operations that are not in ``OPERATIONS``."""
        return self._terms.translate(term, self._made, self._translate)

    def check(self, assumptions: Sequence[Expression], seconds: float) -> tuple[bool | None, list[int]]:
        """Whether expressions can hold together (None: not answered in time); if not, positions of some that cannot."""
        options = bitwuzla.Options()
        options.set(Option.PRODUCE_UNSAT_ASSUMPTIONS, True)
        options.set(Option.TIME_LIMIT_PER, max(1, int(seconds * 1000)))
        solver = bitwuzla.Bitwuzla(self.manager, options)
        end = time.monotonic() + seconds
        with signals_deferred() as came:  # the option's limit does not end preprocessing
            solver.configure_terminator(lambda: bool(came) or time.monotonic() >= end)
            answer = solver.check_sat(*assumptions)
        if answer == bitwuzla.Result.SAT:
            return True, []
        if answer != bitwuzla.Result.UNSAT:
            return None, []
        return False, [k for k, assumption in enumerate(assumptions) if solver.is_unsat_assumption(assumption)]

    def _sort(self, width: int) -> Any:
        if width not in self._sorts:
            self._sorts[width] = self.manager.mk_bv_sort(width)
        return self._sorts[width]

    def _translate(self, term: Term) -> Expression:
        terms, make = self._terms, self.manager.mk_term
        operation, width, arguments = terms.operations[term], terms.widths[term], terms.arguments[term]
        if operation == "const":
            return self.manager.mk_bv_value(self._sort(width), arguments[0])
        if operation == "symbol":
            return self.manager.mk_const(self._sort(width))
        operands = [self._made[o] for o in terms.operands(term)]
        if operation == "ite":
            return make(Kind.ITE, [make(Kind.EQUAL, [operands[0], self._yes]), *operands[1:]])
        if operation == "extract":
            return make(Kind.BV_EXTRACT, operands, [arguments[1] + width - 1, arguments[1]])
        if operation in _EXTENSIONS:
            return make(_EXTENSIONS[operation], operands, [width - terms.widths[arguments[0]]])
        if operation in _COMPARISONS:
            return make(Kind.ITE, [make(_COMPARISONS[operation], operands), self._yes, self._no])
        return make(_KINDS[operation], operands)
