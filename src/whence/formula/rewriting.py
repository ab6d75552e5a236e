"""Terms with symbols replaced by other terms; what becomes constant folds on the way."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from whence.formula.terms import Term, Terms


class Rewriting:
    """Replaces symbols: those in ``known``, and those that ``put`` tells of before a term with them is asked for."""

    def __init__(self, terms: Terms, known: Mapping[Term, Term] = MappingProxyType({})) -> None:
        self._terms = terms
        self._made: dict[Term, Term] = dict(known)

    def put(self, symbol: Term, term: Term) -> None:
        """Replace a symbol from now on."""
        self._made[symbol] = term

    def of(self, term: Term) -> Term:
        """The term with all symbols replaced that ``put`` told of; others stay."""
        return self._terms.translate(term, self._made, self._rewritten)

    def _rewritten(self, term: Term) -> Term:
        terms, made = self._terms, self._made
        operation, arguments = terms.operations[term], terms.arguments[term]
        if operation in ("const", "symbol"):
            return term
        if operation == "extract":
            return terms.extract(made[arguments[0]], arguments[1], terms.widths[term])
        if operation == "concat":
            return terms.concat(made[arguments[0]], made[arguments[1]])
        return terms.apply(operation, terms.widths[term], *(made[argument] for argument in arguments))
