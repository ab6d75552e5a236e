"""The value sets of a statement, out of recorded instances of its sites.

An instance is one execution of a block of the statement; its values are named ``Def`` and ``Use1``, ``Use2`` in the
order in which the code has them, definitions first (several definitions: ``Def1``, ``Def2``). Addresses are left out:
they compare by chance.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whence.probe.sites import Form, Role
from whence.techniques.bugfix.patterns import Number, ValueSet

DEFINING = (Role.STORE, Role.RESULT, Role.RETURN, Role.BRANCH)
USING = (Role.LOAD, Role.SWITCH, Role.ARGUMENT)
MOST_COLUMNS = 6
MOST_SETS = 500  # of one run
_REALS: dict[int, Any] = {32: np.float32, 64: np.float64}


class StatementValues:
    """The sites of one statement, block by block; ``sites`` (SITE) are all of the program's."""

    def __init__(self, sites: NDArray[np.void], are_its: NDArray[np.bool_]) -> None:
        self._sites = sites
        wanted = are_its & (sites["form"] != Form.POINTER) & np.isin(sites["role"], (*DEFINING, *USING))
        self.blocks: dict[int, list[int]] = {}
        defining = np.isin(sites["role"], DEFINING)
        for site in [*np.flatnonzero(wanted & defining).tolist(), *np.flatnonzero(wanted & ~defining).tolist()]:
            columns = self.blocks.setdefault(int(sites["block"][site]), [])
            if len(columns) < MOST_COLUMNS:
                columns.append(site)

    def names(self, block: int) -> list[str]:
        """What the values of a block are called, in order."""
        roles = [Role(int(self._sites["role"][site])) for site in self.blocks[block]]
        defined, used = sum(role in DEFINING for role in roles), 0
        names, number = [], 0
        for role in roles:
            if role in DEFINING:
                number += 1
                names.append("Def" if defined == 1 else f"Def{number}")
            else:
                used += 1
                names.append(f"Use{used}")
        return names

    def branches(self, block: int) -> list[str]:
        """The names of a block's branch outcomes."""
        roles = self._sites["role"][self.blocks[block]]
        return [name for name, role in zip(self.names(block), roles, strict=True) if role == Role.BRANCH]

    def rows(self, block: int, events: NDArray[np.void]) -> dict[int, list[int]]:
        """The finished instances of a block in a run: by block clock, the indices of their events (EVENT)."""
        columns = self.blocks[block]
        place = {site: number for number, site in enumerate(columns)}
        found: dict[int, list[int]] = {}
        for index in np.flatnonzero(np.isin(events["site"], columns)).tolist():
            row = found.setdefault(int(events["clock"][index]), [-1] * len(columns))
            row[place[int(events["site"][index])]] = index
        return {clock: row for clock, row in found.items() if min(row) >= 0}

    def sets(self, block: int, events: NDArray[np.void]) -> list[ValueSet]:
        """The value sets of a run."""
        rows = list(self.rows(block, events).values())[:MOST_SETS]
        return [self.numbers(block, [int(events["value"][index]) for index in row]) for row in rows]

    def pair(
        self, block: int, events: NDArray[np.void], changed: Mapping[int, int]
    ) -> tuple[ValueSet, ValueSet] | None:
        """A mapping pair's original and alternate set; ``changed`` has new bits of events, by their indices."""
        for row in self.rows(block, events).values():
            if changed.keys() & set(row):
                old = [int(events["value"][index]) for index in row]
                new = [changed.get(index, bits) for index, bits in zip(row, old, strict=True)]
                return self.numbers(block, old), self.numbers(block, new)
        return None

    def numbers(self, block: int, values: list[int]) -> ValueSet:
        """The numbers that bits of a block's sites stand for."""
        return [self._number(site, bits) for site, bits in zip(self.blocks[block], values, strict=True)]

    def _number(self, site: int, bits: int) -> Number:
        width = int(self._sites["width"][site])
        if self._sites["form"][site] == Form.FLOAT and width in _REALS:
            raw = np.array([bits], np.uint64).view(np.uint8)[: width // 8]
            return float(raw.view(_REALS[width])[0])
        is_negative = width > 1 and bits >> (width - 1) & 1
        return bits - (1 << width) if is_negative else bits
