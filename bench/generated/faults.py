"""A generated fault, and the file that holds them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Generated:
    """A seeded fault: the program's ``source`` with it; ``lines`` are the faulty ones there, from 1.

    ``operator`` is the change that made it, ``kind`` what the corpus calls such a fault, ``failing`` the number of
    cases that fail.
    """

    program: str
    id: str
    kind: str
    operator: str
    description: str
    lines: tuple[int, ...]
    failing: int
    source: str


def write_faults(path: Path, faults: Iterable[Generated]) -> None:
    """Write faults, a line of JSON each."""
    path.write_text("".join(json.dumps(asdict(fault)) + "\n" for fault in faults))


def read_faults(path: Path) -> list[Generated]:
    """The faults of a file that ``write_faults`` wrote."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return [Generated(**{**row, "lines": tuple(row["lines"])}) for row in rows]
