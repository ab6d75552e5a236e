"""Which good runs invariants are learned from: few, and close to the failing run.

Sahoo et al. 2013 take the inputs whose edit distance from the failing one is least (section 3.2). Beyond the paper:
those whose execution is nearest, any, or a mixture.
"""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from enum import StrEnum
from itertools import chain, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from whence.techniques.likely_invariants.runs import Run

if TYPE_CHECKING:
    from whence.run.cases import Case

NUMBER = 8  # training runs, as in the paper
MOST_BYTES = 1 << 13  # of an input that edit distances look at
SEED = 1


class Choice(StrEnum):
    """How training runs are chosen."""

    EDITS = "edits"  # those whose inputs are nearest by edit distance
    EXECUTION = "execution"  # those that executed most nearly the same sites
    RANDOM = "random"
    MIXTURE = "mixture"  # in turn the nearest by execution, the nearest by edits, and any


def choose(runs: Sequence[Run], failing: Run, choice: Choice, number: int = NUMBER) -> list[Run]:
    """So many of the runs, in the order of the choice; fewer where there are no more."""
    orders = {
        Choice.EDITS: lambda: sorted(runs, key=lambda run: edits(run, failing)),
        Choice.EXECUTION: lambda: sorted(runs, key=lambda run: (execution_distance(run, failing), edits(run, failing))),
        Choice.RANDOM: lambda: random.Random(SEED).sample(list(runs), len(runs)),
    }
    if choice is not Choice.MIXTURE:
        return orders[choice]()[:number]
    ways = (Choice.EXECUTION, Choice.EDITS, Choice.RANDOM)
    turns = chain.from_iterable(zip_longest(*(orders[way]() for way in ways)))
    return list({id(run): run for run in turns if run is not None}.values())[:number]


def execution_distance(run: Run, other: Run) -> int:
    """How many sites one of two runs executed and the other did not."""
    return len(np.setxor1d(run.profile.rows["site"], other.profile.rows["site"], assume_unique=True))


def edits(run: Run, other: Run) -> int:
    """The edit distance of two runs' inputs; what generated a run has told it already."""
    return run.distance if run.distance >= 0 else edit_distance(run.case, other.case)


def edit_distance(case: Case, other: Case) -> int:
    """The edit distance in bytes of all that two cases are given; of long inputs their first part alone is compared."""
    from rapidfuzz.distance import Levenshtein

    return Levenshtein.distance(input_of(case), input_of(other))


def input_of(case: Case) -> bytes:
    """What a case is given, as one text: its arguments, standard input, and files."""
    parts = [os.fsencode(argument) for argument in case.arguments]
    parts += [os.fsencode(case.command)] if case.command is not None else []
    parts += [_contents(case.stdin) if isinstance(case.stdin, Path) else case.stdin or b""]
    parts += [_contents(path) for _, path in case.files if path.is_file()]
    return b"\0".join(parts)[:MOST_BYTES]


def _contents(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MOST_BYTES)
