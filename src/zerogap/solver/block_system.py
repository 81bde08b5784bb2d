"""Solves the Newton systems of blocks by whichever way is cheapest.

    (diag(d) + sum_i r_i r_i^T (x) (diag(q_i) - q_i q_i^T / sum(q_i)) + constraint rows) x = rhs

A constraint row's block is diag(q_i). Vectors are flat, the outputs running fastest.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from zerogap.data.block_rows import BlockRows
from zerogap.solver.newton_system import LARGEST, cholesky

Array = np.ndarray

#: Multiply-adds up to which a factor needs no thought, and steps of conjugate gradients that others cost.
CHEAP, USUAL_STEPS = 3e7, 60
STEPS = 250


class BlockSystem:
    """Remembers which way worked."""

    def __init__(self, rows: BlockRows, n_data: int):
        self.rows, self.n_data = rows, n_data
        self._gradients_fail = False

    def solve(
        self, rows: BlockRows, d: Array, h: Array, rhs: Array, accuracy: float, parts: Any = None
    ) -> Array:
        """x, exactly or to `accuracy` in the norm of the preconditioner."""
        K = rows.outputs
        q = h.reshape(-1, K)
        live = np.flatnonzero(q.any(axis=1))
        if not live.size:
            return rhs / d
        part = _Part(rows, self.n_data, d, q, live)
        by_gram, by_outer = part.costs()
        direct = min(by_gram, by_outer)
        if direct > CHEAP and not self._gradients_fail and direct > part.gradient_cost(USUAL_STEPS):
            x = part.by_gradients(rhs, accuracy)
            if x is not None:
                return x
            self._gradients_fail = np.isfinite(direct)
        if not np.isfinite(direct):
            return part.by_gradients(rhs, accuracy, patient=True)
        return part.by_gram(rhs) if by_gram <= by_outer else part.by_outer(rhs)


class _Part:
    """One system, over the rows that have curvature."""

    def __init__(self, rows: BlockRows, n_data: int, d: Array, q: Array, live: Array):
        everything = live.size == q.shape[0]
        self.d, self.q = d, q if everything else q[live]
        self.base = rows.base if everything else rows.base.take(live)
        self.rows = BlockRows(self.base, rows.outputs)
        self.is_data = live < n_data
        total = self.q.sum(axis=1)
        self.share = np.where(self.is_data, 1.0 / total, 0.0)
        apart = d.reshape(-1, rows.outputs)
        self.alike = bool((apart == apart[:, :1]).all())

    def _curvature(self, m: Array) -> Array:
        """The blocks times the margins m."""
        m = m.reshape(self.q.shape)
        image = self.q * m
        image -= self.q * (self.share * image.sum(axis=1))[:, None]
        return image.ravel()

    def apply(self, x: Array) -> Array:
        return self.d * x + self.rows.tdot(self._curvature(self.rows.dot(x)))

    def costs(self) -> tuple[float, float]:
        """Multiply-adds of the factor of the whole matrix, and of the one over the blocks' ranges."""
        n, K = self.q.shape
        size, width = self.base.shape[1], self.base.nonzeros / n
        whole = size * K
        by_gram = 0.5 * K * (K + 1) * n * width**2 + whole**3 / 3
        count = self._ranks().sum()
        by_outer = n**2 * width * (1 if self.alike else K) + count**2 * K + count**3 / 3
        return by_gram if whole <= LARGEST else np.inf, by_outer if count <= LARGEST else np.inf

    def gradient_cost(self, steps: float) -> float:
        return 4.0 * steps * self.rows.nonzeros

    def _ranks(self) -> Array:
        return (self.q > 0.0).sum(axis=1) - self.is_data

    def by_gram(self, rhs: Array) -> Array:
        """By a factor of the whole matrix."""
        K = self.q.shape[1]
        size = self.base.shape[1]
        matrix = np.empty((size, K, size, K))
        for k in range(K):
            for other in range(k):
                block = -self.base.gram(self.q[:, k] * self.q[:, other] * self.share)
                matrix[:, k, :, other] = matrix[:, other, :, k] = block
            own = self.q[:, k] - self.q[:, k] ** 2 * self.share
            matrix[:, k, :, k] = self.base.gram(np.maximum(own, 0.0))
        whole = matrix.reshape(size * K, size * K)
        whole.flat[:: size * K + 1] += self.d
        return cholesky(whole)(rhs)

    def by_outer(self, rhs: Array) -> Array:
        """(D + G^T G)^-1 by Woodbury, refined once; G has a row for each direction a block leaves free."""
        n, K = self.q.shape
        owner, factor = _factors(self.q, self.is_data)
        inverse = 1.0 / np.maximum(self.d, 1e-200)  # a column of zeros has none, and needs none
        apart = inverse.reshape(-1, K)
        matrix = np.zeros((owner.size, owner.size))
        if self.alike:
            matrix += self.base.outer(np.ascontiguousarray(apart[:, 0]))[np.ix_(owner, owner)]
            matrix *= factor @ factor.T
        else:
            for k in range(K):
                own = self.base.outer(np.ascontiguousarray(apart[:, k]))[np.ix_(owner, owner)]
                matrix += own * np.multiply.outer(factor[:, k], factor[:, k])
        matrix.flat[:: owner.size + 1] += 1.0
        inner = cholesky(matrix)
        columns = (owner[:, None] * K + np.arange(K)).ravel()
        starts = np.arange(owner.size + 1) * K
        spread = sp.csr_array((factor.ravel(), columns, starts), shape=(owner.size, n * K))

        def apply(b: Array) -> Array:
            scaled = inverse * b
            return scaled - inverse * self.rows.tdot(spread.T @ inner(spread @ self.rows.dot(scaled)))

        x = apply(rhs)
        return x + apply(rhs - self.apply(x))

    def _preconditioner(self) -> Callable[[Array], Array]:
        """The diagonal blocks of the classes, kept off the direction that is common to all of them."""
        K = self.q.shape[1]
        apart = self.d.reshape(-1, K)
        own = self.q - self.q**2 * self.share[:, None]
        if self.base.shape[1] > 1500:
            diagonal = self.d + self.rows.square_columns(own.ravel())
            return lambda r: r / diagonal
        solvers = []
        for k in range(K):
            matrix = self.base.gram(np.maximum(own[:, k], 0.0))
            matrix.flat[:: matrix.shape[0] + 1] += apart[:, k]
            solvers.append(cholesky(matrix))

        def apply(r: Array) -> Array:
            r = r.reshape(-1, K)
            out = np.stack([solve(np.ascontiguousarray(r[:, k])) for k, solve in enumerate(solvers)], axis=1)
            if self.alike:
                out -= out.mean(axis=1, keepdims=True)
                common = r.mean(axis=1, keepdims=True)
                out += common / apart[:, :1]
            return out.ravel()

        return apply

    def by_gradients(self, rhs: Array, accuracy: float, patient: bool = False) -> Any:
        """Preconditioned conjugate gradients; None where they do not get there."""
        precondition = self._preconditioner()
        x = np.zeros_like(rhs)
        residual = rhs.copy()
        z = precondition(residual)
        direction, along = z.copy(), float(residual @ z)
        goal = accuracy**2 * along
        for count in range(STEPS * (4 if patient else 1)):
            if along <= goal:
                self.steps = count
                return x
            image = self.apply(direction)
            step = along / float(direction @ image)
            x += step * direction
            residual -= step * image
            z = precondition(residual)
            along, before = float(residual @ z), along
            direction = z + (along / before) * direction
        return x if patient else None


def _factors(q: Array, is_data: Array) -> tuple[Array, Array]:
    """Rows V_c with sum over a block's c of V_c^T V_c = its matrix, and the block that each belongs to.

    diag(q) - q q^T / s = s diag(e) (I - e e^T) diag(e) with e = sqrt(q / s), a unit vector. A Householder
    reflection that takes e to a unit vector of an output with q > 0 has I - e e^T in its other rows.
    """
    K = q.shape[1]
    owner, factor = [], []
    data = np.flatnonzero(is_data)
    e = np.sqrt(q[data] / q[data].sum(axis=1, keepdims=True))
    pivot = e.argmax(axis=1)
    v = e.copy()
    v[np.arange(data.size), pivot] += 1.0
    beta = 1.0 / (1.0 + e[np.arange(data.size), pivot])  # 2 / |v|^2
    root = np.sqrt(q[data])
    for k in range(K):
        used = np.flatnonzero((q[data, k] > 0.0) & (pivot != k))
        rows = -(beta[used] * v[used, k])[:, None] * v[used]
        rows[:, k] += 1.0
        owner.append(data[used])
        factor.append(rows * root[used])
    ranges = np.flatnonzero(~is_data)
    for k in range(K):
        used = ranges[q[ranges, k] > 0.0]
        rows = np.zeros((used.size, K))
        rows[:, k] = np.sqrt(q[used, k])
        owner.append(used)
        factor.append(rows)
    return np.concatenate(owner), np.vstack(factor)
