"""Rows and features as sums of elementary pieces, each with an interval for its dual coordinate.

    tau(m) = max_{low <= z <= high}  z m - aim z - bend z^2 / 2

A data row is one piece (a tube's two sides are two), a range of a constraint row one for each side, an l1
term one with low = -l1 and high = l1, a bound of the box one with low or high infinite.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from zerogap.problem import losses
from zerogap.problem import terms as row_terms
from zerogap.problem.problem import Problem

Array = np.ndarray

#: phi*(u) = u y + tube |u| + bend u^2 / 2 on the dual domain: (tube, bend) of the losses that are like this.
_SHAPES: dict[type, Callable[[Any], tuple[float, float]]] = {
    losses.Hinge: lambda loss: (0.0, 0.0),
    losses.SmoothedHinge: lambda loss: (0.0, loss.width),
    losses.SquaredHinge: lambda loss: (0.0, 0.5),
    losses.Absolute: lambda loss: (0.0, 0.0),
    losses.Pinball: lambda loss: (0.0, 0.0),
    losses.Squared: lambda loss: (0.0, 1.0),
    losses.Huber: lambda loss: (0.0, 1.0),
    losses.EpsilonInsensitive: lambda loss: (loss.epsilon, 0.0),
    losses.SquaredEpsilonInsensitive: lambda loss: (loss.epsilon, 0.5),
}


class Pieces(NamedTuple):
    """One entry for each piece. `of` is its row; features (the intercept last) are counted after all rows."""

    of: Array
    low: Array
    high: Array
    aim: Array
    bend: Array
    weight: Array


def fit(problem: Problem) -> bool:
    """Are the problem's rows sums of pieces?"""
    return problem.n_data == 0 or type(problem.loss) in _SHAPES


def pieces_of(problem: Problem) -> Pieces:
    """All pieces of a problem with a separable penalty: data rows, constraint rows, features."""
    parts = [*_of_data(problem), *_of_constraints(problem), *_of_features(problem)]
    of, low, high, aim, bend = (
        np.concatenate([np.broadcast_to(part[k], part[0].shape) for part in parts]) for k in range(5)
    )
    weight = np.append(problem.weight, np.ones(problem.rows.shape[1]))[of]
    return Pieces(of.astype(np.intp), low, high, aim, bend, weight)


def _of_data(problem: Problem) -> list[tuple[Any, ...]]:
    if not problem.n_data:
        return []
    low, high = np.empty(problem.n_rows), np.empty(problem.n_rows)
    row_terms.domains(problem.terms, low, high)
    tube, bend = _SHAPES[type(problem.loss)](problem.loss)
    rows = np.flatnonzero(problem.weight[: problem.n_data] > 0.0)
    y, low, high = problem.y[rows], low[rows], high[rows]
    if tube == 0.0:
        return [(rows, low, high, y, bend)]
    return [(rows, 0.0, high, y + tube, bend), (rows, low, 0.0, y - tube, bend)]


def _of_constraints(problem: Problem) -> list[tuple[Any, ...]]:
    rows = np.arange(problem.n_data, problem.n_rows)
    equal = problem.low == problem.high
    parts: list[tuple[Any, ...]] = [(rows[equal], -np.inf, np.inf, problem.low[equal], 0.0)]
    return parts + _sides(rows, np.where(equal, -np.inf, problem.low), np.where(equal, np.inf, problem.high))


def _of_features(problem: Problem) -> list[tuple[Any, ...]]:
    penalty: Any = problem.penalty
    full = np.zeros(penalty.n_features)
    own = np.arange(full.size) + problem.n_rows
    l1 = penalty.l1 + full
    soft = l1 > 0.0
    return [
        (own[soft], -l1[soft], l1[soft], 0.0, 0.0),
        *_sides(own, penalty.lower + full, penalty.upper + full),
    ]


def _sides(of: Array, lower: Array, upper: Array) -> list[tuple[Any, ...]]:
    """lower <= m <= upper: a piece for each side that is finite."""
    below, above = np.isfinite(lower), np.isfinite(upper)
    return [(of[below], -np.inf, 0.0, lower[below], 0.0), (of[above], 0.0, np.inf, upper[above], 0.0)]
