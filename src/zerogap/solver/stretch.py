"""The best multiple of a primal point.

x*(u) of a dual point near the optimum often misses nothing but its length: where the regularisation is weak,
margins fall short of a kink all together, by a hair that every row pays for. P(c x) is convex in c, and with
the margins at hand a value costs O(n + t).
"""

import math
from collections.abc import Callable

import numpy as np

from zerogap.problem.problem import Problem

Array = np.ndarray

_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
#: The first step away from c = 1 is the relative gap, and at most this; and how often it doubles.
WIDEST, DOUBLINGS = 0.1, 8
#: How far the ends of the bracket may lie above the best value in the end, as a share of what it gains.
PRECISION = 1e-3
_ROUNDING = 4.0 * float(np.finfo(np.float64).eps)
TRIALS = 40

#: (c, value) three times, c rising.
Bracket = tuple[tuple[float, float], tuple[float, float], tuple[float, float]]


def stretched(
    problem: Problem, point: Array, gap: float, origin: Array | None = None, margins: Array | None = None
) -> Array | None:
    """o + c (p - o) with the best c, or None where c = 1 is the best; o = 0 by default.

    `gap` is the relative gap of the point p: the first guess of how far from 1 the best c is. `margins` are
    those of p, if they are known.
    """
    o, start = (0.0, 0.0) if origin is None else (origin, problem.rows.dot(origin))
    ray = point if origin is None else point - o
    margins = (problem.rows.dot(point) if margins is None else margins) - start

    def value(c: float) -> float:
        return problem.primal_from_margins(problem.split(o + c * ray)[0], start + c * margins)

    before = value(1.0)
    c, best = _narrowed(value, _bracket(value, before, min(gap, WIDEST)), before)
    return o + c * ray if best < before - _ROUNDING * abs(before) else None


def _bracket(value: Callable[[float], float], at_one: float, step: float) -> Bracket:
    """low < middle < high around 1 with the lowest value in the middle, as far as DOUBLINGS reach."""
    low, middle, high = (1.0 - step, value(1.0 - step)), (1.0, at_one), (1.0 + step, value(1.0 + step))
    for _ in range(DOUBLINGS):
        if middle[1] <= min(low[1], high[1]):
            break
        step *= 2.0
        if high[1] < low[1]:
            low, middle, high = middle, high, (high[0] + step, value(high[0] + step))
        else:
            below = max(low[0] - step, 0.0)
            low, middle, high = (below, value(below)), low, middle
    return low, middle, high


def _narrowed(value: Callable[[float], float], bracket: Bracket, start: float) -> tuple[float, float]:
    """Golden sections of the bracket: the best c and its value, or nearly, next to what c = 1 is worth."""
    low, middle, high = bracket
    for _ in range(TRIALS):
        if max(low[1], high[1]) - middle[1] <= PRECISION * (start - middle[1]) + _ROUNDING * abs(start):
            break
        above = high[0] - middle[0] > middle[0] - low[0]
        end = high if above else low
        c = end[0] + _GOLDEN * (middle[0] - end[0])
        trial = c, value(c)
        if trial[1] < middle[1]:
            low, middle, high = (middle, trial, high) if above else (low, trial, middle)
        elif above:
            high = trial
        else:
            low = trial
    return middle
