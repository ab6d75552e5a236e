"""Chances that come true: what softmax says of the first statements, corrected by faults that nothing was learned from.

The correction is a line between log odds (Platt's scaling), found by Newton's method.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bench.ranking.learn import Floats
from whence.diagnosis.learned_ranking import leading, logistic, logit

STEPS = 50
PENALTY = 1e-3  # keeps the line finite where everything comes true


def fitted(said: Sequence[float], came: Sequence[bool]) -> tuple[float, float]:
    """Slope and offset with which the chances that were said are those that came true."""
    x = np.array([[logit(chance), 1.0] for chance in said])
    y, line = np.array(came, np.float64), np.array([1.0, 0.0])
    for _ in range(STEPS):
        chance = np.array([logistic(value) for value in x @ line])
        slope = x.T @ (chance - y) + PENALTY * line
        curve = (x * (chance * (1 - chance))[:, None]).T @ x + PENALTY * np.eye(2)
        line = line - np.linalg.solve(curve, slope)
    return float(line[0]), float(line[1])


def corrected(said: float, line: tuple[float, float]) -> float:
    """A chance corrected by a line."""
    return logistic(line[0] * logit(said) + line[1])


def said_of(scores: Sequence[Floats], number: int) -> list[float]:
    """What softmax says of the first statements of each fault."""
    return [leading(one, number) for one in scores]
