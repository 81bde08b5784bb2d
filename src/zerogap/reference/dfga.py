"""DFGA: the dual full gradient method."""

import dataclasses
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from zerogap.problem.problem import Problem
from zerogap.reference.method import EVERY_STEP, Array, Candidates, Method, Needs, prox_rows, step_sizes
from zerogap.solver.averaging import Checkpoints


@dataclasses.dataclass(frozen=True)
class Dfga(Method):
    """Dual full gradient ascent (Tseng 1990): a proximal gradient step on D in every pass.

        u_i <- prox_{tau_i phi_i*}(u_i + tau_i r_i.x*(u)),   tau_i = w_i / (ell L_i)

    The step is the paper's 1/L measured in its norm ||.||_L, so that data rows and constraint rows of any
    length share one constant ell (see `method.spread`). Dual error O(1/K), so the last primal point has
    O(1/sqrt(K)); the plain average of the points (Necoara & Patrascu 2016), here
    over the last half of them, has O(1/K).
    """

    needs: ClassVar[Needs] = Needs()
    stated: ClassVar = (70_000, 500_000, 300_000)

    def build(self, problem: Problem, rng: np.random.Generator, tol: float) -> "DfgaSolver":
        return DfgaSolver(problem)


class DfgaSolver:
    """The iterate u, and the average of its primal points."""

    phase = "dfga"

    def __init__(self, problem: Problem):
        self.problem = problem
        self.active = problem.active_rows.size
        self.tau = step_sizes(problem)

    def start(self, u: Array) -> None:
        self.u = u.copy()
        self._total, self._steps = np.zeros(self.problem.n_features), 0
        self._checkpoints = Checkpoints(2.0, EVERY_STEP)

    def advance(self, passes: float, stop: Callable[[], bool]) -> float:
        done = 0
        while done < passes and not stop():
            x = self.problem.primal_from_dual(self.u)
            self._total += x
            self._steps += 1
            if self._steps > 1:
                self._checkpoints.keep(self._steps, self._total, self._steps)
            self.u = prox_rows(self.problem, self.u + self.tau * self.problem.rows.dot(x), self.tau)
            done += 1
        return done

    def candidates(self) -> Candidates:
        points = [self.problem.primal_from_dual(self.u)]
        if self._steps:
            points.insert(0, self._checkpoints.average(self._steps, self._total, self._steps)[0])
        return Candidates(points, self.problem.project_dual(self.u))
