"""What the coordinate solvers share: compiled data, step sizes, and the intercept's outer step."""

from typing import Any

import numpy as np

from zerogap.exceptions import SettingsError
from zerogap.problem import loss_registry
from zerogap.problem import terms as row_terms
from zerogap.problem.problem import Problem
from zerogap.problem.regularizers import Free, SeparablePenalty

Array = np.ndarray

#: Rows shorter than this, relative to the longest, get the step of that length (zero rows need some step).
_SHORTEST = 1e-12
#: The proximal weight of a feature without curvature, as a share of the curvature that its rows have.
SHARE = 1e-2
#: Curvatures below this are taken for it: their inverses must stay finite.
_LEAST = 1e-100


class Workspace:
    """Compiled rows, terms and f of a problem, and the steps tau_i = w_i / L_i.

    A feature without curvature gets the proximal term rho_j/2 (x_j - c_j)^2, whose centre moves to x_j in an
    outer loop (`step_out`); rho_j is a share of the curvature that the data rows have there. Likewise for an
    intercept: rho/2 (b - center)^2 with 1/rho the mean curvature of the data rows, so that it neither
    dominates the step sizes nor crawls.
    """

    def __init__(self, problem: Problem):
        if problem.penalty.mu_min <= 0 and not problem.penalty.separable:
            raise SettingsError(
                "regularizer l2: with a group penalty expected l2 > 0 (strong convexity); got 0. "
                "Give a small positive l2"
            )
        self.problem = problem
        self.rho = _proximal_weights(problem) if problem.penalty.mu_min <= 0 else None
        self.penalty = problem.penalty
        self._hold(np.zeros(problem.n_features))
        self.rows = problem.rows.compiled()
        self.terms = problem.terms
        inverse = 1.0 / np.asarray(self.penalty.mu)
        n = problem.n_samples
        curvature = problem.rows.square_norms(inverse)
        self.free = Free(0.0, 0.0)
        if problem.fit_intercept:
            usual = float(problem.weight[:n] @ curvature[:n]) if n else 0.0
            self.free = Free(usual or 1.0, problem.level)
            curvature[:n] += self.free.scale
            curvature[n:] += self.free.scale * problem.rows.constants**2
        self.f = self.penalty.compiled(self.free)
        longest = max(float(curvature.max(initial=0.0)), _LEAST) if curvature.any() else 1.0
        np.maximum(curvature, _SHORTEST * longest, out=curvature)
        self.longest = longest
        # tau_i = w_i / L_i, L_i = w_i^2 sum_j r_ij^2 / mu_j
        curvature *= problem.weight
        np.maximum(curvature, _LEAST, out=curvature)
        self.tau = np.divide(1.0, curvature, out=curvature)

    def slope(self, u: Array) -> Array:
        """s(u) with the intercept's slot at the end, whether the problem has one or not."""
        s = self.problem.slope(u)
        return s if self.problem.fit_intercept else np.append(s, 0.0)

    def trim(self, s: Array) -> Array:
        """`slope` as `problem.slope` gives it; a view, so not to be kept: kernels move s in place."""
        return s if self.problem.fit_intercept else s[:-1]

    def point(self, s: Array) -> Array:
        """x*(u) from s(u), with the intercept of the current proximal step behind it."""
        x = self.penalty.minimiser(s[:-1])
        return self.problem.join(x, self.free_value(s))

    def free_value(self, s: Array) -> float:
        """b of the current proximal step."""
        return self.free.center - self.free.scale * float(s[-1])

    def _hold(self, x: Array) -> None:
        """The penalty with its proximal terms around x, constants left out."""
        if self.rho is not None:
            own: Any = self.problem.penalty
            self.penalty = SeparablePenalty(
                own.n_features, own.mu + self.rho, own.l1, own.lower, own.upper, 0.0,
                -(own.pull + self.rho * x),
            )  # fmt: skip

    def step_out(self, point: Array) -> bool:
        """The outer proximal step: the centres move to the point. False where nothing needs one."""
        if self.rho is not None:
            self._hold(point[: self.problem.n_features])
            self.f = self.penalty.compiled(self.free)
        if self.problem.fit_intercept:
            self.recenter(float(point[-1]))
        return self.rho is not None or self.problem.fit_intercept

    def recenter(self, b: float) -> None:
        """The outer proximal step: the centre moves to b."""
        self.free = Free(self.free.scale, b)
        self.f = self.f._replace(free=self.free)

    def bound_dual(self, s: Array, u: Array) -> float:
        """D of the inner problem (with the proximal term), from s(u): what the inner solver decreases."""
        total = self.penalty.conjugate(s[:-1]) + row_terms.conjugate_sum(self.terms, u)
        if self.problem.fit_intercept:
            total += 0.5 * self.free.scale * s[-1] ** 2 - self.free.center * s[-1]
        return total


def _proximal_weights(problem: Problem) -> Array:
    """rho_j for the features with mu_j = 0, and 0 for the others."""
    penalty: Any = problem.penalty
    t, n = problem.n_features, problem.n_samples
    flat = penalty.mu + np.zeros(t) == 0.0
    inside = problem.weight[:n]
    columns = problem.rows.square_columns(np.where(np.arange(problem.n_rows) < n, problem.weight, 0.0))[:t]
    sharpness = 1.0
    if n:
        about = loss_registry.traits(problem.loss)
        gamma = about.smoothness(problem.loss)
        y = problem.y
        spread = 1.0 if about.classification else float(inside @ np.abs(y - inside @ y)) or 1.0
        sharpness = 1.0 / gamma if gamma else about.lipschitz(problem.loss) / spread
    known = columns[columns > 0]
    columns = np.where(columns > 0, columns, float(np.median(known)) if known.size else 1.0)
    return np.where(flat, SHARE * sharpness * columns, 0.0)
