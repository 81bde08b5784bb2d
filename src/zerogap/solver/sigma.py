"""The finisher's penalty parameters: the first from the sizes of both sides, and how they grow."""

import math
from typing import Any

import numpy as np

from zerogap.data.numbers import LARGEST
from zerogap.problem import loss_registry
from zerogap.problem.problem import Problem

Array = np.ndarray

#: The first sigma of the data rows: this share of the width of the dual domain over the margins' spread. Less
#: leaves more rows within their kinks at first, and nearer to least squares.
START = 0.3
#: How they grow, step after step.
GROWTH = 5.0


def spread_of(problem: Problem) -> float:
    """The spread of the margins that the data rows ask for."""
    if loss_registry.traits(problem.loss).classification:
        return 1.0
    w = problem.weight[: problem.n_samples]  # a row of weight 2 counts as two, one of weight 0 as none
    spread = float(w @ np.abs(problem.y - w @ problem.y))
    return max(spread, 1.0 / LARGEST) if spread else 1.0


def constraint_sigma(norms: Array) -> Array:
    """sigma of the constraint rows, from the squares of their norms in the metric of f."""
    return 10.0 / np.where(norms > 0, np.maximum(norms, LARGEST**-2), 1.0)


def data_sigma(problem: Problem, spread: float) -> float:
    """sigma of the data rows."""
    about = loss_registry.traits(problem.loss)
    gamma = about.smoothness(problem.loss)
    width = min(about.lipschitz(problem.loss), spread / gamma if gamma else math.inf)
    sigma = START * (width if math.isfinite(width) else 1.0) / spread
    # phi'' <= 1/gamma: a sigma far beyond it meets a smooth loss as it is
    return max(sigma, 1e4 / gamma) if gamma else sigma


def grow(sigma: Array, largest: Any) -> None:
    """Multiply by GROWTH up to the largest; what is infinite stays so."""
    grown = np.minimum(sigma * GROWTH, np.maximum(largest, sigma))
    sigma[:] = np.where(np.isfinite(sigma), grown, sigma)
