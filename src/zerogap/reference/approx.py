"""APPROX: accelerated proximal coordinate descent on blocks of rows that move at once."""

import dataclasses
import math
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from zerogap.exceptions import SettingsError
from zerogap.problem.problem import Problem
from zerogap.reference import kernels
from zerogap.reference.method import Array, Candidates, Method, Needs, coordinate_lipschitz, spread
from zerogap.solver.kernels import State
from zerogap.solver.workspace import Workspace


@dataclasses.dataclass(frozen=True)
class Approx(Method):
    """Fercoq & Richtarik (2015) with tau-nice sampling: `block` rows, drawn without replacement.

        v = theta^2 uhat + z,   theta_0 = block/n
        z_i <- argmin  n theta v_i/(2 block) (u - z_i)^2 + <grad_i d(v), u - z_i> + h_i(u)   for its i
        uhat_i <- uhat_i - (1 - n theta/block)/theta^2 (z_i_new - z_i)

    v_i = (1 + (block-1)(ell-1)/(n-1)) L_i with ell from `method.spread`: the expected separable
    overapproximation of d. block = 1 is ARDCA with the long step; block = n is ADFGA.
    """

    needs: ClassVar[Needs] = Needs()
    stated: ClassVar = (1000, 40_000, 12_000)
    block: int = 1

    def build(self, problem: Problem, rng: np.random.Generator, tol: float) -> "ApproxSolver":
        if not 1 <= self.block <= problem.active_rows.size:
            raise SettingsError(f"block: expected 1 to {problem.active_rows.size} rows; got {self.block}")
        return ApproxSolver(problem, self.block, rng)


class ApproxSolver:
    """z and uhat with their images."""

    phase = "approx"

    def __init__(self, problem: Problem, block: int, rng: np.random.Generator):
        self.problem, self.block = problem, block
        self.work = Workspace(problem)
        self._rng = rng
        n = self.active = problem.active_rows.size
        if block > 1:
            ell = spread(problem, coordinate_lipschitz(problem))
            self.work.tau /= 1.0 + (block - 1) * (ell - 1.0) / max(1, n - 1)
        self._change = np.zeros(block)
        self._count = math.ceil(n / block)

    def start(self, u: Array) -> None:
        s = self.work.slope(u)
        self.state = State(u.copy(), np.zeros_like(u), s, np.zeros_like(s))
        self._theta = self.block / self.active
        self._last = 0.0

    def advance(self, passes: float, stop: Callable[[], bool]) -> float:
        done = 0.0
        w = self.work
        while done < passes and not stop():
            theta = np.empty(self._count)
            for k in range(self._count):
                theta[k] = self._theta
                self._theta = 2.0 * self._theta / (self._theta + math.sqrt(self._theta**2 + 4.0))
            blocks = kernels.Blocks(theta, self.active / self.block, self._change)
            kernels.approx_epoch(self._blocks(), w.rows, w.terms, w.f, self.state, w.tau, blocks)
            self._last = theta[-1]
            done += self._count * self.block / self.active
        return done

    def _blocks(self) -> Array:
        rows = self.problem.active_rows
        if self.block == 1:
            return rows[self._rng.integers(0, rows.size, size=(self._count, 1), dtype=np.int64)]
        return np.array([self._rng.choice(rows, self.block, replace=False) for _ in range(self._count)])

    def candidates(self) -> Candidates:
        u = self.problem.project_dual(self._last**2 * self.state.uhat + self.state.z)
        return Candidates([self.problem.primal_from_dual(u)], u)
