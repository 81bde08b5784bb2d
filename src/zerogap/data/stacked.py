"""Data rows and constraint rows behind one set of verbs, with the intercept's column of ones."""

import functools
import hashlib

import numpy as np

from zerogap.data.apart import Apart, find
from zerogap.data.rows import DenseRows, Rows, SparseRows, Stacked

Array = np.ndarray

#: Constraint rows with more than this share of entries are multiplied as dense ones.
DENSE = 0.5


class StackedRows:
    """Data rows above constraint rows. With an intercept there is one more column: 1 in every data row."""

    def __init__(self, top: Rows, bottom: Rows, constants: Array, intercept: bool):
        self.top, self.bottom = top, bottom
        self.constants = constants
        self.intercept = intercept
        self.n_top = top.shape[0]
        self.shape = (self.n_top + bottom.shape[0], top.shape[1] + int(intercept))
        # on small data, a product with an empty sparse matrix costs more than all others
        self.constrained = bottom.shape[0] > 0
        # products with rows that touch most columns are quicker by far where these are stored densely
        full = isinstance(bottom, SparseRows) and bottom.nonzeros > DENSE * bottom.shape[0] * bottom.shape[1]
        self._products: Rows = DenseRows(bottom.dense()) if full else bottom
        self._known_gram: tuple[bytes, Array] | None = None

    def _split(self, x: Array) -> tuple[Array, float]:
        t = self.top.shape[1]
        return x[:t], float(x[t]) if self.intercept else 0.0

    def dot(self, x: Array) -> Array:
        x, b = self._split(x)
        if not self.constrained:
            out = self.top.dot(x)
            return out + b if b != 0.0 else out
        out = np.empty(self.shape[0])
        out[: self.n_top] = self.top.dot(x)
        out[self.n_top :] = self._products.dot(x)
        if b != 0.0:
            out[: self.n_top] += b
            out[self.n_top :] += b * self.constants
        return out

    def tdot(self, u: Array) -> Array:
        above = u[: self.n_top]
        s = self.top.tdot(above)
        total = above.sum() if self.intercept else 0.0
        if self.constrained:
            s += self._products.tdot(u[self.n_top :])
            total += u[self.n_top :] @ self.constants
        return np.append(s, total) if self.intercept else s

    @functools.cached_property
    def apart(self) -> Apart | None:
        """The columns that stand apart, where they are most of all."""
        return find(self)

    def take(self, rows: Array) -> "StackedRows":
        if not self.constrained:
            return StackedRows(self.top.take(rows), self.bottom, self.constants, self.intercept)
        above, below = rows[rows < self.n_top], rows[rows >= self.n_top] - self.n_top
        return StackedRows(
            self.top.take(above), self._products.take(below), self.constants[below], self.intercept
        )

    def columns(self, chosen: Array) -> "StackedRows":
        """The rows with these features only (and the intercept, if there is one)."""
        return StackedRows(
            self.top.columns(chosen), self.bottom.columns(chosen), self.constants, self.intercept
        )

    def gram(self, weights: Array) -> Array:
        t = self.top.shape[1]
        above, below = weights[: self.n_top], weights[self.n_top :]
        out = np.zeros((self.shape[1], self.shape[1]))
        out[:t, :t] = self._top_gram(above)
        edge = self.top.tdot(above) if self.intercept else None
        if self.constrained:
            out[:t, :t] += self._products.gram(below)
            if self.intercept:
                edge += self._products.tdot(below * self.constants)
        if self.intercept:
            out[t, :t] = out[:t, t] = edge
            out[t, t] = above.sum() + below @ self.constants**2
        return out

    def _top_gram(self, weights: Array) -> Array:
        """That of the data rows, formed once for weights that stay (those of a squared loss do)."""
        if weights.size and weights.min() <= 0.0:  # the active rows of a kinked loss, which change
            return self.top.gram(weights)
        digest = hashlib.blake2b(
            weights.data, digest_size=16
        ).digest()  # a copy would be one more long vector
        if self._known_gram is None or self._known_gram[0] != digest:
            self._known_gram = digest, self.top.gram(weights)
        return self._known_gram[1]

    def outer(self, metric: Array) -> Array:
        """R diag(metric) R^T, with the intercept's entry of `metric` last."""
        metric, free = self._split(metric)
        n = self.n_top
        if not self.constrained:
            out = self.top.outer(metric)
        else:
            top, bottom = self.top.dense(), self._products.dense()
            scaled = np.vstack([top, bottom]) * np.sqrt(metric)
            out = scaled @ scaled.T
        if free:
            constants = np.append(np.ones(n), self.constants)
            out += free * np.outer(constants, constants)
        return out

    def dense(self) -> Array:
        """The rows as a float64 matrix (a copy), the intercept's column last; for a few of them."""
        n, t = self.top.shape
        out = np.empty(self.shape)
        out[:n, :t] = self.top.dense()
        if self.constrained:
            out[n:, :t] = self._products.dense()
        if self.intercept:
            out[:n, t] = 1.0
            out[n:, t] = self.constants
        return out

    def square_norms(self, m: Array | float, free: float = 0.0) -> Array:
        """sum_j r_ij^2 m_j over the features, plus `free` times the squared intercept coefficient."""
        out = np.empty(self.shape[0])
        out[: self.n_top] = self.top.square_norms(m)
        if self.constrained:
            out[self.n_top :] = self._products.square_norms(m)
        if self.intercept:
            out[: self.n_top] += free
            out[self.n_top :] += free * self.constants**2
        return out

    def square_columns(self, weights: Array) -> Array:
        """sum_i weights_i r_ij^2 for every column, the intercept's last."""
        above, below = weights[: self.n_top], weights[self.n_top :]
        out = self.top.square_columns(above)
        if self.constrained:
            out += self._products.square_columns(below)
        if self.intercept:
            out = np.append(out, above.sum() + below @ self.constants**2)
        return out

    def constraint_magnitudes(self, x: Array) -> Array:
        """sum_j |r_ij x_j| for the constraint rows."""
        x, b = self._split(x)
        return self._products.magnitudes(x) + np.abs(b * self.constants)

    def column_magnitudes(self, u: Array) -> Array:
        """sum_i |u_i r_ij| for every column, the intercept's last."""
        above, below = u[: self.n_top], u[self.n_top :]
        out = self.top.column_magnitudes(above)
        if self.constrained:
            out += self._products.column_magnitudes(below)
        if self.intercept:
            out = np.append(out, np.abs(above).sum() + np.abs(below) @ np.abs(self.constants))
        return out

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
        return isinstance(self.top, DenseRows) and not self.constrained

    @property
    def nonzeros(self) -> int:
        return self.top.nonzeros + self.bottom.nonzeros
