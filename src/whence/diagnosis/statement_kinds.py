"""What statements do, read from the program: how many values each loads, stores, compares, and whether it branches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from whence.findings import Statement
from whence.probe.sites import Role

if TYPE_CHECKING:
    from whence.subject.subject import Subject

Kinds = dict[str, int]  # by the role of a site in lower case, how many of them a statement has


def statement_kinds(subject: Subject) -> dict[Statement, Kinds]:
    """Of each statement that has sites to alter how many of each role."""
    sites = subject.alter_plan.sites
    numbers = subject.places.numbers[sites["instruction"]]
    pairs, counts = np.unique(np.stack([numbers, sites["role"]]), axis=1, return_counts=True)
    statements = subject.places.statements
    found: dict[Statement, Kinds] = {}
    for number, role, count in zip(*pairs.tolist(), counts.tolist(), strict=True):
        if number >= 0 and role:
            found.setdefault(statements[number], {})[Role(role).name.lower()] = count
    return found
