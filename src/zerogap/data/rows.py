"""Row storages behind one set of verbs. This is the only module that asks how a matrix is stored.

Python verbs, plain NumPy and float64 results whatever the stored precision:

    dot(x)           R x                              (n_rows,), or a column for each column of x
    tdot(u)          R^T u                            (n_columns,), or a column for each column of u
    gram(weights)    R^T diag(weights) R, weights >= 0 (n_columns, n_columns)
    outer(metric)    R diag(metric) R^T, metric >= 0  (n_rows, n_rows)
    take(rows)       the rows with these indices
    columns(chosen)  the columns with these indices
    square_norms(m)  sum_j r_ij^2 m_j                 (n_rows,)

Compiled verbs, for the coordinate kernels: `span`, `column`, `entry` walk the entries of one row, so that
one loop serves every storage.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from zerogap._jit import kernel, verb
from zerogap.data.numbers import as_floats, check_finite, check_sparse
from zerogap.exceptions import DataError

Array = np.ndarray

#: Entries converted to float64, or squared, at a time: temporaries stay small next to X.
_BLOCK_ENTRIES = 1 << 17
#: The same for products of matrices, which want larger blocks: as large as their result, if that is more.
_PRODUCT_ENTRIES = 1 << 20


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
    return np.uint64(rows.indptr[np.uint64(i)]), np.uint64(rows.indptr[np.uint64(i) + np.uint64(1)])


@column.on(Dense)
def _(rows, p, first):
    return np.uint64(p) - first


@column.on(Sparse)
def _(rows, p, first):
    return rows.indices[p]


@entry.on(Dense, Sparse)
def _(rows, p):
    return rows[0][p]


@kernel
def _add_rows(rows, u, out):
    """out += sum_i u_i r_i"""
    for i in range(u.size):
        if u[i] != 0.0:
            first, stop = span(rows, i)
            for p in range(first, stop):
                out[column(rows, p, first)] += u[i] * entry(rows, p)


@kernel
def _add_gram(rows, weights, out):
    """out += sum_i weights_i r_i r_i^T, out = 0 before; columns ascend within a row."""
    for i in range(weights.size):
        if weights[i] == 0.0:
            continue
        first, stop = span(rows, i)
        for p in range(first, stop):
            scaled = weights[i] * entry(rows, p)
            j = column(rows, p, first)
            for q in range(first, p):
                out[j, column(rows, q, first)] += scaled * entry(rows, q)
            out[j, j] += scaled * entry(rows, p)
    for j in range(out.shape[0]):
        for k in range(j):
            out[k, j] = out[j, k]


@kernel
def _add_square_columns(rows, weights, out):
    """out_j += sum_i weights_i r_ij^2"""
    for i in range(weights.size):
        first, stop = span(rows, i)
        for p in range(first, stop):
            out[column(rows, p, first)] += weights[i] * (np.float64(entry(rows, p)) * entry(rows, p))


@kernel
def _square_norms(rows, m, out):
    """out_i = sum_j r_ij^2 m_j"""
    for i in range(out.size):
        first, stop = span(rows, i)
        total = 0.0
        for p in range(first, stop):
            total += (np.float64(entry(rows, p)) * entry(rows, p)) * m[column(rows, p, first)]
        out[i] = total


class DenseRows:
    """Rows of a C-ordered float32 or float64 matrix, never copied."""

    def __init__(self, matrix: Array):
        self.matrix = matrix
        self.shape: tuple[int, int] = matrix.shape

    def _blocks(self, entries: int | None = None) -> Iterator[tuple[slice, Array]]:
        """Rows in float64: all at once where that takes no copy (and no number of `entries` is asked for)."""
        n, t = self.shape
        step = max(1, (entries or _BLOCK_ENTRIES) // max(t, 1))
        if entries is None and self.matrix.dtype == np.float64:
            step = n
        for start in range(0, n, max(step, 1)):
            rows = slice(start, start + step)
            yield rows, self.matrix[rows].astype(np.float64, copy=False)

    def dot(self, x: Array) -> Array:
        if self.matrix.dtype == np.float64:
            return self.matrix @ x
        out = np.empty((self.shape[0], *x.shape[1:]))
        for rows, block in self._blocks():
            np.dot(block, x, out=out[rows])
        return out

    def tdot(self, u: Array) -> Array:
        if self.matrix.dtype == np.float64:
            return self.matrix.T @ u
        out = np.zeros((*u.shape[1:], self.shape[1]))
        for rows, block in self._blocks():
            out += u[rows].T @ block
        return out.T

    def gram(self, weights: Array) -> Array:
        out = np.zeros((self.shape[1], self.shape[1]))
        if weights.size and weights[0] == np.min(weights) == np.max(weights):
            return weights[0] * sum((block.T @ block for _, block in self._blocks()), out)
        for rows, block in self._blocks(max(_PRODUCT_ENTRIES, self.shape[1] ** 2)):
            root = np.sqrt(weights[rows])
            used = np.flatnonzero(root)
            scaled = block * root[:, None] if used.size == root.size else block[used] * root[used][:, None]
            out += scaled.T @ scaled
        return out

    def outer(self, metric: Array) -> Array:
        """R diag(metric) R^T."""
        out, root = np.zeros((self.shape[0], self.shape[0])), np.sqrt(metric)
        step = max(self.shape[0], _PRODUCT_ENTRIES // max(self.shape[0], 1))
        for start in range(0, self.shape[1], step):
            scaled = self.matrix[:, start : start + step] * root[start : start + step]
            out += scaled @ scaled.T
        return out

    def take(self, rows: Array) -> "DenseRows":
        return DenseRows(self.matrix[rows])

    def columns(self, chosen: Array) -> "DenseRows":
        return DenseRows(np.ascontiguousarray(self.matrix[:, chosen]))

    def with_ones(self) -> "DenseRows":
        """The rows with a column of ones behind them (a copy)."""
        return DenseRows(np.hstack([self.matrix, np.ones((self.shape[0], 1), self.matrix.dtype)]))

    def square_norms(self, m: Array | float) -> Array:
        out = np.empty(self.shape[0])
        metric = np.broadcast_to(np.asarray(m, dtype=np.float64), (self.shape[1],))
        for rows, block in self._blocks():
            out[rows] = np.einsum("ij,ij,j->i", block, block, metric)
        return out

    def square_columns(self, weights: Array) -> Array:
        """sum_i weights_i r_ij^2 for every column."""
        out = np.zeros(self.shape[1])
        for rows, block in self._blocks():
            out += np.einsum("ij,ij,i->j", block, block, weights[rows])
        return out

    def magnitudes(self, x: Array) -> Array:
        """sum_j |r_ij x_j|: the size of the terms that `dot(x)` adds up."""
        out = np.empty(self.shape[0])
        for rows, block in self._blocks(_BLOCK_ENTRIES):
            out[rows] = np.abs(block) @ np.abs(x)
        return out

    def column_magnitudes(self, u: Array) -> Array:
        """sum_i |u_i r_ij|: the size of the terms that `tdot(u)` adds up."""
        out = np.zeros(self.shape[1])
        for rows, block in self._blocks(_BLOCK_ENTRIES):
            out += np.abs(u[rows]) @ np.abs(block)
        return out

    def dense(self) -> Array:
        """The rows as a float64 matrix."""
        return self.matrix.astype(np.float64, copy=False)

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
        """Rows in float64: all at once where that takes no copy."""
        n = self.shape[0]
        if self.matrix.dtype == np.float64:
            yield slice(0, n), self.matrix
            return
        step = max(1, int(_BLOCK_ENTRIES * n // max(self.matrix.nnz, 1)))
        for start in range(0, n, step):
            rows = slice(start, start + step)
            yield rows, self.matrix[rows].astype(np.float64, copy=False)

    def dot(self, x: Array) -> Array:
        if self.matrix.dtype == np.float64:
            return self.matrix @ x
        return np.concatenate([block @ x for _, block in self._blocks()])

    def tdot(self, u: Array) -> Array:
        if u.ndim > 1:
            return np.stack([self.tdot(part) for part in u.T], axis=-1)
        out = np.zeros(self.shape[1])
        _add_rows(self.compiled(), np.ascontiguousarray(u), out)
        return out

    def gram(self, weights: Array) -> Array:
        out = np.zeros((self.shape[1], self.shape[1]))
        _add_gram(self.compiled(), weights, out)
        return out

    def outer(self, metric: Array) -> Array:
        """R diag(metric) R^T."""
        block = self.matrix.astype(np.float64, copy=False)
        return (block @ sp.diags_array(metric) @ block.T).toarray()

    def take(self, rows: Array) -> "SparseRows":
        return SparseRows(self.matrix[rows])

    def columns(self, chosen: Array) -> "SparseRows":
        return SparseRows(self.matrix[:, chosen])

    def with_ones(self) -> "SparseRows":
        """The rows with a column of ones behind them (a copy)."""
        ones = sp.csr_array(np.ones((self.shape[0], 1), self.matrix.dtype))
        return SparseRows(sp.hstack([self.matrix, ones], format="csr"))

    def square_norms(self, m: Array | float) -> Array:
        out = np.empty(self.shape[0])
        metric = np.full(self.shape[1], m, dtype=np.float64)
        _square_norms(self.compiled(), metric, out)
        return out

    def square_columns(self, weights: Array) -> Array:
        """sum_i weights_i r_ij^2 for every column."""
        out = np.zeros(self.shape[1])
        _add_square_columns(self.compiled(), np.ascontiguousarray(weights, dtype=np.float64), out)
        return out

    def magnitudes(self, x: Array) -> Array:
        """sum_j |r_ij x_j|: the size of the terms that `dot(x)` adds up."""
        out = np.empty(self.shape[0])
        for rows, block in self._blocks():
            out[rows] = abs(block) @ np.abs(x)
        return out

    def column_magnitudes(self, u: Array) -> Array:
        """sum_i |u_i r_ij|: the size of the terms that `tdot(u)` adds up."""
        out = np.zeros(self.shape[1])
        for rows, block in self._blocks():
            out += abs(block).T @ np.abs(u[rows])
        return out

    def dense(self) -> Array:
        """The rows as a float64 matrix."""
        return self.matrix.toarray().astype(np.float64, copy=False)

    def compiled(self) -> Sparse:
        parts = self.matrix.indices, self.matrix.indptr
        indices, indptr = (a.view(np.uint32 if a.dtype == np.int32 else np.uint64) for a in parts)
        return Sparse(self.matrix.data, indices, indptr)

    @property
    def nonzeros(self) -> int:
        return int(self.matrix.nnz)


Rows = DenseRows | SparseRows


def as_rows(matrix: Any, name: str) -> Rows:
    """Rows over a matrix, without a copy when it is float CSR or a C-ordered float array."""
    if sp.issparse(matrix):
        check_sparse(matrix, name)
        csr = matrix.tocsr()
        if csr.dtype not in (np.float32, np.float64):
            csr = csr.astype(np.float64)
        if not csr.has_canonical_format:
            csr = csr.copy()
            csr.sum_duplicates()
        check_finite(csr.data, name)
        return SparseRows(csr)
    array = as_floats(matrix, name, kept=(np.float32, np.float64))
    if array.ndim != 2:
        hint = f". Reshape it with {name}.reshape(-1, 1)" if array.ndim == 1 else ""
        raise DataError(f"{name}: expected a 2-D matrix; got {array.ndim} dimension(s){hint}")
    array = np.ascontiguousarray(array)
    check_finite(array, name)
    return DenseRows(array)


def as_constraint_rows(matrix: Any, name: str) -> tuple[SparseRows, Array]:
    """Constraint rows (one row may be given as a vector) in CSR form, float64, and their norms."""
    if sp.issparse(matrix):
        check_sparse(matrix, name)
    else:
        matrix = np.atleast_2d(as_floats(matrix, name))
        if matrix.ndim != 2:
            raise DataError(f"{name}: expected a 2-D matrix, or a vector; got {matrix.ndim} dimensions")
    csr = sp.csr_array(matrix, dtype=np.float64, copy=True)  # the caller keeps theirs
    check_finite(csr.data, name)
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
