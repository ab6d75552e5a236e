"""What encoding a run yields: terms, what their symbols stand for, and the executed instances over them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from whence.formula.evaluation import Evaluation
from whence.formula.terms import Term, Terms
from whence.probe.layout import Kind


class SymbolKind(Enum):
    """What a symbol stands for."""

    INPUT = "input"  # a byte of standard input or of an argument, the number of arguments
    INITIAL = "initial"  # memory that nothing recorded wrote: uninitialised, or the environment's
    LIBRARY = "library"  # what a library function returned or wrote, where no exact summary holds
    ADDRESS = "address"  # of a local, a global or a function
    FREE = "free"  # a parameter or register that nothing recorded (or nothing in the slice) gave
    OPAQUE = "opaque"  # the result of an instruction that is not modelled
    CUT = "cut"  # stands for an instance's result, which ``Instance.meaning`` defines


@dataclass(slots=True)
class Symbol:
    """A symbol: its kind, its name for people, and the event at which it was made (-1: none)."""

    kind: SymbolKind
    name: str
    event: int


class Instance(NamedTuple):
    """One executed event as logic.

    ``term`` is its result: the value loaded, stored, passed, returned or merged; of a branch the condition, of a switch
    whether its recorded way is taken; -1 where there is none. ``meaning`` is the same, but where the instance was cut
    ``term`` is a symbol of its own and ``meaning`` what it has to equal. ``value`` are the recorded bits (of a branch 1
    or 0: the way taken), None where none are known. ``pointers`` holds, for each address that it goes to, the term and
    the recorded address: the run did what the instance says only where they are equal.
    """

    event: int
    term: Term
    meaning: Term
    value: int | None
    pointers: tuple[tuple[Term, int], ...]
    kind: Kind


@dataclass(slots=True)
class Encoding:
    """A run as logic: instances in order of time, and the values that all terms had in the run.

    ``notes`` counts, by a line of text, what is not modelled and was taken as recorded; ``unexplained`` are instances
    whose term's value differs from the recorded one, which was taken: the encoder's own fault, or memory that something
    unrecorded wrote.
    """

    terms: Terms
    symbols: dict[Term, Symbol]
    evaluation: Evaluation
    instances: list[Instance] = field(default_factory=list)
    notes: Counter[str] = field(default_factory=Counter)
    unexplained: list[int] = field(default_factory=list)

    def symbol(self, kind: SymbolKind, name: str, width: int, event: int = -1, value: int | None = None) -> Term:
        """A new symbol, with its value in the run where that is known."""
        term = self.terms.symbol(width)
        self.symbols[term] = Symbol(kind, name, event)
        if value is not None:
            self.evaluation.set(term, value & (1 << width) - 1)
        return term

    def of_kind(self, kind: SymbolKind) -> Iterator[Term]:
        """The symbols of a kind, in the order in which they were made."""
        return (term for term, symbol in self.symbols.items() if symbol.kind is kind)

    def assumptions(self) -> Iterator[tuple[int, Term]]:
        """(event, condition) in order of time: that addresses are the recorded ones, that branches go their way."""
        for instance in self.instances:
            for pointer, address in instance.pointers:
                yield instance.event, self.terms.equal(pointer, self.terms.constant(address, 64))
            if instance.kind is Kind.BRANCH and instance.value is not None:
                yield instance.event, self.terms.equal(instance.term, self.terms.constant(instance.value, 1))

    def definitions(self) -> Iterator[tuple[int, Term]]:
        """(event, equation) of each instance that was cut."""
        for instance in self.instances:
            if instance.term != instance.meaning:
                yield instance.event, self.terms.equal(instance.term, instance.meaning)
