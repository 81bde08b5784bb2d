"""The three problems of the paper's section "Numerical Experiments", drawn as its text says.

    (1)  lambda f(x) + 1/(2n) ||A'x - b||_2^2
    (2)  lambda f(x) + 1/n ||A'x - b||_1
    (3)  f(x)  subject to  -tau <= A'x - b <= tau           f(x) = ||x||_1 + mu/2 ||x||^2

A is t x n with entries uniform on [0, 1] and columns of norm 1; t/10 entries of x are nonzero (all of them
in Figure 4, where f is mu/2 ||x||^2 alone); b = A'x + w. What the text leaves open is fixed here, once:
the nonzeros of x are N(0, 1), and w's N(0, tau) in (1) and (2) has variance tau = 1e-3, the largest tau
that the text names. In (2) a tenth of w is nonzero; in (3) w is uniform on [-tau, tau].

A two-sided row of (3) is one dual coordinate here (the paper's formulation has two), so n-hat = n.
"""

import dataclasses
import zlib

import numpy as np

from zerogap.problem.constraints import Between
from zerogap.problem.problem import Problem
from zerogap.problem.regularizers import L2, ElasticNet

T, N, MU = 1000, 200, 0.1
NOISE_VARIANCE = 1e-3
LEVELS = (1e-3, 1e-4, 1e-5)

#: Loss or constraint of each problem, and whether f has its l1 term and x its zeros.
KINDS = {"squared": True, "absolute": True, "sup": True, "absolute-dense": False}


@dataclasses.dataclass(frozen=True)
class Draw:
    """One random instance: `kind` of KINDS, `level` = lambda or tau, and the seed of its numbers."""

    kind: str
    level: float
    seed: int
    t: int = T
    n: int = N

    def problem(self) -> Problem:
        """The instance as a library problem."""
        # the same A and x for every level, so that only lambda or tau changes along a row of panels
        rng = np.random.default_rng([self.seed, zlib.crc32(self.kind.encode())])
        sparse = KINDS[self.kind]
        rows = rng.uniform(size=(self.n, self.t))
        rows /= np.linalg.norm(rows, axis=1)[:, None]
        x = np.zeros(self.t)
        support = rng.choice(self.t, self.t // 10 if sparse else self.t, replace=False)
        x[support] = rng.standard_normal(support.size)
        b = rows @ x + self._noise(rng)
        l2, l1 = MU, 1.0 if sparse else 0.0
        if self.kind == "sup":
            ball = Between(rows, b - self.level, b + self.level)
            return Problem(None, None, regularizer=ElasticNet(l2, l1), constraints=[ball])
        loss = self.kind.split("-")[0]
        level = self.level
        penalty = ElasticNet(level * l2, level * l1) if sparse else L2(level * l2)
        return Problem(rows, b, loss=loss, regularizer=penalty)

    def _noise(self, rng: np.random.Generator) -> np.ndarray:
        if self.kind == "sup":
            return rng.uniform(-self.level, self.level, self.n)
        deviation = np.sqrt(NOISE_VARIANCE)
        if self.kind == "squared":
            return deviation * rng.standard_normal(self.n)
        w = np.zeros(self.n)
        w[rng.choice(self.n, self.n // 10, replace=False)] = deviation * rng.standard_normal(self.n // 10)
        return w


def small(kind: str, seed: int = 1) -> Draw:
    """The instances on which `Method.stated` promises its passes: t = 100, n = 20.

    lambda n, and with it the condition number, is near that of the full size at lambda = 1e-3.
    """
    return Draw(kind, {"squared": 1e-3, "absolute": 1e-2, "sup": 1e-3}[kind], seed, t=100, n=20)
