"""How hot a ranked statement is painted: by its place, so that the first is told from the fortieth at a glance."""

from __future__ import annotations

import math
from collections.abc import Sequence

from whence.findings import Entry

COLD = 100  # the rank that is not painted any more


def heats(ranking: Sequence[Entry]) -> list[float]:
    """One number from 0 to 1 an entry: 1 for the first, 0.85 for the second, 0.5 for the tenth, 0.2 for the fortieth.

    What a reader gets to first counts, whatever a formula's scores are: these often lie close together. Statements
    that tie are as hot as the first of them.
    """
    return [max(0.0, 1 - math.log(entry.rank) / math.log(COLD)) for entry in ranking]
