"""What the coordinate solvers share: compiled data, step sizes, and the intercept's outer step."""

import numpy as np

from zerogap.exceptions import SettingsError
from zerogap.problem import terms as row_terms
from zerogap.problem.problem import Problem
from zerogap.problem.regularizers import Free

Array = np.ndarray

#: Rows shorter than this, relative to the longest, get the step of that length (zero rows need some step).
_SHORTEST = 1e-12
#: Curvatures below this are taken for it: their inverses must stay finite.
_LEAST = 1e-100


class Workspace:
    """Compiled rows, terms and f of a problem, and the steps tau_i = w_i / L_i.

    An intercept is a feature without curvature. It gets the proximal term rho/2 (b - center)^2, whose
    centre moves to b in an outer loop (`recenter`); 1/rho is the mean curvature of the data rows, so that
    the intercept neither dominates the step sizes nor crawls.
    """

    def __init__(self, problem: Problem):
        if problem.penalty.mu_min <= 0:
            raise SettingsError(
                "regularizer l2: coordinate algorithms need l2 > 0 for every feature (strong convexity); "
                "got 0. Give a small positive l2"
                + (", or take algorithm='newton'" * problem.penalty.separable)
            )
        self.problem = problem
        self.rows = problem.rows.compiled()
        self.terms = problem.terms
        inverse = 1.0 / np.asarray(problem.penalty.mu)
        n = problem.n_samples
        curvature = problem.rows.square_norms(inverse)
        self.free = Free(0.0, 0.0)
        if problem.fit_intercept:
            usual = float(problem.weight[:n] @ curvature[:n]) if n else 0.0
            self.free = Free(usual or 1.0, problem.level)
            curvature[:n] += self.free.scale
            curvature[n:] += self.free.scale * problem.rows.constants**2
        self.f = problem.penalty.compiled(self.free)
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
        x = self.problem.penalty.minimiser(s[:-1])
        return self.problem.join(x, self.free_value(s))

    def free_value(self, s: Array) -> float:
        """b of the current proximal step."""
        return self.free.center - self.free.scale * float(s[-1])

    def recenter(self, b: float) -> None:
        """The outer proximal step: the centre moves to b."""
        self.free = Free(self.free.scale, b)
        self.f = self.f._replace(free=self.free)

    def bound_dual(self, s: Array, u: Array) -> float:
        """D of the inner problem (with the proximal term), from s(u): what the inner solver decreases."""
        total = self.problem.penalty.conjugate(s[:-1]) + row_terms.conjugate_sum(self.terms, u)
        if self.problem.fit_intercept:
            total += 0.5 * self.free.scale * s[-1] ** 2 - self.free.center * s[-1]
        return total
