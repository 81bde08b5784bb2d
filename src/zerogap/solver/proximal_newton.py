"""Newton steps inside a proximal-point loop, where f has no curvature.

Without it the augmented Lagrangian is piecewise quadratic with flat pieces, and far from the solution nothing
holds x; where columns depend on each other, nothing ever does. So each outer step adds
rho_j/2 (x_j - c_j)^2 for every feature with mu_j = 0, c being the point of the step before (the proximal
method of multipliers). rho shrinks while the inner minimisations end early, and grows back where one loses
its way. The certificate knows nothing of rho.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from zerogap.problem import loss_registry
from zerogap.problem.problem import Problem
from zerogap.problem.regularizers import SeparablePenalty
from zerogap.solver.finisher import GROWTH, LOST, STEPS, NewtonSolver
from zerogap.solver.sigma import constraint_sigma

Array = np.ndarray

#: The first rho where data rows hold x: this share of the curvature that they have together.
FIRST = 1e-5
#: rho never falls below this share of its first value, nor grows beyond its inverse.
LEAST = 1e-8


class ProximalNewtonSolver(NewtonSolver):
    """State: that of the Newton steps, and the centre and weight of the proximal term."""

    @staticmethod
    def fits(problem: Problem) -> bool:
        """Is there a feature without curvature?"""
        return isinstance(problem.penalty, SeparablePenalty) and problem.penalty.mu_min == 0

    def __init__(self, problem: Problem, tol: float = 1e-6, everything: bool = False):
        """`everything`: hold the features that have some curvature as well."""
        super().__init__(problem, None, None, tol)
        self._flat = np.full(self.mu.size, True) if everything else self.mu == 0.0
        self._own_mu, self._own_pull = self.mu, self.pull

    def _scale(self) -> None:
        super()._scale()
        self.far[:] = np.inf
        problem = self.problem
        penalty: Any = problem.penalty
        smooth = loss_registry.traits(problem.loss).differentiable
        if problem.n_samples == 0 or (smooth and np.any(penalty.linear)):
            self._scale_by_prices()
        else:
            self.rho = np.where(self._flat, FIRST * self.curvature, 0.0)

    def _scale_by_prices(self) -> None:
        """Sizes of x from the sides of the rows, of u from q: with them, rho, sigma and s agree."""
        problem = self.problem
        n = problem.n_samples
        squares = np.where(problem.constraint_norms > 0, problem.constraint_norms, 1.0) ** 2
        weights = np.append(np.where(problem.weight[:n] > 0, 1.0, 0.0), 1.0 / squares)
        columns = problem.rows.square_columns(weights)
        usual = float(np.median(columns[columns > 0])) if columns.any() else 1.0
        columns = np.where(columns > 0, columns, usual) / usual
        price = np.abs(self.pull) / np.sqrt(columns)
        sides = np.abs(np.concatenate([problem.low, problem.high])) / np.sqrt(np.append(squares, squares))
        ratio = _typical(price) / _typical(sides)
        self.rho = np.where(self._flat, ratio * columns, 0.0)
        self.curvature = np.where(self._flat, self.rho, self.curvature)
        t = problem.n_features
        norms = problem.rows.square_norms(1.0 / self.curvature[:t], 1.0 / self.curvature[-1])[n:]
        self.sigma[n:] = constraint_sigma(norms)
        self.s = np.where(self._flat & (self.identity.l1 == 0), 0.3 * self.curvature, self.s)

    def _outer_step(self, stop: Callable[[], bool]) -> float:
        """One outer step around the present point."""
        weight, center = self.share * self.rho, self.x.copy()
        self.mu = self._own_mu + weight
        self.pull = self._own_pull + weight * center
        done = super()._outer_step(stop)
        if self.excess > LOST or done >= 2.0 * STEPS:
            self.share = min(self.share * GROWTH**2, 1.0 / LEAST)
        elif done < 2.0 * (STEPS // 3):
            self.share = max(self.share / GROWTH, LEAST)
        # the proximal term may still pull
        pulled = float(np.abs(self.x) @ (weight * np.abs(self.x - center)))
        self.working = self.working or pulled > self.tol * self._size()
        return done


def _typical(sizes: Array) -> float:
    """The mean of the sizes that are neither zero nor infinite; 1 without any."""
    used = sizes[(sizes > 0) & np.isfinite(sizes)]
    return float(np.mean(used)) if used.size else 1.0
