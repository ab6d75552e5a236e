"""Learning the weights: the most likely ones, where a fault is drawn from its statements by softmax of their scores.

The chance that a fault's line is drawn is that of any of its lines; weights are kept small (``PENALTY``). Found by
Newton's method on an upper bound (which of the faulty lines was drawn is taken from the weights before), so every step
makes it better, and the same faults give the same weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

PENALTY = 3.0  # of the squared weights; chosen by leaving programs out (docs/ranking.md)
STEPS = 60
ENOUGH = 1e-7  # relative gain at which it ends


@dataclass(slots=True)
class Example:
    """One fault: the features of its statements (a row each), and which are faulty."""

    matrix: Floats
    faulty: NDArray[np.bool_]


def learned(examples: Sequence[Example], penalty: float = PENALTY) -> Floats:
    """The weights, one a feature. Faults of which no line is ranked teach nothing."""
    kept = [example for example in examples if example.faulty.any()]
    width = kept[0].matrix.shape[1]
    weights = np.zeros(width)
    loss, slope, curve = _terms(kept, weights, penalty)
    for _ in range(STEPS):
        step = np.linalg.solve(curve, slope)
        size = 1.0
        while True:
            tried = weights - size * step
            terms = _terms(kept, tried, penalty)
            if terms[0] <= loss or size < 1e-6:
                break
            size /= 2
        gain = loss - terms[0]
        weights, (loss, slope, curve) = tried, terms
        if gain <= ENOUGH * abs(loss):
            break
    return weights


def _terms(examples: Sequence[Example], weights: Floats, penalty: float) -> tuple[float, Floats, Floats]:
    """Loss, gradient, and the curvature of the bound."""
    loss, slope, curve = penalty / 2 * float(weights @ weights), penalty * weights, penalty * np.eye(len(weights))
    for example in examples:
        x = example.matrix
        chance = softmax(x @ weights)
        mine = chance[example.faulty]
        drawn = mine.sum()
        loss -= float(np.log(max(drawn, 1e-300)))
        mean = chance @ x
        slope = slope + mean - (mine / max(drawn, 1e-300)) @ x[example.faulty]
        centred = (x - mean) * np.sqrt(chance)[:, None]
        curve += centred.T @ centred
    return loss, slope, curve


def softmax(scores: Floats) -> Floats:
    """Chances in proportion to the exponentials of the scores."""
    shifted = np.exp(scores - scores.max())
    return np.asarray(shifted / shifted.sum())
