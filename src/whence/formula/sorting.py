"""Arrays that the library sorts: what is loaded from one is an element that was there before, told by its value.

``qsort`` moves elements while it asks the program to compare them, and no record says where to. But it only moves them,
so a value loaded from a sorted array is that of one of the elements as they were. Where several have it, the first is
taken: the terms may then be another element's, the value is not.
"""

from __future__ import annotations

from whence.formula.evaluation import Evaluation
from whence.formula.memory import Memory
from whence.formula.terms import Term


class SortedArray:
    """An array as it was when it was given to the library to sort."""

    def __init__(self, memory: Memory, evaluation: Evaluation, start: int, length: int, size: int) -> None:
        self.start, self.length = start, length
        self._evaluation, self._size = evaluation, size
        self._bytes = Memory(memory.terms, memory.byte)
        for place in range(start, start + length):
            self._bytes.byte(place)  # as it is now
        self._found: dict[tuple[int, int], dict[int, Term]] = {}

    def overlaps(self, start: int, length: int) -> bool:
        """Whether some of its bytes lie in a range."""
        return start < self.start + self.length and self.start < start + length

    def element(self, address: int, size: int, value: int) -> Term | None:
        """The term of the first element's bytes, at the place in it that the address has, that have this value."""
        offset = (address - self.start) % self._size
        if not self.start <= address < self.start + self.length or offset + size > self._size:
            return None
        if (offset, size) not in self._found:
            self._found[offset, size] = self._values(offset, size)
        return self._found[offset, size].get(value)

    def _values(self, offset: int, size: int) -> dict[int, Term]:
        found: dict[int, Term] = {}
        for place in range(self.start + offset, self.start + self.length, self._size):
            term = self._bytes.read(place, size)
            value = None if term is None else self._evaluation.value(term)
            if term is not None and value is not None:
                found.setdefault(value, term)
        return found
