"""Pointers of two runs, compared by what they point to: objects that correspond, whatever their addresses."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from whence.techniques.chains.pairing import Pairing

Integers = NDArray[np.int64]
WORD = 8  # bytes


class Pointers:
    """The reference run's pointers, after its event ``other``, told as those of the failing run after ``point``.

    A word that is the address of a place in an object, or of its end, is taken for a pointer; so is one that a call of
    the library gave, such as a FILE's. One to what the failing run does not have stays as it is, and is *foreign*.
    """

    def __init__(self, pairing: Pairing, point: int, other: int) -> None:
        mine, theirs = pairing.failing.objects, pairing.reference.objects
        numbers = pairing.failing.living(point)
        partners = pairing.objects[numbers]
        numbers, partners = numbers[partners >= 0], partners[partners >= 0]
        alone = np.setdiff1d(pairing.reference.living(other), partners)
        (functions, moved), unmatched = pairing.functions
        chosen = np.concatenate([partners, alone])
        starts = theirs["base"][chosen].astype(np.int64)
        ends = starts + theirs["size"][chosen]
        shifts = np.zeros(len(chosen), np.int64)
        shifts[: len(numbers)] = mine["base"][numbers].astype(np.int64) - starts[: len(numbers)]
        is_foreign = np.arange(len(chosen)) >= len(numbers)
        rest = np.concatenate([functions, unmatched])
        starts, ends = np.concatenate([starts, rest]), np.concatenate([ends, rest])
        shifts = np.concatenate([shifts, moved - functions, np.zeros(len(unmatched), np.int64)])
        is_foreign = np.concatenate([is_foreign, np.arange(len(rest)) >= len(functions)])
        order = np.argsort(starts, kind="stable")
        self._starts, self._ends, self._shifts = starts[order], ends[order], shifts[order]
        self._foreign = is_foreign[order]
        self._add(*_last(pairing.opaque, point))

    def _add(self, theirs: Integers, mine: Integers) -> None:
        """Addresses outside of all objects, each with what it is in the failing run."""
        outside = ~self._inside(theirs)[1]
        theirs, shifts = theirs[outside], (mine - theirs)[outside]
        places = np.searchsorted(self._starts, theirs)
        self._starts, self._ends = (np.insert(column, places, theirs) for column in (self._starts, self._ends))
        self._shifts = np.insert(self._shifts, places, shifts)
        self._foreign = np.insert(self._foreign, places, False)

    def in_memory(self, there: NDArray[np.uint8], words: Integers) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
        """Bytes of the reference run, in which words begin at some places, and which of them are foreign pointers'."""
        parts = words[:, np.newaxis] + np.arange(WORD)
        found, foreign = there.copy(), np.zeros(len(there), np.bool_)
        if len(parts):
            told, is_foreign = self._told(there[parts].view(np.int64).ravel())
            found[parts] = told[:, np.newaxis].view(np.uint8)
            foreign[parts[is_foreign]] = True
        return found, foreign

    def in_register(self, value: bytes) -> tuple[bytes, bool]:
        """A register of the reference run, and whether it is a foreign pointer."""
        if len(value) != WORD:
            return value, False
        told, is_foreign = self._told(np.frombuffer(value, np.int64))
        return told.tobytes(), bool(is_foreign[0])

    def _told(self, words: Integers) -> tuple[Integers, NDArray[np.bool_]]:
        if not len(self._starts):
            return words, np.zeros(len(words), np.bool_)
        place, inside = self._inside(words)
        return np.where(inside, words + self._shifts[place], words), inside & self._foreign[place]

    def _inside(self, words: Integers) -> tuple[Integers, NDArray[np.bool_]]:
        """For each word the last object that begins there or before, and whether it is an address in it."""
        place = np.searchsorted(self._starts, words, side="right") - 1
        if not len(self._starts):
            return place, np.zeros(len(words), np.bool_)
        return place, (place >= 0) & (words <= self._ends[place])  # the end is one that a pointer may have, too


def _last(opaque: tuple[Integers, Integers, Integers], point: int) -> tuple[Integers, Integers]:
    """The addresses that calls gave until a point, each once, by the last call; ascending, with the failing run's."""
    events, theirs, mine = opaque
    upto = int(np.searchsorted(events, point, side="right"))
    found, firsts = np.unique(theirs[:upto][::-1], return_index=True)
    return found, mine[:upto][::-1][firsts]
