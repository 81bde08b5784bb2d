"""Solves (diag(d) + R_J^T diag(h) R_J) x = rhs, J the rows with h > 0, by whichever way is cheapest."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.linalg

from zerogap.data.apart import Apart
from zerogap.data.stacked import StackedRows

Array = np.ndarray
Parts = Callable[[], tuple[Array, Array]]

#: The largest matrix that is factorised; beyond it, conjugate gradients.
LARGEST = 4000
#: Ridge, relative to a unit diagonal, that keeps a Cholesky factor of a singular matrix alive.
_RIDGE = 1e-13
#: Rows with less curvature than this share of the largest add nothing but the overflow of its inverse.
_NOTHING = 1e-250
#: Columns with less curvature of their own than this share of what the rows give them count as flat: their
#: inverse would drown the rest. At most so many are worth a system of their own.
_FLAT, _FEW = 1e-7, 64
#: Rows stiffer than D by this may need their pushes by themselves, if residuals do not fall to this share.
_AMPLIFIED, _ENOUGH = 1e10, 1e-3
#: The t x t matrix is a way out where it is as small as this, or no wider than so many times |J|.
_SMALL, _SQUARE = 1000, 4
#: Entries of a matrix of rows that is made dense to read columns off it.
DENSE = 1_000_000


def solve(
    rows: StackedRows, d: Array, h: Array, rhs: Array, accuracy: float, parts: Parts | None = None
) -> Array:
    """By a factor of the t x t matrix, of the |J| x |J| one, or by conjugate gradients.

    Where neither d nor R_J has any curvature, x_j is huge, as if it had a trace. parts() = own, pushes with
    rhs = own + R^T pushes: where the rows' curvature dwarfs d, their sum has lost the digits that decide x.
    """
    stiff = np.flatnonzero(h > _NOTHING * max(float(np.max(h, initial=0.0)), 1e-50))
    size, count = d.size, stiff.size
    if count == 0:
        return rhs / np.maximum(d, 1e-200)
    gram_cost, outer_cost = _costs(rows, count)
    if rows.apart is not None:
        return _by_elimination(rows.apart, d, h, rhs)
    if size <= LARGEST and (gram_cost <= outer_cost or count > LARGEST):
        return _by_gram(rows, d, h, rhs)
    if count <= LARGEST:
        x, found = _by_outer(rows, stiff, d, h, rhs, parts)
        wide = size > max(_SMALL, min(_SQUARE * count, LARGEST))
        return x if found or wide else _by_gram(rows, d, h, rhs)
    return _by_gradients(rows.take(stiff), d, h[stiff], rhs, accuracy)


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


def _by_gram(rows: StackedRows, d: Array, h: Array, rhs: Array) -> Array:
    matrix = rows.gram(h)
    matrix.flat[:: d.size + 1] += d
    return cholesky(matrix)(rhs)


class Outer(NamedTuple):
    """x = solve(own, p) for the right-hand side own + R^T p; D_1^-1; by how much rows dwarf D."""

    solve: Callable[..., Array]
    inverse: Array
    amplified: float


def outer_factor(part: StackedRows, d: Array, h: Array) -> Outer:
    """Solutions by M = H^-1 + R_1 D_1^-1 R_1^T over the columns 1 that have curvature; h > 0.

    With the right-hand side own + R^T p, y = p - H R x, and the flat columns 2 in a Schur complement,

        M y = H^-1 p - R_1 D_1^-1 own_1 - R_2 x_2     D_2 x_2 = own_2 + R_2^T y     D_1 x_1 = own_1 + R_1^T y

    p = 0 keeps the digits of a small right-hand side, but none of a large one where rows dwarf D.
    """
    flat = _flat_columns(part, d, h)
    inverse = 1.0 / np.where(d > 0.0, d, 1.0)
    inverse[flat] = 0.0
    matrix = part.outer(inverse)
    amplified = float(np.max(matrix.diagonal() * h))
    matrix.flat[:: h.size + 1] += 1.0 / h
    inner = cholesky(matrix)
    if flat.size:
        columns = _columns(part, flat)
        solved = inner(columns)
        schur = cholesky(columns.T @ solved + np.diag(d[flat]))

    def apply(own: Array, p: Array | None = None) -> Array:
        right = -part.dot(inverse * own)
        y = inner(right if p is None else right + p / h)
        if flat.size:
            rest = schur(own[flat] + columns.T @ y)
            y -= solved @ rest
        x = inverse * (own + part.tdot(y))
        if flat.size:
            x[flat] = rest
        return x

    return Outer(apply, inverse, amplified)


def _by_outer(
    rows: StackedRows, stiff: Array, d: Array, h: Array, rhs: Array, parts: Parts | None
) -> tuple[Array, bool]:
    """By `outer_factor`, refined once. Returns x, and whether it is a solution."""
    part, h = rows.take(stiff), h[stiff]
    apply, inverse, amplified = outer_factor(part, d, h)

    def left(x: Array) -> Array:
        return rhs - d * x - part.tdot(h * part.dot(x))

    def solves(x: Array) -> bool:
        return bool(inverse @ left(x) ** 2 <= _ENOUGH**2 * (inverse @ rhs**2))

    x = apply(rhs)
    x += apply(left(x))
    if amplified <= _AMPLIFIED or solves(x):
        return x, True
    if parts is None:
        return x, False
    own, pushes = parts()
    p, pushes[stiff] = pushes[stiff], 0.0
    own += rows.tdot(pushes)
    x = apply(own, p)
    x += apply(own - d * x, p - h * part.dot(x))
    return x, solves(x)


def _by_elimination(parts: Apart, d: Array, h: Array, rhs: Array) -> Array:
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

    x = apply(rhs)
    left = rhs - d * x
    left[parts.rest] -= kept @ x[parts.rest] + cross @ x[parts.chosen]
    left[parts.chosen] -= (own - d[parts.chosen]) * x[parts.chosen] + cross.T @ x[parts.rest]
    return x + apply(left)


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
    diagonal = np.maximum(d + rows.square_columns(h), 1e-200)
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
