"""Algorithm 2: the form of ARDCA that the paper's proofs use, with all vectors written out."""

import dataclasses
import math
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from zerogap.problem.problem import Problem
from zerogap.reference.method import Array, Candidates, Method, Needs, coordinate_lipschitz, prox_rows
from zerogap.solver.averaging import Checkpoints
from zerogap.solver.sampling import sampler
from zerogap.solver.settings import STEPS


@dataclasses.dataclass(frozen=True)
class Equivalent(Method):
    """Li & Lin, Algorithm 2. O(n t) a step, since z~ is computed in full.

        v = theta z + (1 - theta) u
        z~_i = argmin  c n theta L_i (u - z_i)^2 + <grad_i d(v), u - z_i> + h_i(u)    for all i
        z_i = z~_i for the drawn i alone;  u = v + n theta (z_new - z)

    step          "paper": c = 1, which the proofs need; "long": c = 1/2
    average_from  upsilon: the average xhat weighs x*(v_k) by 1/theta_k from the step K0 of Theorem 1 on
    """

    needs: ClassVar[Needs] = Needs()
    stated: ClassVar = (2000, 40_000, 12_000)
    step: str = "paper"
    sampling: str = "uniform"
    average_from: float = 2.0

    def build(self, problem: Problem, rng: np.random.Generator, tol: float) -> "EquivalentSolver":
        return EquivalentSolver(problem, self, rng)


class EquivalentSolver:
    """The iterates u, z and v, in full."""

    phase = "algorithm 2"

    def __init__(self, problem: Problem, settings: Equivalent, rng: np.random.Generator):
        self.problem, self.settings = problem, settings
        self.active = problem.active_rows.size
        self._draw = sampler(settings.sampling, rng)
        active = problem.weight > 0
        sizes = 2.0 * STEPS[settings.step] * np.where(active, coordinate_lipschitz(problem), 1.0)
        self._tau = np.where(active, problem.weight / sizes, 1.0)

    def start(self, u: Array) -> None:
        self.z, self.u = u.copy(), u.copy()
        self.theta = 1.0 / self.active
        self.steps, self.total, self.weight = 0, np.zeros(self.problem.n_features), 0.0
        self._checkpoints = Checkpoints(self.settings.average_from, self.active)

    def advance(self, passes: float, stop: Callable[[], bool]) -> float:
        done = 0
        while done < passes and not stop():
            for i in self._draw(self.problem.active_rows):
                self.one_step(int(i))
            self._checkpoints.keep(self.steps, self.total, self.weight)
            done += 1
        return done

    def one_step(self, i: int) -> Array:
        """One iteration with row i; returns z~."""
        n, theta = self.active, self.theta
        v = theta * self.z + (1.0 - theta) * self.u
        x = self.problem.primal_from_dual(v)
        self.total += x / theta
        self.weight += 1.0 / theta
        step = self._tau / (n * theta)
        tilde = prox_rows(self.problem, self.z + step * self.problem.rows.dot(x), step)
        change = tilde[i] - self.z[i]
        self.u = v
        self.u[i] += n * theta * change
        self.z[i] = tilde[i]
        self.v, self.x = v, x
        self.theta = 0.5 * (math.sqrt(theta**4 + 4.0 * theta**2) - theta**2)
        self.steps += 1
        return tilde

    def candidates(self) -> Candidates:
        u = self.problem.project_dual(self.u)
        points = [self.problem.primal_from_dual(u)]
        if self.steps:
            points.insert(0, self._checkpoints.average(self.steps, self.total, self.weight)[0])
        return Candidates(points, u)
