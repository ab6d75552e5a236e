"""What memory holds before the program has run: static variables, from their initialisers, and its arguments."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping
from functools import cached_property

import numpy as np

from whence.formula.constants import definition, flatten, float_bits
from whence.program.model import Module, Operand
from whence.program.types import size_of
from whence.subject.live_objects import RunObjects
from whence.trace.objects import STATIC

_NUMBER = re.compile(r"-?\d+")
_FLOATING = re.compile(r"half|float|double|x86_fp80|fp128")
_NAMED = re.compile(r"@[-\w$.]+")
_ZERO = frozenset({"null", "false", "zeroinitializer", "none"})


class Initial:
    """Bytes before the run, by address; ``objects`` gives the run's objects."""

    def __init__(self, objects: Callable[[], RunObjects]) -> None:
        self._objects = objects
        self._known: dict[int, dict[int, int | None] | None] = {}  # by row of the table; None: defined elsewhere
        self._added: dict[int, int] = {}

    def __call__(self, address: int) -> int | None:
        """The byte at an address; None where no initialiser tells it."""
        if address in self._added:
            return self._added[address]
        bases, ends, rows = self._placed
        at = bisect_right(bases, address) - 1
        if at < 0 or address >= ends[at]:
            return None
        row = rows[at]
        if row not in self._known:
            self._known[row] = self._bytes(row)
        known = self._known[row]
        return None if known is None else known.get(address - bases[at], 0)

    def add(self, texts: Mapping[int, bytes]) -> None:
        """What else is known: bytes by their addresses."""
        for address, data in texts.items():
            self._added.update(zip(range(address, address + len(data)), data, strict=True))

    @cached_property
    def _placed(self) -> tuple[list[int], list[int], list[int]]:
        table = self._objects().checked.table
        rows = np.flatnonzero((table["kind"] == STATIC) & (table["size"] > 0) & (table["base"] != 0))
        rows = rows[np.argsort(table["base"][rows], kind="stable")]
        bases = table["base"][rows]
        return bases.tolist(), (bases + table["size"][rows]).tolist(), rows.tolist()

    @cached_property
    def _addresses(self) -> dict[tuple[int, str], int]:
        """Where the variables of modules lie, by module and name."""
        checked = self._objects().checked
        statics = checked.declarations.statics
        items = ((statics[int(checked.table[row]["declared"])], row) for row in self._placed[2])
        return {(item.module, item.register): int(checked.table[row]["base"]) for item, row in items}

    def _bytes(self, row: int) -> dict[int, int | None] | None:
        """The bytes of a variable that are not zero, by their places; None among them: not known."""
        run = self._objects()
        item = run.checked.declarations.statics[int(run.checked.table[row]["declared"])]
        module = run.subject.program.modules[item.module]
        found = definition(item.register.removeprefix("@"), module)
        if found is None or found.initialiser is None:
            return None
        known: dict[int, int | None] = {}
        for offset, leaf in flatten(found.type, found.initialiser, module):
            size = size_of(leaf.type, module)
            value = self._value(item.module, module, leaf, size)
            for number in range(size):
                known[offset + number] = None if value is None else value >> 8 * number & 255
        return known

    def _value(self, number: int, module: Module, leaf: Operand, size: int) -> int | None:
        """The bits of a constant; None for those that only the linker knows, but for addresses of variables."""
        text = leaf.text
        if text in _ZERO:
            return 0
        if text == "true":
            return 1
        if _NUMBER.fullmatch(text) and leaf.type.startswith("i"):
            return int(text) & (1 << 8 * size) - 1
        if _FLOATING.fullmatch(leaf.type):
            return float_bits(leaf, 8 * size)
        if _NAMED.fullmatch(text):
            elsewhere = (address for (_, name), address in self._addresses.items() if name == text)
            return self._addresses.get((number, text)) or next(elsewhere, None)
        return None
