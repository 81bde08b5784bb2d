"""The features' own functions as rows of the identity."""

import numpy as np

from zerogap.problem.regularizers import SeparablePenalty

Array = np.ndarray


class IdentityRows:
    """The prox of psi_j*, psi_j(x) = l1_j |x| + indicator of the box, for every feature."""

    def __init__(self, penalty: SeparablePenalty, extra: int):
        full = np.zeros(penalty.n_features + extra)
        t = penalty.n_features
        self.l1, self.lower, self.upper = full.copy(), full - np.inf, full + np.inf
        self.l1[:t], self.lower[:t], self.upper[:t] = penalty.l1, penalty.lower, penalty.upper
        self.any = bool(self.l1.any() or np.isfinite(self.lower).any() or np.isfinite(self.upper).any())

    def point(self, x: Array, v: Array, s: Array) -> Array:
        """prox_{psi/s}(x + v/s): the feature value that psi sees."""
        a = x + v / s
        soft = np.maximum(a - self.l1 / s, 0.0) + np.minimum(a + self.l1 / s, 0.0)
        return np.clip(soft, self.lower, self.upper)

    def force(self, x: Array, v: Array, s: Array) -> Array:
        """v_new = v + s (x - point)."""
        return v + s * (x - self.point(x, v, s))

    def stiffness(self, x: Array, v: Array, s: Array) -> Array:
        """dv_new/dx: s where psi pins the feature, 0 where it is free."""
        point = self.point(x, v, s)
        free = (point > self.lower) & (point < self.upper) & ((self.l1 == 0.0) | (point != 0.0))
        return np.where(free, 0.0, s)
