"""ADFGA: the accelerated dual full gradient method."""

import dataclasses
import math
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from zerogap.problem.problem import Problem
from zerogap.reference.method import EVERY_STEP, Array, Candidates, Method, Needs, prox_rows, step_sizes
from zerogap.solver.averaging import Checkpoints


@dataclasses.dataclass(frozen=True)
class Adfga(Method):
    """Accelerated dual full gradient ascent (Beck & Teboulle 2014), on constrained problems too.

        v = theta z + (1 - theta) u;   z_i <- prox_{tau_i phi_i*}(z_i + tau_i r_i.x*(v)),
        tau_i = w_i / (theta ell L_i);   u <- (1 - theta) u + theta z,   theta_0 = 1

    Dual error O(1/K^2). The last primal point x*(u) has O(1/K); the average of x*(v_k) with weights
    1/theta_k (Tseng 2008, Patrinos & Bemporad 2013) has O(1/K^2).

    restart  None, or "adaptive": begin anew from u when the dual objective has risen (O'Donoghue & Candes)
    """

    needs: ClassVar[Needs] = Needs()
    stated: ClassVar = (4000, 120_000, 25_000)
    restart: str | None = None

    def build(self, problem: Problem, rng: np.random.Generator, tol: float) -> "AdfgaSolver":
        return AdfgaSolver(problem, self)


class AdfgaSolver:
    """z, u and the average weighted by 1/theta."""

    phase = "adfga"

    def __init__(self, problem: Problem, settings: Adfga):
        self.problem, self.settings = problem, settings
        self.active = problem.active_rows.size
        self.tau = step_sizes(problem)

    def start(self, u: Array) -> None:
        self.u, self.z = u.copy(), u.copy()
        self._theta, self._value = 1.0, math.inf
        self._total, self._weight, self._steps = np.zeros(self.problem.n_features), 0.0, 0
        self._checkpoints = Checkpoints(2.0, EVERY_STEP)

    def advance(self, passes: float, stop: Callable[[], bool]) -> float:
        done = 0
        while done < passes and not stop():
            self._step()
            done += 1
            if self.settings.restart == "adaptive":
                value = self.problem.dual(self.problem.project_dual(self.u))
                if value > self._value:
                    self.start(self.u)
                self._value = value
        return done

    def _step(self) -> None:
        theta = self._theta
        v = theta * self.z + (1.0 - theta) * self.u
        x = self.problem.primal_from_dual(v)
        self._total += x / theta
        self._weight += 1.0 / theta
        self._steps += 1
        if self._steps > 1:
            self._checkpoints.keep(self._steps, self._total, self._weight)
        step = self.tau / theta
        self.z = prox_rows(self.problem, self.z + step * self.problem.rows.dot(x), step)
        self.u = (1.0 - theta) * self.u + theta * self.z
        self._theta = 2.0 / (1.0 + math.sqrt(1.0 + 4.0 / theta**2))

    def candidates(self) -> Candidates:
        points = [self.problem.primal_from_dual(self.u)]
        if self._steps:
            points.insert(0, self._checkpoints.average(self._steps, self._total, self._weight)[0])
        return Candidates(points, self.problem.project_dual(self.u))
