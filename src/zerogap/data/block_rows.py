"""Rows for K outputs: every row of a stack becomes a block of K, one for each output."""

from collections.abc import Callable

import numpy as np

from zerogap.data.stacked import StackedRows

Array = np.ndarray


class BlockRows:
    """R (x) I_K behind the verbs of `StackedRows`.

    Vectors are flat with the outputs running fastest: x.reshape(-1, K) has a column per output, its last row
    the intercepts.
    """

    def __init__(self, base: StackedRows, outputs: int):
        self.base, self.outputs = base, outputs
        self.intercept = base.intercept
        self.n_top = base.n_top * outputs
        self.shape = (base.shape[0] * outputs, base.shape[1] * outputs)

    def dot(self, x: Array) -> Array:
        base, n = self.base, self.base.n_top
        x = x.reshape(-1, self.outputs)
        t = base.top.shape[1]
        out = np.empty((base.shape[0], self.outputs))
        out[:n] = base.top.dot(x[:t])
        if base.bottom.shape[0]:
            out[n:] = base.bottom.dot(x[:t])
        if self.intercept:
            out[:n] += x[t]
            out[n:] += np.multiply.outer(base.constants, x[t])
        return out.ravel()

    def tdot(self, u: Array) -> Array:
        base, n = self.base, self.base.n_top
        u = u.reshape(-1, self.outputs)
        s = base.top.tdot(u[:n])
        if base.bottom.shape[0]:
            s = s + base.bottom.tdot(u[n:])
        if self.intercept:
            s = np.vstack([s, u[:n].sum(axis=0) + base.constants @ u[n:]])
        return np.ascontiguousarray(s).ravel()

    def _each(self, verb: Callable[[Array], Array], values: Array) -> Array:
        """A verb of the stack on each output by itself."""
        parts = [verb(np.ascontiguousarray(part)) for part in values.reshape(-1, self.outputs).T]
        return np.stack(parts, axis=-1).ravel()

    def square_columns(self, weights: Array) -> Array:
        """sum_i weights_i r_ij^2 for every column."""
        return self._each(self.base.square_columns, weights)

    def column_magnitudes(self, u: Array) -> Array:
        """sum_i |u_i r_ij| for every column."""
        return self._each(self.base.column_magnitudes, u)

    def constraint_magnitudes(self, x: Array) -> Array:
        """sum_j |r_ij x_j| for the constraint rows."""
        return self._each(self.base.constraint_magnitudes, x)

    def square_norms(self, m: Array, free: float = 0.0) -> Array:
        """sum_j r_ij^2 m_j over the features, plus `free` times the squared intercept coefficient."""
        return self._each(lambda own: self.base.square_norms(own, free), m)

    @property
    def nonzeros(self) -> int:
        return self.base.nonzeros * self.outputs
