"""The frozen quadratic program: what users hand in, checked once."""

import dataclasses
from typing import Any

import numpy as np
import scipy.sparse as sp

from zerogap.data.numbers import as_floats, check_finite
from zerogap.data.prepare import check_matrix, check_vector
from zerogap.data.rows import as_constraint_rows
from zerogap.exceptions import DataError, ProblemError

Array = np.ndarray

#: |P_ij - P_ji| up to this multiple of the largest entry is rounding.
_SYMMETRIC = 1e-8


@dataclasses.dataclass(frozen=True, eq=False)
class QuadraticProgram:
    """minimise 1/2 x'Px + q'x   subject to   G x <= h,  A x = b,  lb <= x <= ub

    P is symmetric (sparse or dense as it came), G and A are CSR matrices without or with rows; h, lb and ub
    may have infinite entries.
    """

    P: Any
    q: Array
    G: Any
    h: Array
    A: Any
    b: Array
    lb: Array
    ub: Array

    @property
    def n_variables(self) -> int:
        return self.q.size

    def objective(self, x: Array) -> float:
        """1/2 x'Px + q'x"""
        return float(0.5 * (x @ (self.P @ x)) + self.q @ x)

    def activities(self, x: Array) -> tuple[Array, Array]:
        """G x and A x."""
        return self.G @ x, self.A @ x


def checked(P: Any, q: Any, rows: tuple[Any, Any, Any, Any], box: tuple[Any, Any]) -> QuadraticProgram:
    """The program of these arrays, or an error that names the one that does not fit."""
    q = np.atleast_1d(as_floats(q, "q"))
    check_finite(q, "q")
    t = q.size
    q = check_vector(q.reshape(-1), t, "q", "one entry per variable")
    G, h = _rows(rows[0], rows[1], t, "G", "h")
    A, b = _rows(rows[2], rows[3], t, "A", "b")
    check_finite(b, "b")
    if (h == -np.inf).any():
        raise ProblemError("h: expected numbers or +inf; got -inf, which no x satisfies")
    lb, ub = _side(box[0], t, "lb", -np.inf), _side(box[1], t, "ub", np.inf)
    wrong = np.flatnonzero((lb > ub) | (lb == np.inf) | (ub == -np.inf))
    if wrong.size:
        j = int(wrong[0])
        raise ProblemError(f"lb, ub: expected lb <= ub; variable {j} has lb {lb[j]} and ub {ub[j]}")
    return QuadraticProgram(_symmetric(P, t), q, G, h, A, b, lb, ub)


def _symmetric(P: Any, t: int) -> Any:
    """P with both triangles equal to the last bit; None is zero."""
    if P is None:
        return sp.csr_array((t, t), dtype=np.float64)
    rows = check_matrix(P, "P")
    if rows.shape != (t, t):
        raise DataError(f"P: expected shape ({t}, {t}), as q has {t} entries; got {rows.shape}")
    matrix = rows.matrix.astype(np.float64)
    largest, skew = abs(matrix).max(), abs(matrix - matrix.T).max()
    if skew > _SYMMETRIC * largest:
        raise ProblemError(
            f"P: expected a symmetric matrix (both triangles); got entries that differ by {skew:.3g}. "
            "Only x'Px matters, so (P + P.T) / 2 does as well"
        )
    return (matrix + matrix.T) * 0.5


def _rows(matrix: Any, side: Any, t: int, name: str, side_name: str) -> tuple[Any, Array]:
    if (matrix is None) != (side is None):
        missing = name if matrix is None else side_name
        raise DataError(f"{missing}: expected with {name} and {side_name} together; got None")
    if matrix is None:
        return sp.csr_array((0, t), dtype=np.float64), np.zeros(0)
    rows, _ = as_constraint_rows(matrix, name)
    if rows.shape[1] != t:
        raise DataError(f"{name}: expected {t} columns, one per entry of q; got {rows.shape[1]}")
    return rows.matrix, _side(side, rows.shape[0], side_name, 0.0)


def _side(values: Any, size: int, name: str, absent: float) -> Array:
    if values is None:
        return np.full(size, absent)
    vector = as_floats(values, name)
    if np.isnan(vector).any():
        raise DataError(f"{name}: expected numbers; got NaN")
    if vector.ndim == 0:
        return np.full(size, float(vector))
    if vector.ndim == 2 and 1 in vector.shape:
        vector = vector.reshape(-1)
    if vector.shape != (size,):
        raise DataError(f"{name}: expected {size} entries; got shape {np.shape(values)}")
    return vector.astype(np.float64)
