"""Several quantiles at once, whose predictions must not cross at given points.

    min over x_k, b_k    1/K sum_k [ f(x_k) + sum_i w_i pinball_q_k(y_i - a_i.x_k - b_k) / sum_i w_i ]
    s.t.                 a.x_k + b_k <= a.x_k+1 + b_k+1   for every point a and k = 1 .. K-1

As pinball_q(r) = pinball_1/2(r) + (q - 1/2) r, all levels share one loss, and the rest is a linear term of
the penalty. The data rows are K times the same storage, and of the crossing rows a problem holds some: a
bound for it is one for all of them.
"""

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.optimize
import scipy.sparse as sp

from zerogap.data.blocks import BlockDiagonalRows, crossing_rows
from zerogap.data.prepare import check_matrix, check_vector, check_weights
from zerogap.exceptions import DataError, ProblemError
from zerogap.problem.builders import bind_all, touches_intercept
from zerogap.problem.columns import Columns, feature_names
from zerogap.problem.constraints import Between
from zerogap.problem.losses import Pinball
from zerogap.problem.problem import Problem
from zerogap.problem.regularizers import ElasticNet

Array = np.ndarray

_EPS = float(np.finfo(np.float64).eps)
#: How many times the rounding of two predictions they are kept apart.
_APART = 8.0


@dataclasses.dataclass(frozen=True)
class WorkingSet:
    """Crossing rows: levels pair and pair + 1 at the point `index`."""

    pair: Array
    index: Array

    @property
    def size(self) -> int:
        return self.pair.size


NO_ROWS = WorkingSet(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


class _JointProblem(Problem):
    """Its linear term is a share of the losses, which are never negative."""

    bounded_below = True


class JointQuantiles:
    """The joint problem; x holds (x_1, b_1, x_2, b_2, ...), without the b where there is no intercept.

    Parameters
    ----------
    X, y, sample_weight, fit_intercept, constraints, feature_names : as in `Problem`; the constraints hold for
        every level, and may not involve the intercept.
    levels : rising quantiles, strictly between 0 and 1.
    regularizer : f, a `zg.L2` or `zg.ElasticNet`.
    X_grid : further points, beside the rows of X, where predictions must not cross.
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        *,
        levels: Any,
        regularizer: Any,
        constraints: Any = (),
        sample_weight: Any = None,
        fit_intercept: bool = True,
        feature_names: Any = None,
        X_grid: Any = None,
    ):
        rows = self._rows = check_matrix(X)
        n, self.n_features = rows.shape
        self.regularizer = regularizer
        self.levels = checked_levels(levels)
        self.fit_intercept = fit_intercept
        self.base = rows.with_ones() if fit_intercept else rows
        self.points = [self.base]
        if X_grid is not None:
            grid = check_matrix(X_grid, "X_grid")
            if grid.shape[1] != self.n_features:
                raise DataError(f"X_grid: expected {self.n_features} columns, as X has; got {grid.shape[1]}")
            self.points.append(grid.with_ones() if fit_intercept else grid)
        self.y = check_vector(y, n, "y")
        self.weight = check_weights(sample_weight, n)
        self.bound = self._bind(X, rows, constraints, feature_names)
        count = self.levels.size
        self._blocks = BlockDiagonalRows([self.base] * count)
        self._targets, self._weights = np.tile(self.y, count), np.tile(self.weight, count)
        self._penalty = self._tiled(regularizer)
        self._repeated = [self._per_level(c) for c in self.bound]
        #: What the objective of `problem` leaves out: 1/K sum_k (q_k - 1/2) times the mean of y.
        self.constant = float(np.mean(self.levels - 0.5) * (self.weight @ self.y))

    def _bind(self, X: Any, rows: Any, constraints: Any, names: Any) -> tuple[Between, ...]:
        def columns() -> Columns:
            known = feature_names(names, X, self.n_features)
            return Columns(self.n_features, self.fit_intercept, known, rows, self.weight)

        bound = bind_all(constraints, columns)
        for constraint in bound:
            constraint.checked(self.n_features, self.fit_intercept)
            if touches_intercept(constraint, self.n_features):
                raise ProblemError(
                    "constraints: with non_crossing, expected constraints on the features alone; "
                    f"{constraint.row_names()[0]!r} involves the intercept"
                )
        return bound

    def _tiled(self, regularizer: Any) -> ElasticNet:
        """The penalty of all levels: f for each, the linear rest of its loss, nothing on its intercept."""
        if not isinstance(regularizer, ElasticNet):
            raise ProblemError(f"regularizer: expected zg.L2 or zg.ElasticNet; got {regularizer!r:.80}")
        count, extra = self.levels.size, int(self.fit_intercept)
        f = regularizer.bind(self.n_features)

        def tile(values: Any, at_intercept: float, scale: float = 1.0) -> Array:
            one = np.broadcast_to(np.asarray(values, dtype=np.float64) * scale, (self.n_features,))
            return np.tile(np.append(one, [at_intercept] * extra), count)

        rest = -np.outer(self.levels - 0.5, self._mean_row()).ravel() / count
        return ElasticNet(
            l2=tile(f.mu, 0.0, 1.0 / count),
            l1=tile(f.l1, 0.0, 1.0 / count),
            lower=tile(f.lower, -np.inf),
            upper=tile(f.upper, np.inf),
            center=tile(f.center, 0.0),
            linear=tile(f.linear, 0.0, 1.0 / count) + rest,
        )

    def _mean_row(self) -> Array:
        """The weighted mean of the rows, summed in parts.

        Columns that depend on each other must have dependent means, or nothing bounds the objective. A long
        sum of equal numbers is rounded the same way at every step.
        """
        n = self.base.shape[0]
        parts = np.array_split(np.arange(n), max(1, math.isqrt(n)))
        return np.sum([self.base.take(rows).tdot(self.weight[rows]) for rows in parts], axis=0)

    def _per_level(self, constraint: Between) -> Between:
        """A constraint for every level, level after level."""
        matrix = constraint.rows.matrix
        if matrix.shape[1] < self.base.shape[1]:
            matrix = sp.hstack([matrix, sp.csr_array((matrix.shape[0], 1))], format="csr")
        count = self.levels.size
        names = [f"{name} (level {q:g})" for q in self.levels for name in constraint.row_names()]
        lower, upper = np.tile(constraint.lower, count), np.tile(constraint.upper, count)
        stacked = sp.block_diag([matrix[:, : self.base.shape[1]]] * count, format="csr")
        return Between(stacked, lower, upper, names=names)

    def problem(self, working: WorkingSet) -> Problem:
        """The problem with the crossing rows of a working set, as the last constraint."""
        crossing = [self._crossing(working)] if working.size else []
        return _JointProblem(
            self._blocks, self._targets, loss=Pinball(0.5), regularizer=self._penalty,
            constraints=[*self._repeated, *crossing], sample_weight=self._weights,
        )  # fmt: skip

    def level(self, k: int) -> Problem:
        """Level k by itself."""
        return Problem(
            self._rows.matrix, self.y, loss=Pinball(self.levels[k]), regularizer=self.regularizer,
            constraints=self.bound, sample_weight=self.weight, fit_intercept=self.fit_intercept,
        )  # fmt: skip

    def joined(self, levels: Sequence[tuple[Problem, Array, Array]]) -> tuple[Array, Array]:
        """The point and the dual point of the problem without crossing rows, from those of every level."""
        count, n = self.levels.size, self.y.size
        own = [u[:n] + (q - 0.5) for q, (_, _, u) in zip(self.levels, levels, strict=True)]
        prices = [problem.multipliers(u) for problem, _, u in levels]
        repeated = [price / count for group in zip(*prices, strict=True) for price in group]
        return np.concatenate([x for _, x, _ in levels]), np.concatenate([*own, *repeated])

    def fits(self, working: WorkingSet, dual: Array) -> bool:
        """Could a solve start from this working set and dual point?"""
        points = sum(part.shape[0] for part in self.points)
        own = self._targets.size + sum(len(c) for c in self._repeated)
        return dual.size == own + working.size and int(working.index.max(initial=-1)) < points

    def _crossing(self, working: WorkingSet) -> Between:
        n, count = self.base.shape[0], self.levels.size
        in_grid = working.index >= n
        matrix = sp.csr_array((working.size, count * self.base.shape[1]))
        order, parts = [], []
        for part, shift, chosen in zip(self.points, (0, n), (~in_grid, in_grid), strict=False):
            rows = np.flatnonzero(chosen)
            parts.append(crossing_rows(part, working.pair[rows], working.index[rows] - shift, count))
            order.append(rows)
        matrix = sp.vstack(parts, format="csr")[np.argsort(np.concatenate(order))]
        low, high = self.levels[working.pair], self.levels[working.pair + 1]
        places = [f"row {i}" if i < n else f"grid row {i - n}" for i in working.index]
        names = [f"{q:g} <= {r:g} at {place}" for q, r, place in zip(low, high, places, strict=True)]
        return Between(matrix, -np.inf, 0.0, names=names)

    def predictions(self, x: Array) -> Array:
        """a.x_k + b_k, a row for each level and a column for each point."""
        return self._at_points(self.by_level(x), "dot")

    def by_level(self, x: Array) -> Array:
        """x as one row per level."""
        return x.reshape(self.levels.size, -1)

    def _at_points(self, coefs: Array, verb: str) -> Array:
        return np.array([np.concatenate([getattr(p, verb)(c) for p in self.points]) for c in coefs])

    def sizes(self, x: Array, shift: float) -> Array:
        """The terms of the difference of two predictions, of x plus a shift of y, added up."""
        terms = self._at_points(self.by_level(x), "magnitudes") + abs(shift)
        return terms[1:] + terms[:-1] + 1e-300

    def rounding(self, x: Array, shift: float) -> Array:
        """What rounding may do to the difference."""
        return _APART * _EPS * (2 + self.base.shape[1]) * self.sizes(x, shift)

    def apart(self, x: Array, shift: float) -> Array | None:
        """x moved so that no predictions cross at any point, rounding included; None: no way is known.

        Level after level is raised along a direction in which every prediction grows: the intercept.
        """
        coefs = self.by_level(x).copy()
        direction = self._rising
        if direction is None:
            return None
        growth = self._at_points(direction[None, :], "dot")
        for _ in range(3):  # the rounding grows a little with the shift
            missing = self.rounding(coefs.ravel(), shift) - np.diff(self._at_points(coefs, "dot"), axis=0)
            lift = np.max(np.maximum(missing, 0.0) / growth, axis=1)
            if not lift.any():
                return coefs.ravel()
            coefs[1:] += 1.5 * np.cumsum(lift)[:, None] * direction
        return None

    @property
    def _rising(self) -> Array | None:
        """A direction in which the prediction grows at every point."""
        if not hasattr(self, "_direction"):
            self._direction = np.zeros(self.base.shape[1])
            if self.fit_intercept:
                self._direction[-1] = 1.0
            else:
                self._direction = self._search_rising()
        return self._direction if self._direction.any() else None

    def _search_rising(self) -> Array:
        """max t with a.d >= t ||a||, |d| <= 1, at every point, by linear programming; zero where t is."""
        matrix = sp.vstack([sp.csr_array(p.matrix, dtype=np.float64) for p in self.points], format="csr")
        norms = np.sqrt(np.concatenate([p.square_norms(1.0) for p in self.points]))
        width = matrix.shape[1]
        if not norms.all():  # nothing raises the prediction at zero
            return np.zeros(width)
        A = sp.hstack([-matrix, sp.csr_array(norms[:, None])], format="csr")
        bounds = [*[(-1.0, 1.0)] * width, (0.0, 1.0)]
        cost = np.append(np.zeros(width), -1.0)
        answer = scipy.optimize.linprog(
            cost, A_ub=A, b_ub=np.zeros(len(norms)), bounds=bounds, method="highs"
        )
        if answer.status != 0 or answer.x[-1] < 1e-7:
            return np.zeros(width)
        return answer.x[:-1]

    def representatives(self) -> Array:
        """One point of every group of equal ones, told apart by two random projections."""
        rng = np.random.default_rng(0)
        keys = self._at_points(rng.standard_normal((2, self.base.shape[1])), "dot")
        _, first = np.unique(keys, axis=1, return_index=True)
        chosen = np.zeros(keys.shape[1], dtype=bool)
        chosen[first] = True
        return chosen


def checked_levels(levels: Any) -> Array:
    """Rising quantiles, strictly between 0 and 1."""
    values = np.asarray(levels, dtype=np.float64)
    if values.ndim != 1 or not values.size or not ((values > 0) & (values < 1)).all():
        raise ProblemError(f"quantile: expected numbers strictly between 0 and 1; got {levels!r:.80}")
    if (np.diff(values) <= 0).any():
        raise ProblemError(f"quantile: expected rising levels; got {levels!r:.80}")
    return values
