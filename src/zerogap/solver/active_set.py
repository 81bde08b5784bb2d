"""Newton steps on the dual of a squared loss with an l1 term or a box: each solves on the active set.

    D(u) = f*(-s(u)) + sum_i w_i (u_i^2 / 2 + u_i y_i)

is piecewise quadratic. On the piece of u, with F the features that x*(u) leaves free and B those it holds
at a bound or at zero, the minimiser has u = R x - y with x_B as it is and x_F from

    (diag(mu_F) + R_F^T W R_F) x_F = R_F^T W (y - R_B x_B) + pull_F - l1_F sign(x_F)

A line search on D makes the step global; on the right piece one step ends it. An unpenalised intercept is a
feature of F with mu = 0, which keeps s_b(u) = 0 along the way.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from zerogap.problem.losses import Squared
from zerogap.problem.problem import Problem
from zerogap.problem.regularizers import SeparablePenalty
from zerogap.solver import newton_system
from zerogap.solver.line_search import descend
from zerogap.solver.solver import Candidates

Array = np.ndarray

STEPS = 12


class ActiveSetSolver:
    """State: u and s(u)."""

    phase = "newton"

    @staticmethod
    def fits(problem: Problem) -> bool:
        """A squared loss, strong convexity, kinks in f, and no constraint rows."""
        penalty = problem.penalty
        if not isinstance(penalty, SeparablePenalty) or not isinstance(problem.loss, Squared):
            return False
        return penalty.mu_min > 0 and penalty.kinked and problem.n_constraints == 0

    def __init__(self, problem: Problem):
        self.problem = problem
        self.active = problem.n_features

    def start(self, u: Array) -> None:
        problem = self.problem
        self.u = u.copy()
        self._level = 0.0
        if problem.fit_intercept:  # s_b = 0 from the start
            self.u -= float(problem.weight @ u) / float(problem.weight.sum())
        self._place()

    def _place(self) -> None:
        self.slope = self.problem.slope(self.u)
        self.x = self.problem.penalty.minimiser(self.slope[: self.problem.n_features])

    def advance(self, passes: float, stop: Callable[[], bool]) -> float:
        done = 0
        while done < STEPS and not stop() and self._step():
            done += 1
        return 2.0 * max(done, 1)

    def _step(self) -> bool:
        """One Newton step; False once the piece it was taken on is the final one."""
        problem = self.problem
        target = self._target()
        change = target - self.u
        slope_change = problem.slope(change)
        t = problem.n_features

        def derivative(step: float) -> float:
            x = problem.penalty.minimiser(self.slope[:t] + step * slope_change[:t])
            u = self.u + step * change
            return float((problem.weight * change) @ (u + problem.y)) - float(x @ slope_change[:t])

        steepness = derivative(0.0)
        length = descend(derivative, steepness)
        if length == 0.0:
            return False
        before = self.x
        self.u = self.u + length * change
        self._place()
        same = np.array_equal(np.sign(before), np.sign(self.x)) and np.array_equal(
            self._free(before), self._free(self.x)
        )
        return not (same and length == 1.0)

    def _free(self, x: Array) -> Array:
        penalty: Any = self.problem.penalty
        inside = (x > penalty.lower) & (x < penalty.upper)
        return inside & ((x != 0.0) | np.broadcast_to(np.equal(penalty.l1, 0.0), x.shape))

    def _target(self) -> Array:
        """The minimiser of the quadratic piece that u lies on."""
        problem = self.problem
        penalty: Any = problem.penalty
        weight = problem.weight
        free = self._free(self.x)
        chosen = np.flatnonzero(free)
        self.active = chosen.size
        rows = problem.rows.columns(chosen)
        held = problem.rows.dot(problem.join(np.where(free, 0.0, self.x), 0.0))
        full = (np.broadcast_to(p, free.shape)[chosen] for p in (penalty.mu, penalty.pull, penalty.l1))
        mu, pull, l1 = full
        linear = pull - l1 * np.sign(self.x[chosen])
        if problem.fit_intercept:
            mu, linear = np.append(mu, 0.0), np.append(linear, 0.0)
        right = rows.tdot(weight * (problem.y - held)) + linear
        x = newton_system.solve(rows, mu, weight, right, 1e-10)
        if problem.fit_intercept:
            self._level = float(x[-1])
        return rows.dot(x) + held - problem.y

    def candidates(self) -> Candidates:
        problem = self.problem
        points = [problem.join(self.x, self._level)]
        return Candidates(points, self.u.copy(), self.slope.copy())
