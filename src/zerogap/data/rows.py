"""Row storages behind one set of verbs. This is the only module that asks how a matrix is stored.

Python verbs, plain NumPy and float64 results whatever the stored precision:

    dot(x)           R x                              (n_rows,)
    tdot(u)          R^T u                            (n_columns,)
    gram(weights)    R^T diag(weights) R              (n_columns, n_columns)
    take(rows)       the rows with these indices
    square_norms(m)  sum_j r_ij^2 m_j                 (n_rows,)

Compiled verbs, for the coordinate kernels: `span`, `column`, `entry` walk the entries of one row, so that
one loop serves every storage.
"""

import functools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from zerogap._jit import verb
from zerogap.exceptions import DataError

Array = np.ndarray

#: Entries converted to float64 at a time when X is stored in single precision.
_BLOCK_ENTRIES = 1 << 20


class Dense(NamedTuple):
    """Rows of a C-ordered matrix, flattened."""

    values: Array
    width: int


class Sparse(NamedTuple):
    """Rows in CSR form. Unsigned indices and pointers spare the kernels a wrap-around check per access."""

    data: Array
    indices: Array
    indptr: Array


class Stacked(NamedTuple):
    """`n_top` data rows above constraint rows, with the coefficient of the intercept in each."""

    top: Any
    bottom: Any
    n_top: int
    constant: float
    constants: Array


@verb
def span(rows, i):
    """First and one past the last position of row i's entries."""


@verb
def column(rows, p, first):
    """Column of the entry at position p of the row that starts at `first`."""


@verb
def entry(rows, p):
    """Value of the entry at position p."""


@span.on(Dense)
def _(rows, i):
    first = np.uint64(i) * np.uint64(rows.width)
    return first, first + np.uint64(rows.width)


@span.on(Sparse)
def _(rows, i):
    return rows.indptr[np.uint64(i)], rows.indptr[np.uint64(i) + np.uint64(1)]


@column.on(Dense)
def _(rows, p, first):
    return p - first


@column.on(Sparse)
def _(rows, p, first):
    return rows.indices[p]


@entry.on(Dense, Sparse)
def _(rows, p):
    return rows[0][p]


class DenseRows:
    """Rows of a C-ordered float32 or float64 matrix, never copied."""

    def __init__(self, matrix: Array):
        self.matrix = matrix
        self.shape: tuple[int, int] = matrix.shape

    def _blocks(self) -> Iterator[tuple[slice, Array]]:
        n, t = self.shape
        step = n if self.matrix.dtype == np.float64 else max(1, _BLOCK_ENTRIES // max(t, 1))
        for start in range(0, n, max(step, 1)):
            rows = slice(start, start + step)
            yield rows, self.matrix[rows].astype(np.float64, copy=False)

    def dot(self, x: Array) -> Array:
        out = np.empty(self.shape[0])
        for rows, block in self._blocks():
            np.dot(block, x, out=out[rows])
        return out

    def tdot(self, u: Array) -> Array:
        out = np.zeros(self.shape[1])
        for rows, block in self._blocks():
            out += u[rows] @ block
        return out

    def gram(self, weights: Array) -> Array:
        out = np.zeros((self.shape[1], self.shape[1]))
        for rows, block in self._blocks():
            out += (block.T * weights[rows]) @ block
        return out

    def take(self, rows: Array) -> "DenseRows":
        return DenseRows(self.matrix[rows])

    def square_norms(self, m: Array | float) -> Array:
        out = np.empty(self.shape[0])
        metric = np.broadcast_to(np.asarray(m, dtype=np.float64), (self.shape[1],))
        for rows, block in self._blocks():
            out[rows] = np.einsum("ij,ij,j->i", block, block, metric)
        return out

    def magnitudes(self, x: Array) -> Array:
        """sum_j |r_ij x_j|: the size of the terms that `dot(x)` adds up."""
        out = np.empty(self.shape[0])
        for rows, block in self._blocks():
            out[rows] = np.abs(block) @ np.abs(x)
        return out

    def compiled(self) -> Dense:
        return Dense(self.matrix.reshape(-1), self.shape[1])

    @property
    def nonzeros(self) -> int:
        return self.matrix.size


class SparseRows:
    """Rows of a canonical CSR matrix, never copied."""

    def __init__(self, matrix: Any):
        self.matrix = matrix
        self.shape: tuple[int, int] = matrix.shape

    def _blocks(self) -> Iterator[tuple[slice, Any]]:
        n = self.shape[0]
        if self.matrix.dtype == np.float64:
            yield slice(0, n), self.matrix
            return
        step = max(1, int(_BLOCK_ENTRIES * n // max(self.matrix.nnz, 1)))
        for start in range(0, n, step):
            rows = slice(start, start + step)
            yield rows, self.matrix[rows].astype(np.float64)

    def dot(self, x: Array) -> Array:
        out = np.empty(self.shape[0])
        for rows, block in self._blocks():
            out[rows] = block @ x
        return out

    def tdot(self, u: Array) -> Array:
        out = np.zeros(self.shape[1])
        for rows, block in self._blocks():
            out += block.T @ u[rows]
        return out

    def gram(self, weights: Array) -> Array:
        out = np.zeros((self.shape[1], self.shape[1]))
        for rows, block in self._blocks():
            out += (block.T @ sp.diags_array(weights[rows]) @ block).toarray()
        return out

    def take(self, rows: Array) -> "SparseRows":
        return SparseRows(self.matrix[rows])

    def square_norms(self, m: Array | float) -> Array:
        out = np.empty(self.shape[0])
        metric = np.broadcast_to(np.asarray(m, dtype=np.float64), (self.shape[1],))
        for rows, block in self._blocks():
            out[rows] = block.multiply(block) @ metric
        return out

    def magnitudes(self, x: Array) -> Array:
        """sum_j |r_ij x_j|: the size of the terms that `dot(x)` adds up."""
        out = np.empty(self.shape[0])
        for rows, block in self._blocks():
            out[rows] = abs(block) @ np.abs(x)
        return out

    @functools.cached_property
    def _pointers(self) -> Array:
        return self.matrix.indptr.astype(np.int64, copy=False).view(np.uint64)

    def compiled(self) -> Sparse:
        indices = self.matrix.indices
        unsigned = np.uint32 if indices.dtype == np.int32 else np.uint64
        return Sparse(self.matrix.data, indices.view(unsigned), self._pointers)

    @property
    def nonzeros(self) -> int:
        return int(self.matrix.nnz)


Rows = DenseRows | SparseRows


class StackedRows:
    """Data rows above constraint rows. With an intercept there is one more column: 1 in every data row."""

    def __init__(self, top: Rows, bottom: SparseRows, constants: Array, intercept: bool):
        self.top, self.bottom = top, bottom
        self.constants = constants
        self.intercept = intercept
        self.n_top = top.shape[0]
        self.shape = (self.n_top + bottom.shape[0], top.shape[1] + int(intercept))

    def _split(self, x: Array) -> tuple[Array, float]:
        t = self.top.shape[1]
        return x[:t], float(x[t]) if self.intercept else 0.0

    def dot(self, x: Array) -> Array:
        x, b = self._split(x)
        out = np.empty(self.shape[0])
        out[: self.n_top] = self.top.dot(x)
        out[self.n_top :] = self.bottom.dot(x)
        if b != 0.0:
            out[: self.n_top] += b
            out[self.n_top :] += b * self.constants
        return out

    def tdot(self, u: Array) -> Array:
        s = self.top.tdot(u[: self.n_top])
        if self.bottom.shape[0]:
            s += self.bottom.tdot(u[self.n_top :])
        if self.intercept:
            s = np.append(s, u[: self.n_top].sum() + u[self.n_top :] @ self.constants)
        return s

    def take(self, rows: Array) -> "StackedRows":
        above, below = rows[rows < self.n_top], rows[rows >= self.n_top] - self.n_top
        return StackedRows(
            self.top.take(above), self.bottom.take(below), self.constants[below], self.intercept
        )

    def gram(self, weights: Array) -> Array:
        t = self.top.shape[1]
        above, below = weights[: self.n_top], weights[self.n_top :]
        out = np.zeros((self.shape[1], self.shape[1]))
        out[:t, :t] = self.top.gram(above)
        if below.size:
            out[:t, :t] += self.bottom.gram(below)
        if self.intercept:
            edge = self.top.tdot(above) + self.bottom.tdot(below * self.constants)
            out[t, :t] = out[:t, t] = edge
            out[t, t] = above.sum() + below @ self.constants**2
        return out

    def square_norms(self, m: Array | float, free: float = 0.0) -> Array:
        """sum_j r_ij^2 m_j over the features, plus `free` times the squared intercept coefficient."""
        out = np.empty(self.shape[0])
        out[: self.n_top] = self.top.square_norms(m)
        out[self.n_top :] = self.bottom.square_norms(m)
        if self.intercept:
            out[: self.n_top] += free
            out[self.n_top :] += free * self.constants**2
        return out

    def constraint_magnitudes(self, x: Array) -> Array:
        """sum_j |r_ij x_j| for the constraint rows."""
        x, b = self._split(x)
        return self.bottom.magnitudes(x) + np.abs(b * self.constants)

    def compiled(self) -> Stacked:
        return Stacked(
            self.top.compiled(),
            self.bottom.compiled(),
            self.n_top,
            float(self.intercept),
            self.constants,
        )

    @property
    def all_dense(self) -> bool:
        """Every row touches every feature."""
        return isinstance(self.top, DenseRows) and self.bottom.shape[0] == 0

    @property
    def nonzeros(self) -> int:
        return self.top.nonzeros + self.bottom.nonzeros


def as_rows(matrix: Any, name: str) -> Rows:
    """Rows over a matrix, without a copy when it is float CSR or a C-ordered float array."""
    if sp.issparse(matrix):
        csr = matrix.tocsr()
        if csr.dtype not in (np.float32, np.float64):
            csr = csr.astype(np.float64)
        if not csr.has_canonical_format:
            csr = csr.copy()
            csr.sum_duplicates()
        _check_finite(csr.data, name)
        return SparseRows(csr)
    try:
        array = np.asarray(matrix)
        if array.dtype not in (np.float32, np.float64):
            array = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name}: expected numbers; got {matrix!r:.80}") from error
    if array.ndim != 2:
        hint = f". Reshape it with {name}.reshape(-1, 1)" if array.ndim == 1 else ""
        raise DataError(f"{name}: expected a 2-D matrix; got {array.ndim} dimension(s){hint}")
    array = np.ascontiguousarray(array)
    _check_finite(array, name)
    return DenseRows(array)


def as_constraint_rows(matrix: Any, name: str) -> tuple[SparseRows, Array]:
    """Constraint rows (one row may be given as a vector) in CSR form, float64, and their norms."""
    if not sp.issparse(matrix):
        matrix = np.atleast_2d(np.asarray(matrix, dtype=np.float64))
        _check_finite(matrix, name)
    csr = sp.csr_array(matrix, dtype=np.float64, copy=True)  # the caller keeps theirs
    _check_finite(csr.data, name)
    csr.sum_duplicates()
    csr.eliminate_zeros()
    rows = SparseRows(csr)
    return rows, np.sqrt(rows.square_norms(1.0))


def stack_sparse(blocks: list[SparseRows], n_columns: int) -> SparseRows:
    """One CSR block from several; none at all gives an empty block."""
    if not blocks:
        return SparseRows(sp.csr_array((0, n_columns), dtype=np.float64))
    return SparseRows(sp.vstack([block.matrix for block in blocks], format="csr"))


def split_last_column(rows: SparseRows) -> tuple[SparseRows, Array]:
    """The rows without their last column, and that column as a vector (the intercept's coefficients)."""
    last = rows.matrix[:, [rows.shape[1] - 1]].toarray().ravel()
    return SparseRows(sp.csr_array(rows.matrix[:, :-1])), last


def empty_rows(n_columns: int) -> Rows:
    """No rows at all, for a problem made of constraints only."""
    return DenseRows(np.zeros((0, n_columns)))


def _check_finite(values: Array, name: str) -> None:
    """Raise when a value is NaN or infinite, without a temporary of the size of `values`."""
    if np.isfinite(values.sum(dtype=np.float64)):
        return
    flat = values.reshape(-1)
    for start in range(0, flat.size, _BLOCK_ENTRIES):
        bad = ~np.isfinite(flat[start : start + _BLOCK_ENTRIES])
        if bad.any():
            number = flat[start + int(bad.argmax())]
            raise DataError(f"{name}: expected finite numbers; got {number} (and maybe more)")
