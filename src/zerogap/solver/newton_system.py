"""Solves (diag(d) + R_J^T diag(h) R_J) x = rhs, J the rows with h > 0, by whichever way is cheapest."""

from collections.abc import Callable

import numpy as np
import scipy.linalg

from zerogap.data.stacked import StackedRows

Array = np.ndarray

#: The largest matrix that is factorised; beyond it, conjugate gradients.
LARGEST = 4000
#: Ridge, relative to a unit diagonal, that keeps a Cholesky factor of a singular matrix alive.
_RIDGE = 1e-13


def solve(rows: StackedRows, d: Array, h: Array, rhs: Array, accuracy: float) -> Array:
    """By a factor of the t x t matrix, of the |J| x |J| one, or by conjugate gradients.

    d is positive, or zero only where R_J has curvature.
    """
    stiff = np.flatnonzero(h)
    size, count = d.size, stiff.size
    if count == 0:
        return rhs / d
    gram_cost, outer_cost = _costs(rows, count)
    if size <= LARGEST and (gram_cost <= outer_cost or count > LARGEST):
        return _by_gram(rows, d, h, rhs)
    if count <= LARGEST:
        return _by_outer(rows.take(stiff), d, h[stiff], rhs)
    return _by_gradients(rows.take(stiff), d, h[stiff], rhs, accuracy)


def _costs(rows: StackedRows, count: int) -> tuple[float, float]:
    """Multiply-adds to form and factorise the t x t and the |J| x |J| matrix."""
    size = rows.shape[1]
    width = rows.nonzeros / max(rows.shape[0], 1)
    return count * width**2 + size**3 / 3, count**2 * width + count**3 / 3


def flops(rows: StackedRows) -> float:
    """Multiply-adds of a typical solve, a quarter of the rows being stiff."""
    count = max(rows.shape[0] // 4, 1)
    gram_cost, outer_cost = _costs(rows, count)
    if rows.shape[1] > LARGEST:
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
    return lambda b: scale * scipy.linalg.cho_solve(factor, scale * b, check_finite=False)


def _by_gram(rows: StackedRows, d: Array, h: Array, rhs: Array) -> Array:
    matrix = rows.gram(h)
    matrix.flat[:: d.size + 1] += d
    return cholesky(matrix)(rhs)


def _by_outer(rows: StackedRows, d: Array, h: Array, rhs: Array) -> Array:
    """(D + R^T H R)^-1 b = D^-1 b - D^-1 R^T (H^-1 + R D^-1 R^T)^-1 R D^-1 b, refined once."""
    inverse = 1.0 / d
    matrix = rows.outer(inverse)
    matrix.flat[:: h.size + 1] += 1.0 / h
    inner = cholesky(matrix)

    def apply(b: Array) -> Array:
        scaled = inverse * b
        return scaled - inverse * rows.tdot(inner(rows.dot(scaled)))

    x = apply(rhs)
    return x + apply(rhs - d * x - rows.tdot(h * rows.dot(x)))


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
