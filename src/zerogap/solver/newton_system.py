"""Solves (diag(d) + R_J^T diag(h) R_J) x = rhs, J the rows with h > 0, by whichever way is cheapest."""

from collections.abc import Callable

import numpy as np
import scipy.linalg

from zerogap.data.apart import Apart
from zerogap.data.stacked import StackedRows

Array = np.ndarray

#: The largest matrix that is factorised; beyond it, conjugate gradients.
LARGEST = 4000
#: Ridge, relative to a unit diagonal, that keeps a Cholesky factor of a singular matrix alive.
_RIDGE = 1e-13
#: Rows with less curvature than this share of the largest add nothing but the overflow of its inverse.
_NOTHING = 1e-250
#: Columns with less curvature of their own than this share of what the rows give them count as flat: their
#: inverse would drown the rest. At most so many are worth a system of their own.
_FLAT, _FEW = 1e-7, 64
#: Entries of a matrix of rows that is made dense to read columns off it.
DENSE = 1_000_000


def solve(rows: StackedRows, d: Array, h: Array, rhs: Array, accuracy: float) -> Array:
    """The solution for one right-hand side; by conjugate gradients, to this relative accuracy."""
    return factorised(rows, d, h, accuracy)(rhs)


def factorised(rows: StackedRows, d: Array, h: Array, accuracy: float = 1e-10) -> Callable[[Array], Array]:
    """Solves for any right-hand side: by a factor of the t x t matrix, of the |J| x |J| one, or by gradients.

    d is positive, or zero only where R_J has curvature.
    """
    stiff = np.flatnonzero(h > _NOTHING * max(float(np.max(h, initial=0.0)), 1e-50))
    size, count = d.size, stiff.size
    if count == 0:
        return lambda rhs: rhs / d
    gram_cost, outer_cost = _costs(rows, count)
    if rows.apart is not None:
        return _by_elimination(rows.apart, d, h)
    if size <= LARGEST and (gram_cost <= outer_cost or count > LARGEST):
        return _by_gram(rows, d, h)
    if count <= LARGEST:
        return _by_outer(rows.take(stiff), d, h[stiff])
    taken, own = rows.take(stiff), h[stiff]
    return lambda rhs: _by_gradients(taken, d, own, rhs, accuracy)


def _costs(rows: StackedRows, count: int) -> tuple[float, float]:
    """Multiply-adds to form and factorise the t x t and the |J| x |J| matrix."""
    size = rows.shape[1] if rows.apart is None else rows.apart.rest.size
    width = rows.nonzeros / max(rows.shape[0], 1)
    return count * width**2 + size**3 / 3, count**2 * width + count**3 / 3


def flops(rows: StackedRows) -> float:
    """Multiply-adds of a typical solve, a quarter of the rows being stiff."""
    count = max(rows.shape[0] // 4, 1)
    gram_cost, outer_cost = _costs(rows, count)
    if rows.shape[1] > LARGEST and rows.apart is None:
        gram_cost = np.inf
    if count > LARGEST:
        outer_cost = np.inf
    by_gradients = 1000.0 * rows.nonzeros  # a few hundred products, a quarter of the rows in each
    return float(min(gram_cost, outer_cost, by_gradients if gram_cost == outer_cost else np.inf))


def cholesky(matrix: Array) -> Callable[[Array], Array]:
    """Solve with a Jacobi-scaled Cholesky factor: column scales of X never reach it."""
    diagonal = matrix.diagonal()
    scale = 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    matrix *= scale
    matrix *= scale[:, None]
    ridge = _RIDGE
    corner = matrix.diagonal().copy()
    while True:
        matrix.flat[:: matrix.shape[0] + 1] = corner + ridge
        try:
            factor = scipy.linalg.cho_factor(matrix, lower=True, check_finite=False)
            break
        except np.linalg.LinAlgError:
            ridge *= 100.0
            if ridge > 1e6:
                raise
    # transposed, so that several right-hand sides may come as the columns of b
    return lambda b: (scale * scipy.linalg.cho_solve(factor, (scale * b.T).T, check_finite=False).T).T


def _by_gram(rows: StackedRows, d: Array, h: Array) -> Callable[[Array], Array]:
    matrix = rows.gram(h)
    matrix.flat[:: d.size + 1] += d
    return cholesky(matrix)


def _by_outer(rows: StackedRows, d: Array, h: Array) -> Callable[[Array], Array]:
    """By M = H^-1 + R_1 D_1^-1 R_1^T over the columns 1 that have curvature, refined once.

    With y = H R x, and the flat columns 2 in a Schur complement of their own,

        M y = R_1 D_1^-1 b_1 + R_2 x_2        D_2 x_2 + R_2^T y = b_2        x_1 = D_1^-1 (b_1 - R_1^T y)
    """
    flat = _flat_columns(rows, d, h)
    inverse = 1.0 / np.where(d > 0.0, d, 1.0)
    inverse[flat] = 0.0
    matrix = rows.outer(inverse)
    matrix.flat[:: h.size + 1] += 1.0 / h
    inner = cholesky(matrix)
    if flat.size:
        columns = _columns(rows, flat)
        solved = inner(columns)
        schur = cholesky(columns.T @ solved + np.diag(d[flat]))

    def apply(b: Array) -> Array:
        y = inner(rows.dot(inverse * b))
        if flat.size:
            rest = schur(b[flat] - columns.T @ y)
            y += solved @ rest
        x = inverse * (b - rows.tdot(y))
        if flat.size:
            x[flat] = rest
        return x

    def refined(rhs: Array) -> Array:
        x = apply(rhs)
        return x + apply(rhs - d * x - rows.tdot(h * rows.dot(x)))

    return refined


def _by_elimination(parts: Apart, d: Array, h: Array) -> Callable[[Array], Array]:
    """By the Schur complement of the columns that stand apart, whose own block D is diagonal; refined once.

    With E = R_2^T H R_1 (1: apart, 2: the others),

        (diag(d_2) + R_2^T H R_2 - E D^-1 E^T) x_2 = b_2 - E D^-1 b_1        x_1 = D^-1 (b_1 - E^T x_2)
    """
    own = d[parts.chosen] + parts.own.square_columns(h)
    own[own <= 0.0] = 1.0
    cross = parts.cross(h)
    matrix = parts.others.gram(h)
    kept = matrix.copy()
    matrix.flat[:: matrix.shape[0] + 1] += d[parts.rest]
    half = cross / np.sqrt(own)
    inner = cholesky(matrix - half @ half.T)

    def apply(b: Array) -> Array:
        x = np.empty_like(b)
        x[parts.rest] = inner(b[parts.rest] - cross @ (b[parts.chosen] / own))
        x[parts.chosen] = (b[parts.chosen] - cross.T @ x[parts.rest]) / own
        return x

    def refined(rhs: Array) -> Array:
        x = apply(rhs)
        left = rhs - d * x
        left[parts.rest] -= kept @ x[parts.rest] + cross @ x[parts.chosen]
        left[parts.chosen] -= (own - d[parts.chosen]) * x[parts.chosen] + cross.T @ x[parts.rest]
        return x + apply(left)

    return refined


def _columns(rows: StackedRows, chosen: Array) -> Array:
    """These columns of the rows."""
    if rows.shape[0] * rows.shape[1] <= DENSE:
        return rows.dense()[:, chosen]
    return np.stack([rows.dot(unit) for unit in np.eye(rows.shape[1])[chosen]], axis=1)


def _flat_columns(rows: StackedRows, d: Array, h: Array) -> Array:
    """Columns that d hardly holds, the flattest first; those without any must be among them."""
    small = np.flatnonzero(d <= _FLAT * float(np.max(d)))
    if not small.size:
        return small
    share = d[small] / np.maximum(rows.square_columns(h)[small], 1e-300)
    flat = np.flatnonzero(share <= _FLAT)
    return small[flat[np.argsort(share[flat], kind="stable")[:_FEW]]]


def _by_gradients(rows: StackedRows, d: Array, h: Array, rhs: Array, accuracy: float) -> Array:
    """Conjugate gradients with the diagonal as preconditioner."""
    diagonal = d + rows.square_columns(h)
    x = np.zeros_like(rhs)
    residual = rhs.copy()
    z = residual / diagonal
    direction, along = z.copy(), float(residual @ z)
    goal = accuracy**2 * along
    for _ in range(250):
        if along <= goal:
            break
        image = d * direction + rows.tdot(h * rows.dot(direction))
        step = along / float(direction @ image)
        x += step * direction
        residual -= step * image
        z = residual / diagonal
        along, before = float(residual @ z), along
        direction = z + (along / before) * direction
    return x
