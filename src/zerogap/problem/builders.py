"""Constraints in the words of the model: columns by name or position, bound to the data by `Problem`.

A builder returns a `Recipe`. `Problem` and the estimators bind it to their columns, which gives an `Equal`
or a `Between` with named rows. Where a `Recipe` is taken, text for `linear` is taken as well.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from zerogap.data.blocks import crossing_rows
from zerogap.data.numbers import as_floats
from zerogap.data.prepare import check_matrix, check_vector
from zerogap.exceptions import DataError, ProblemError
from zerogap.problem.columns import Columns
from zerogap.problem.constraints import Between, Equal
from zerogap.problem.expressions import constraint

Array = np.ndarray

__all__ = [
    "Between",
    "Equal",
    "bounds",
    "fairness",
    "linear",
    "monotone_prediction",
    "non_crossing",
    "order",
    "sign",
    "sum_to",
]

#: Columns that a row's name spells out.
_SPELLED = 4


class Recipe:
    """A constraint whose rows are known once the columns are."""

    def bind(self, columns: Columns) -> Between:
        """The rows, over the features or over features and intercept."""
        raise NotImplementedError

    def on_intercept(self, columns: Columns) -> bool:
        """Does a row involve the intercept?"""
        return touches_intercept(self.bind(columns), columns.n_features)


def bind_all(given: Any, columns: Callable[[], Columns]) -> tuple[Between, ...]:
    """Constraints of any kind, one or several, bound to the columns, which are made when they are needed."""
    listed = recipes(given)
    if all(isinstance(c, Between) for c in listed):
        return tuple(listed)  # type: ignore[arg-type]
    known = columns()
    return tuple(c if isinstance(c, Between) else c.bind(known) for c in listed)


def recipes(given: Any) -> list[Between | Recipe]:
    """One constraint or several as a list, text read as `linear`."""
    listed = given if isinstance(given, (list, tuple)) else [given]
    out = [Linear(item) if isinstance(item, str) else item for item in listed]
    for item in out:
        if not isinstance(item, (Between, Recipe)):
            raise ProblemError(
                "constraints: expected zg.Equal or zg.Between objects, builders such as zg.order([...]), or "
                f"text such as 'a + b = 1', or a list of these; got {item!r:.80}"
            )
    return out


def any_on_intercept(given: Any, columns: Columns) -> bool:
    """Does one of the constraints involve the intercept?"""
    return any(
        touches_intercept(c, columns.n_features) if isinstance(c, Between) else c.on_intercept(columns)
        for c in recipes(given)
    )


def touches_intercept(bound: Between, n_features: int) -> bool:
    """Has a row a coefficient for the intercept?"""
    return bound.rows.shape[1] > n_features and bool(bound.rows.matrix[:, [n_features]].nnz)


def sum_to(value: float, columns: Any = None) -> Recipe:
    """sum_j x_j over `columns` = value; a positive multiplier: raising `value` would lower the objective.

    Parameters
    ----------
    value : the sum of the coefficients.
    columns : names or positions of columns; None stands for all features.
    """
    return SumTo(value, columns)


def order(columns: Any, increasing: bool = True) -> Recipe:
    """x[columns[0]] <= x[columns[1]] <= ... as x_a - x_b <= 0; multipliers >= 0, > 0 where a pair is equal.

    `increasing=False` turns the chain round. A row is named like "a <= b".
    """
    return Order(columns, increasing)


def sign(direction: Any, columns: Any = None) -> Recipe:
    """x_j >= 0 for direction "+" (multipliers <= 0), x_j <= 0 for "-" (multipliers >= 0).

    `direction` may also be 1 or -1; `columns` None stands for all features.
    """
    return Sign(direction, columns)


def bounds(lower: Any = None, upper: Any = None, columns: Any = None) -> Recipe:
    """lower <= x_j <= upper for every column; a multiplier is >= 0 at `upper`, <= 0 at `lower`.

    A side is a number, one number per column, or None (open). Unlike the box of `zg.ElasticNet` these are
    constraint rows, so they may hold for the intercept and they have multipliers.
    """
    return Bounds(lower, upper, columns)


def linear(text: str) -> Recipe:
    """What the text says, "2*age - income <= 3": multipliers >= 0 for <=, <= 0 for >=, any sign for =.

    A column's name stands for its coefficient, the word `intercept` for the intercept. Sums of
    number * name and numbers on both sides of <=, >= or =, or numbers at both ends: "0 <= a + b <= 1".
    """
    return Linear(text)


def fairness(sensitive: Any, limit: float) -> Recipe:
    """-limit <= cov(sensitive, a.x + b) <= limit; a multiplier is >= 0 at +limit, <= 0 at -limit.

        cov = sum_i w_i (z_i - mean z) (a_i.x + b)   w_i the sample weights (sum one), mean z = sum_i w_i z_i

    Parameters
    ----------
    sensitive : a column of X by name or position, or an array with one entry (or one row of several
        attributes) per sample; labels give one indicator for each class, or one for two classes.
    limit : >= 0; 0 asks for a decision function that is uncorrelated with the attribute.
    """
    return Fairness(sensitive, limit)


def monotone_prediction(X_grid: Any, increasing: bool = True) -> Recipe:
    """a_0.x <= a_1.x <= ... along the rows of X_grid, as (a_i - a_i+1).x <= 0; multipliers >= 0.

    `increasing=False` turns the chain round. The intercept cancels.
    """
    return MonotonePrediction(X_grid, increasing)


def non_crossing(X_grid: Any, n_levels: int, intercepts: bool = True) -> Recipe:
    """a.x_k + b_k - a.x_k+1 - b_k+1 <= 0 for every row a of X_grid and level k; multipliers >= 0.

    For problems whose features are the coefficients of `n_levels` models side by side, each with its own
    intercept behind it when `intercepts`: (x_1, b_1, x_2, b_2, ...).
    `zerogap.linear_model.QuantileRegressor(quantile=[...], non_crossing=True)` builds and solves such
    problems itself, without a row for every point of X.
    """
    return NonCrossing(X_grid, n_levels, intercepts)


@dataclasses.dataclass(frozen=True, eq=False)
class SumTo(Recipe):
    """See `sum_to`."""

    value: Any
    columns: Any = None

    def bind(self, columns: Columns) -> Between:
        places = columns.positions(self.columns)
        matrix = _matrix(np.ones(len(places)), [0] * len(places), places, columns.n_features)
        names = [columns.everything[j] for j in places]
        left = " + ".join(names) if len(names) <= _SPELLED else f"sum of {len(names)} columns"
        value = _number(self.value, "sum_to value")
        return Equal(matrix, value, names=f"{left} = {value:g}")


@dataclasses.dataclass(frozen=True, eq=False)
class Order(Recipe):
    """See `order`."""

    columns: Any
    increasing: bool = True

    def bind(self, columns: Columns) -> Between:
        places = columns.positions(self.columns)
        if len(places) < 2:
            raise DataError(
                f"order columns: expected at least two of {columns.known()}; got {self.columns!r}"
            )
        if not self.increasing:
            places = places[::-1]
        low, high = places[:-1], places[1:]
        count = len(low)
        values = np.repeat([1.0, -1.0], count)
        matrix = _matrix(values, [*range(count), *range(count)], [*low, *high], columns.n_features)
        names = columns.everything
        labels = [f"{names[i]} <= {names[j]}" for i, j in zip(low, high, strict=True)]
        return Between(matrix, -np.inf, 0.0, names=labels)


@dataclasses.dataclass(frozen=True, eq=False)
class Bounds(Recipe):
    """See `bounds`."""

    lower: Any = None
    upper: Any = None
    columns: Any = None

    def bind(self, columns: Columns) -> Between:
        places = columns.positions(self.columns)
        lower = -np.inf if self.lower is None else self.lower
        upper = np.inf if self.upper is None else self.upper
        count = len(places)
        matrix = _matrix(np.ones(count), range(count), places, columns.n_features)
        bare = Between(matrix, lower, upper)
        sides = zip(places, bare.lower, bare.upper, strict=True)
        names = [_range_name(columns.everything[j], low, high) for j, low, high in sides]
        return Between(matrix, lower, upper, names=names)


@dataclasses.dataclass(frozen=True, eq=False)
class Sign(Recipe):
    """See `sign`."""

    direction: Any
    columns: Any = None

    def bind(self, columns: Columns) -> Between:
        given = {"+": 1, "-": -1}.get(self.direction) if isinstance(self.direction, str) else self.direction
        if given not in (1, -1):
            raise DataError(f"sign direction: expected '+', '-', 1 or -1; got {self.direction!r}")
        lower, upper = (0.0, None) if given == 1 else (None, 0.0)
        return Bounds(lower, upper, self.columns).bind(columns)


@dataclasses.dataclass(frozen=True, eq=False)
class Linear(Recipe):
    """See `linear`."""

    text: str

    def bind(self, columns: Columns) -> Between:
        if not isinstance(self.text, str):
            raise DataError(f"linear: expected text such as '2*a - b <= 3'; got {self.text!r:.80}")
        return constraint(self.text, columns.names, columns.fit_intercept)


@dataclasses.dataclass(frozen=True, eq=False)
class Fairness(Recipe):
    """See `fairness`."""

    sensitive: Any
    limit: float

    def on_intercept(self, columns: Columns) -> bool:
        return False

    def bind(self, columns: Columns) -> Between:
        rows, weight = columns.rows, columns.weight
        if rows is None or weight is None or not rows.shape[0]:
            raise DataError("fairness: expected a problem with data; this one has no X")
        limit = _number(self.limit, "fairness limit")
        if limit < 0:
            raise DataError(f"fairness limit: expected a number >= 0; got {limit:g}")
        labels, attributes = self._attributes(columns)
        centred = attributes - weight @ attributes
        matrix = np.array([rows.tdot(weight * attribute) for attribute in centred.T])
        names = [f"|cov({label})| <= {limit:g}" for label in labels]
        return Between(matrix, -limit, limit, names=names)

    def _attributes(self, columns: Columns) -> tuple[list[str], Array]:
        """Labels and values, a column each."""
        given, rows = self.sensitive, columns.rows
        assert rows is not None
        if isinstance(given, str) or np.ndim(given) == 0:
            j = columns.position(given)
            if j == columns.n_features:
                raise DataError("fairness: expected a column of X; the intercept is none")
            return [columns.names[j]], rows.columns(np.array([j])).dense()
        values, size = np.asarray(given), rows.shape[0]
        if values.shape[0] != size or values.ndim > 2:
            raise DataError(
                f"fairness sensitive: expected one entry per row of X ({size}); got shape {values.shape}. "
                "A column of X, given by name, follows X into folds"
            )
        name = str(getattr(given, "name", None) or "sensitive")
        if values.ndim == 1 and not _numeric(values):
            classes, codes = np.unique(values.astype(str), return_inverse=True)
            kept = classes[1:] if classes.size == 2 else classes
            return [f"{name}={c}" for c in kept], (classes[codes][:, None] == kept).astype(float)
        if values.ndim == 1:
            return [name], check_vector(values, size, "fairness sensitive")[:, None]
        labels = [str(c) for c in getattr(given, "columns", [f"{name}[{k}]" for k in range(values.shape[1])])]
        return labels, check_matrix(as_floats(values, "fairness sensitive"), "fairness sensitive").dense()


@dataclasses.dataclass(frozen=True, eq=False)
class MonotonePrediction(Recipe):
    """See `monotone_prediction`."""

    X_grid: Any
    increasing: bool = True

    def on_intercept(self, columns: Columns) -> bool:
        return False

    def bind(self, columns: Columns) -> Between:
        grid = _grid(self.X_grid, columns.n_features)
        if grid.shape[0] < 2:
            raise DataError("monotone_prediction X_grid: expected at least two rows; got one")
        steps = grid[1:] - grid[:-1]
        pairs = [(i, i + 1) if self.increasing else (i + 1, i) for i in range(steps.shape[0])]
        names = [f"prediction[{low}] <= prediction[{high}]" for low, high in pairs]
        return Between(-steps if self.increasing else steps, -np.inf, 0.0, names=names)


@dataclasses.dataclass(frozen=True, eq=False)
class NonCrossing(Recipe):
    """See `non_crossing`."""

    X_grid: Any
    n_levels: int
    intercepts: bool = True

    def bind(self, columns: Columns) -> Between:
        grid = check_matrix(self.X_grid, "non_crossing X_grid")
        if self.intercepts:
            grid = grid.with_ones()
        m, width = grid.shape
        if self.n_levels < 2 or self.n_levels * width != columns.n_features:
            raise DataError(
                f"non_crossing: expected a problem with {self.n_levels} x {width} features, at least two "
                f"levels side by side; got {columns.n_features}"
            )
        pair, index = np.divmod(np.arange(m * (self.n_levels - 1)), m)
        names = crossing_names(pair, index)
        return Between(crossing_rows(grid, pair, index, self.n_levels), -np.inf, 0.0, names=names)


def crossing_names(pair: Array, index: Array) -> list[str]:
    """Names of non-crossing rows."""
    return [f"level {k} <= level {k + 1} at row {i}" for k, i in zip(pair, index, strict=True)]


def _numeric(values: Array) -> bool:
    return values.dtype.kind in "biuf"


def _number(value: Any, name: str) -> float:
    if not isinstance(value, (int, float, np.number)) or not np.isfinite(value):
        raise DataError(f"{name}: expected a finite number; got {value!r:.80}")
    return float(value)


def _grid(X_grid: Any, n_features: int) -> Any:
    grid = check_matrix(X_grid, "X_grid")
    if grid.shape[1] != n_features:
        raise DataError(f"X_grid: expected {n_features} columns, as X has; got {grid.shape[1]}")
    return sp.csr_array(grid.matrix, dtype=np.float64)


def _matrix(values: Array, rows: Any, places: list[int], n_features: int) -> Any:
    """A sparse matrix over the features, with the intercept's column when a place is there."""
    width = n_features + int(max(places) == n_features)
    rows, columns = np.asarray(list(rows)), np.asarray(places)
    return sp.csr_array((values, (rows, columns)), shape=(int(rows.max()) + 1, width))


def _range_name(name: str, low: float, high: float) -> str:
    if np.isinf(low):
        return f"{name} <= {high:g}"
    return f"{name} >= {low:g}" if np.isinf(high) else f"{low:g} <= {name} <= {high:g}"
