"""How hot a ranked statement is painted: its score on a scale from 0 to 1, whatever the formula's range."""

from __future__ import annotations

from collections.abc import Sequence

from whence.findings import Entry


def heats(ranking: Sequence[Entry]) -> list[float]:
    """One number from 0 to 1 an entry: its score in relation to the highest one.

    Scores below 0 (Op2) move the scale's lower end to the lowest score. All equal scores are all hot.
    """
    scores = [entry.score for entry in ranking]
    low = min(0.0, *scores) if scores else 0.0
    span = max(scores, default=0.0) - low
    return [(score - low) / span if span > 0 else 1.0 for score in scores]
