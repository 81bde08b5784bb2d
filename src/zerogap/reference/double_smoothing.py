"""Double smoothing: the accelerated gradient method on a dual made strongly convex."""

import dataclasses
import math
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from zerogap.problem.problem import Problem
from zerogap.reference.method import Array, Candidates, Method, Needs, prox_rows, step_sizes


@dataclasses.dataclass(frozen=True)
class DoubleSmoothing(Method):
    """Devolder, Glineur & Nesterov (2012). f is strongly convex already, so the second smoothing is left:

        minimise  D(u) + kappa/2 ||u||_T^2,   ||u||_T^2 = sum_i w_i u_i^2 / tau_i,  tau_i = w_i / (ell L_i)

    by the accelerated gradient method with momentum (1 - sqrt(q)) / (1 + sqrt(q)), q = kappa / (1 + kappa):
    linear convergence, of the primal points too, in O(sqrt(1/eps) log(1/eps)) passes.

    Bias of the exact minimiser u_kappa: -D(u_kappa) >= -D(u*) - kappa/2 ||u*||_T^2, and its primal point is
    within kappa ||u_kappa||_T ||u*||_T of the optimal value, with violation_i = kappa |u_i| ell L_i.

    epsilon  the regularisation kappa. None: in stages, kappa falling tenfold and u kept, until the bias
             kappa ||u||_T^2 is below tol/4 of the objective (the source assumes that a bound on ||u*|| is
             known; a stage's u serves instead)
    """

    needs: ClassVar[Needs] = Needs()
    stated: ClassVar = (10_000, 150_000, 90_000)
    epsilon: float | None = None

    def build(self, problem: Problem, rng: np.random.Generator, tol: float) -> "DoubleSmoothingSolver":
        return DoubleSmoothingSolver(problem, self, tol)


class DoubleSmoothingSolver:
    """u, its extrapolation v, and the regularisation of the stage."""

    phase = "double smoothing"

    def __init__(self, problem: Problem, settings: DoubleSmoothing, tol: float):
        self.problem, self.tol = problem, tol
        self.active = problem.active_rows.size
        self.tau = step_sizes(problem)
        self.fixed = settings.epsilon is not None
        self.kappa = settings.epsilon if settings.epsilon is not None else 0.1

    def start(self, u: Array) -> None:
        self.u, self.v = u.copy(), u.copy()

    def advance(self, passes: float, stop: Callable[[], bool]) -> float:
        done = 0
        while done < passes and not stop():
            self._step()
            done += 1
        return done

    def _step(self) -> None:
        # metric w_i / tau_i: d is 1-smooth, the regularised d is (1 + kappa)-smooth, both kappa-convex
        kappa, v = self.kappa, self.v
        step = self.tau / (1.0 + kappa)
        rise = self.problem.rows.dot(self.problem.primal_from_dual(v)) - kappa * v / self.tau
        u = prox_rows(self.problem, v + step * rise, step)
        q = math.sqrt(kappa / (1.0 + kappa))
        change = u - self.u
        if not self.fixed and self._norm(u - v) <= 0.1 * kappa * self._norm(u):
            self._next_stage(u)  # the gradient is small against kappa u, which causes the bias
        self.v = u + (1.0 - q) / (1.0 + q) * change
        self.u = u

    def _norm(self, u: Array) -> float:
        return float(np.sqrt(np.sum(self.problem.weight * u * u / self.tau)))

    def _next_stage(self, u: Array) -> None:
        value = abs(self.problem.dual(self.problem.project_dual(u)))
        if self.kappa * self._norm(u) ** 2 > 0.25 * self.tol * value:
            self.kappa *= 0.1

    def candidates(self) -> Candidates:
        u = self.problem.project_dual(self.u)
        return Candidates([self.problem.primal_from_dual(u)], u)
