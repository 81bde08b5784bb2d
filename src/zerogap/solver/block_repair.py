"""Repair of a dual point over K outputs where f has no curvature: without it, the point gives no bound.

The blocks p_i = u_i + e_y are points of simplices. They are tilted, p_ik ~ p_ik exp(r_i . z_k), which keeps
them there; the z that brings the slopes of the flat features (and the intercepts) to zero is the
minimiser of a smooth convex function. A feature with an l1 term only asks |s_j| <= l1_j, which shrinking u
brings about.
"""

import numpy as np
import scipy.linalg

from zerogap.problem.block_problem import BlockProblem

Array = np.ndarray

STEPS, HALVINGS = 40, 30
#: Shares of a point with every class in every block, where the blocks alone leave no way.
MIXED = (0.0, 1e-12, 1e-9, 1e-6, 1e-3)
_ROUNDING = 4 * np.finfo(np.float64).eps


class BlockRepair:
    """Moves dual points onto the slopes that f without curvature allows."""

    def __init__(self, problem: BlockProblem):
        self.problem = problem
        flat = problem.flat
        self.any = flat.features.size > 0
        if not self.any:
            return
        K, t = problem.outputs, problem.n_features
        self.low, self.high = np.full((2, problem.rows.shape[1]), [[-np.inf], [np.inf]])
        self.low[flat.features], self.high[flat.features] = flat.low, flat.high
        fixed = (self.low == self.high).reshape(-1, K).all(axis=1)
        features = np.flatnonzero(fixed[:t])
        top = problem.rows.base.top
        self.fixed = np.flatnonzero(fixed)
        self.design = top.columns(features).dense() if features.size else np.zeros((problem.n_samples, 0))
        if problem.fit_intercept:
            self.design = np.column_stack([self.design, np.ones(problem.n_samples)])

    def __call__(self, u: Array, x: Array, stiffness: object = None) -> Array:
        """A point near u with finite D, or u itself where none is found."""
        problem = self.problem
        moved: Array | None = u
        if self.fixed.size:
            mixed = (self._tilted(self._mixed(u, share)) for share in MIXED)
            moved = next((point for point in mixed if point is not None), None)
        if moved is None:
            return u
        return self._shrunk(moved) if np.isfinite(problem.penalty.l1).all() else moved

    def _shrunk(self, u: Array) -> Array:
        """u times the largest factor <= 1 that brings every slope into its interval."""
        s = self.problem.slope(u)
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(s > 0, self.high, self.low) / s
        loose = self.low < self.high
        factor = float(np.min(room[loose & (s != 0.0)], initial=1.0))
        return u if factor >= 1.0 else np.maximum(factor, 0.0) * (1.0 - _ROUNDING) * u

    def _mixed(self, u: Array, share: float) -> Array:
        """A share of the point whose blocks are all the same, with the intercepts' slopes zero."""
        if share == 0.0:
            return u
        problem = self.problem
        n, w = problem.n_samples, problem.row_weight
        blocks = problem.blocks(u).copy()
        target = np.bincount(problem.y, w[:n], problem.outputs) - problem.rows.base.constants @ blocks[n:]
        target = np.maximum(target, 0.0)
        same = np.tile(target / target.sum(), (n, 1))
        same[np.arange(n), problem.y] -= 1.0
        blocks[:n] += share * (same - blocks[:n])
        return problem.project_dual(blocks.ravel())

    def _residual(self, blocks: Array) -> tuple[Array, Array]:
        """The slopes that should be zero, and the sizes of their terms."""
        problem = self.problem
        s = problem.blocks(problem.slope(blocks.ravel()))[self.fixed]
        n, w = problem.n_samples, problem.row_weight
        return s, np.abs(self.design.T) @ (w[:n, None] * np.abs(blocks[:n])) + 1e-300

    def _tilted(self, u: Array) -> Array | None:
        """The tilt of u with the slopes zero, by Newton steps; None where they find none."""
        problem = self.problem
        n, y = problem.n_samples, problem.y
        blocks = problem.blocks(u).copy()
        s, size = self._residual(blocks)
        for _ in range(STEPS):
            if (np.abs(s) <= _ROUNDING * size).all():
                return blocks.ravel()
            z = self._newton(blocks[:n], s)
            error = float(np.max(np.abs(s) / size))
            for _ in range(HALVINGS):
                trial = blocks.copy()
                trial[:n] = _tilt(blocks[:n], self.design @ z, y)
                new, new_size = self._residual(trial)
                if np.max(np.abs(new) / size) < error:
                    break
                z = 0.5 * z
            else:  # rounding: good enough for a bound, or not
                return blocks.ravel() if error <= 2.0 * _ROUNDING else None
            blocks, s, size = trial, new, new_size
        return None

    def _newton(self, blocks: Array, s: Array) -> Array:
        """-H^+ s with H = sum_i w_i r_i r_i^T (x) (diag(p_i) - p_i p_i^T)."""
        problem = self.problem
        n, K = blocks.shape
        p = blocks.copy()
        p[np.arange(n), problem.y] += 1.0
        weighted = problem.row_weight[:n, None] * p
        F = self.design.shape[1]
        matrix = np.zeros((F, K, F, K))
        for k in range(K):
            for other in range(K):
                weights = weighted[:, k] * ((k == other) - p[:, other])
                matrix[:, k, :, other] = self.design.T @ (weights[:, None] * self.design)
        whole = matrix.reshape(F * K, F * K)
        root = 1.0 / np.sqrt(np.maximum(whole.diagonal(), 1e-300))
        values, vectors = scipy.linalg.eigh(whole * root * root[:, None], check_finite=False)
        kept = values > 1e-13 * values[-1]
        inverse = np.where(kept, 1.0 / np.where(kept, values, 1.0), 0.0)
        return -(root * (vectors @ (inverse * (vectors.T @ (root * s.ravel()))))).reshape(F, K)


def _tilt(blocks: Array, exponents: Array, y: Array) -> Array:
    """p ~ p exp(exponents), as u = p - e_y; the small entries keep their accuracy."""
    rows = np.arange(y.size)
    exponents = exponents - exponents[rows, y][:, None]
    top = np.maximum(exponents.max(axis=1), 0.0)[:, None]
    own = (1.0 + blocks[rows, y])[:, None] * np.exp(-top)
    others = blocks * np.exp(exponents - top)
    others[rows, y] = 0.0
    others = np.maximum(others, 0.0)
    total = others.sum(axis=1, keepdims=True)
    out = others / (total + own)
    out[rows, y] = -np.minimum(out.sum(axis=1), 1.0)
    return out
