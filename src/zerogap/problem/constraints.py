"""Linear constraints. Each row becomes one dual coordinate, a two-sided range included."""

from typing import Any

import numpy as np

from zerogap.data.numbers import as_floats, check_finite
from zerogap.data.prepare import check_vector
from zerogap.data.rows import SparseRows, as_constraint_rows
from zerogap.exceptions import DataError, ProblemError

Array = np.ndarray


class Between:
    """lower <= J x <= upper, row by row; a multiplier is >= 0 at `upper`, <= 0 at `lower`.

    Either side may be a scalar or infinite. With `fit_intercept=True`, J may have one column more than
    X: the coefficient of the intercept. `names` labels the rows in `result.summary()`.

    Examples
    --------
    >>> import numpy as np, zerogap as zg
    >>> target = zg.ElasticNet(1.0, center=[3.0, 1.0])  # the nearest point to (3, 1) with x_0 - x_1 <= 1
    >>> near = zg.Problem(regularizer=target, constraints=zg.Between([1.0, -1.0], upper=1.0))
    >>> result = zg.solve(near, tol=1e-9)
    >>> result.x.round(6), result.multipliers[0].round(6)
    (array([2.5, 1.5]), array([0.5]))
    """

    def __init__(self, J: Any, lower: Any = -np.inf, upper: Any = np.inf, *, names: Any = None):
        name = type(self).__name__
        self.rows, self.norms = as_constraint_rows(J, f"{name} matrix")
        self.lower = self._side(lower, "lower")
        self.upper = self._side(upper, "upper")
        wrong = np.flatnonzero(self.lower > self.upper)
        if wrong.size:
            i = int(wrong[0])
            raise ProblemError(
                f"{name}: expected lower <= upper; row {i} has {self.lower[i]} > {self.upper[i]}"
            )
        if (self.lower == np.inf).any() or (self.upper == -np.inf).any():
            raise ProblemError(f"{name}: lower may be -inf and upper +inf, not the other way round")
        self.names = _names(names, len(self), name)

    def _side(self, values: Any, side: str) -> Array:
        return _bound(values, self.rows.shape[0], f"{type(self).__name__} {side}")

    def row_names(self) -> list[str]:
        """A name for every row: the given one, or kind and number."""
        if self.names is not None:
            return self.names
        return [f"{type(self).__name__}[{i}]" for i in range(len(self))]

    def __len__(self) -> int:
        return self.rows.shape[0]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} rows, {self.rows.shape[1]} columns)"

    def checked(self, n_columns: int, fit_intercept: bool) -> SparseRows:
        """The rows, once their width fits the problem."""
        width = self.rows.shape[1]
        if width == n_columns or (fit_intercept and width == n_columns + 1):
            return self.rows
        also = f" (or {n_columns + 1}, the intercept last)" if fit_intercept else ""
        raise DataError(
            f"{type(self).__name__} matrix: expected {n_columns} columns, one per feature of X{also}; "
            f"got {width}"
        )


class Equal(Between):
    """B x = e, row by row; a positive multiplier says that raising e would lower the objective.

    Examples
    --------
    >>> import numpy as np, zerogap as zg
    >>> target = zg.ElasticNet(1.0, center=[3.0, 1.0])  # the nearest point to (3, 1) with x_0 + x_1 = 2
    >>> result = zg.solve(zg.Problem(regularizer=target, constraints=zg.Equal(np.ones(2), 2.0)), tol=1e-9)
    >>> result.x.round(6), result.multipliers[0].round(6)
    (array([2., 0.]), array([1.]))
    """

    def __init__(self, B: Any, e: Any = 0.0, *, names: Any = None):
        super().__init__(B, e, e, names=names)

    def _side(self, values: Any, side: str) -> Array:
        values = super()._side(values, "e")
        check_finite(values, "Equal e")
        return values


def _bound(values: Any, size: int, name: str) -> Array:
    vector = as_floats(values, name)
    if vector.ndim == 0:
        vector = np.full(size, float(vector))
    if np.isnan(vector).any():
        raise DataError(f"{name}: expected numbers; got NaN")
    finite = np.where(np.isinf(vector), 0.0, vector)
    check_finite(finite, name, advice="A side that is open is infinite: np.inf")
    finite = check_vector(finite, size, name, "one entry per row")
    return np.where(np.isinf(vector), vector, finite)


def _names(names: Any, size: int, owner: str) -> list[str] | None:
    if names is None:
        return None
    listed = [names] if isinstance(names, str) else [str(name) for name in names]
    if len(listed) != size:
        raise DataError(f"{owner} names: expected {size}, one per row; got {len(listed)}")
    return listed
