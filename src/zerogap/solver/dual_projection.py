"""Dual points moved onto the slopes that f without curvature allows, by Newton steps.

The moves of the rows from u that cost the bound least are those of one exact step on the augmented
Lagrangian,

    u_new = forces(m + R y),   v_new = v + s (x + y - point(x + y)),   mu (x + y) + R^T (w u_new) + v_new = q,

with m the margins nearest to R x that u belongs to. A row far from its kink stays at its bound until y has
brought it there, a row at its kink moves for nothing. y is the minimiser of a piecewise quadratic function
of as many variables as there are features, whatever the number of rows.
"""

import functools
from typing import Any

import numpy as np

from zerogap.data.stacked import StackedRows
from zerogap.problem.problem import Problem
from zerogap.solver import augmented, newton_system
from zerogap.solver.identity import IdentityRows
from zerogap.solver.line_search import descend

Array = np.ndarray

STEPS = 50
#: What is left of the slopes, relative to their terms: enough, and as good as that where steps gain nothing.
GOAL, NEAR, GAIN = 1e-12, 1e-10, 0.1
#: Sums of smaller terms than this share of the largest are not looked at by themselves.
NOTHING = 1e-9
#: Share of the curvature that all rows have together, for directions in which hardly any row is free to move.
RIDGE = 1e-9
#: The margins that u belongs to are those of a step with this share of sigma.
SHORT = 1e-6
LONGEST = 2.0**20
_EPS = float(np.finfo(np.float64).eps)


class DualProjection:
    """A problem's rows and features as the Newton steps see them."""

    def __init__(self, problem: Problem):
        self.problem = problem
        penalty: Any = problem.penalty
        size, t = problem.rows.shape[1], penalty.n_features
        self.identity = IdentityRows(penalty, size - t)
        self.mu, self.pull = np.zeros(size), np.zeros(size)
        self.mu[:t], self.pull[:t] = penalty.mu, penalty.pull

    def __call__(self, u: Array, x: Array, sigma: Array, s: Array) -> tuple[Array, Array] | None:
        """A dual point near u whose slopes are right but for rounding, and the stiffness of each row there.

        A row that is free to move is stiff. None: no such point was found.
        """
        return _Projection(self, u, x, sigma, s).run()


class _Projection:
    def __init__(self, parent: DualProjection, u: Array, x: Array, sigma: Array, s: Array):
        self.parent, self.u, self.sigma, self.s = parent, u, sigma, s
        problem = parent.problem
        self.rows: StackedRows = problem.rows
        self.x, self.v = x.copy(), self._nearest_v(x, problem.slope(u))
        self.m = self.rows.dot(x)
        self.forces, self.h = np.empty_like(u), np.empty_like(u)
        augmented.forces(problem.terms, self.m, u, SHORT * sigma, self.forces)
        self.m += (u - self.forces) / (SHORT * sigma)
        self.lent = RIDGE * self.rows.square_columns(problem.weight * sigma)
        self.size = self._sizes()

    def _sizes(self) -> Array:
        """The terms of the slopes; what rounding of the margins adds to them counts as GOAL reached."""
        problem = self.parent.problem
        size = self.rows.column_magnitudes(problem.weight * self.u)
        augmented.stiffness(problem.terms, self.m, self.u, self.sigma, self.h)
        noise = _EPS * self.rows.column_magnitudes(self.h * self.m)
        return np.maximum(size, max(NOTHING * float(np.max(size)), 1e-300)) + noise / GOAL

    def _nearest_v(self, x: Array, slope: Array) -> Array:
        """The subgradient of psi at x that leaves least."""
        parent, identity = self.parent, self.parent.identity
        low = np.where(x > 0.0, identity.l1, -identity.l1)
        high = np.where(x < 0.0, -identity.l1, identity.l1)
        low[x <= identity.lower] = -np.inf
        high[x >= identity.upper] = np.inf
        return np.clip(parent.pull - parent.mu * x - slope, low, high)

    def run(self) -> tuple[Array, Array] | None:
        left, before, certain = np.inf, np.inf, True
        for _ in range(STEPS):
            gradient = self._gradient()
            left = self._left(gradient)
            if left <= GOAL or (left <= NEAR and left > GAIN * before) or (left >= before and not certain):
                break
            before, certain = left, self._step(gradient)
        if left > NEAR:
            return None
        augmented.stiffness(self.parent.problem.terms, self.m, self.u, self.sigma, self.h)
        return self.parent.problem.project_dual(self.forces), self.h

    def _left(self, gradient: Array) -> float:
        """What is left of the flat features' slopes, relative to their terms."""
        flat = self.parent.problem.flat.features
        return float(np.max(np.abs(gradient[flat]) / self.size[flat], initial=0.0))

    def _gradient(self) -> Array:
        parent, problem = self.parent, self.parent.problem
        augmented.forces(problem.terms, self.m, self.u, self.sigma, self.forces)
        gradient = parent.mu * self.x - parent.pull + problem.slope(self.forces)
        if parent.identity.any:
            gradient += parent.identity.force(self.x, self.v, self.s)
        return gradient

    def _step(self, gradient: Array) -> bool:
        """A Newton step; was there a way down? Near the end its rounding hides it, and the step is whole."""
        parent = self.parent
        augmented.stiffness(parent.problem.terms, self.m, self.u, self.sigma, self.h)
        d = parent.mu + self.lent
        if parent.identity.any:
            d += parent.identity.stiffness(self.x, self.v, self.s)
        direction = newton_system.solve(self.rows, np.where(d > 0.0, d, 1.0), self.h, -gradient, 1e-12)
        along = self.rows.dot(direction)
        derivative = functools.partial(self._derivative, direction, along)
        length = descend(derivative, float(gradient @ direction), LONGEST)
        self.x += (length or 1.0) * direction
        self.m += (length or 1.0) * along
        return length > 0.0

    def _derivative(self, direction: Array, along: Array, step: float) -> float:
        parent = self.parent
        x = self.x + step * direction
        total = float((parent.mu * x - parent.pull) @ direction)
        total += augmented.pull_along(parent.problem.terms, self.m, along, step, self.u, self.sigma)
        if parent.identity.any:
            total += float(parent.identity.force(x, self.v, self.s) @ direction)
        return total
