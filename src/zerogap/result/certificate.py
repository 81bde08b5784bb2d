"""Certificates, recomputed in float64 from the problem data and the pair (x, u) alone."""

import dataclasses
from typing import Any

import numpy as np

from zerogap.exceptions import DataError
from zerogap.problem.problem import Problem

Array = np.ndarray
#: Objectives below this count as zero.
_TINY = 1e-100


@dataclasses.dataclass(frozen=True)
class Certificate:
    """A pair of bounds around the optimal value, in the units of the objective.

    primal            P(x): f(x) plus the weighted mean loss
    dual              -D(u): no feasible point has a smaller objective
    gap               P(x) + sum_i |u_i| violation_i - dual, never negative; without constraints, primal
                      minus dual. P(x) is within `gap` above the optimal value. The middle term charges an
                      infeasible x for what its violation gains, at the multipliers' prices
    relative_gap      gap / max(|primal|, |dual|)
    violation         largest distance of a constraint row from its range, in the row's own units
    scaled_violation  the same, each row relative to the size of its terms
    """

    primal: float
    dual: float
    gap: float
    relative_gap: float
    violation: float
    scaled_violation: float

    @property
    def error(self) -> float:
        """The larger of relative gap and scaled violation: what `tol` bounds."""
        return max(self.relative_gap, self.scaled_violation)

    def within(self, tol: float) -> bool:
        """Relative gap and scaled violation are at most tol."""
        return self.error <= tol

    def __str__(self) -> str:
        lines = [
            f"primal    {self.primal: .12g}",
            f"dual      {self.dual: .12g}   (no feasible point is better)",
            f"gap       {self.gap: .3g}   (relative {self.relative_gap:.3g})",
        ]
        if self.violation or self.scaled_violation:
            lines.append(f"violation {self.violation: .3g}   (scaled {self.scaled_violation:.3g})")
        if self.dual == -np.inf:
            lines.append("no finite bound: the dual point is outside its domain")
        return "\n".join(lines)


def certify(problem: Problem, x: Any, dual: Any, intercept: Any = 0.0) -> Certificate:
    """The certificate of any pair (x, u), whoever computed it.

    Parameters
    ----------
    x : (n_features,) primal point.
    dual : (n_samples + constraint rows,) dual point: `result.dual`.
    intercept : the intercept that goes with x.

    For a loss over K classes x is (n_features, K), dual has a row of K entries per data row and constraint
    row, and intercept K entries.

    Examples
    --------
    The mean squared error of one feature, f(x) = x^2/2, at a guess for x and at u = x a_i - y_i:

    >>> import numpy as np, zerogap as zg
    >>> problem = zg.Problem([[1.0], [2.0]], [1.0, 3.0], loss="squared", regularizer=zg.L2(1.0))
    >>> print(zg.certify(problem, x=[1.0], dual=[0.0, -1.0]))
    primal     0.75
    dual       0.75   (no feasible point is better)
    gap        0   (relative 0)
    """
    if not isinstance(problem, Problem):
        raise DataError(f"problem: expected a zg.Problem; got {problem!r:.80}")
    point, u = problem.check_point(x, intercept), problem.check_dual(dual, "dual")
    return pair_certificate(problem, point, u, problem.slope(u))


def pair_certificate(problem: Problem, point: Array, u: Array, slope: Array) -> Certificate:
    """The certificate of (x with intercept, u), when s(u) has been recomputed already."""
    return combine(problem, primal_side(problem, point), -problem.dual_from_slope(u, slope), u)


@dataclasses.dataclass(frozen=True)
class PrimalSide:
    """What a primal point contributes to a certificate."""

    value: float
    violations: Array
    scaled: float


def primal_side(problem: Problem, point: Array, margins: Array | None = None) -> PrimalSide:
    """P(x) and the violations, from one product with the rows, if that is not at hand."""
    margins = problem.rows.dot(point) if margins is None else margins
    x, _ = problem.split(point)
    value = problem.primal_from_margins(x, margins)
    violations = problem.violations(margins)
    scaled = 0.0
    if violations.size and violations.any():
        bound = np.where(margins[problem.n_data :] > problem.high, problem.high, problem.low)
        bound = np.where(violations > 0, np.abs(bound), 0.0)
        size = np.maximum(bound, problem.rows.constraint_magnitudes(point))
        scaled = float(np.max(violations / np.maximum(np.maximum(size, problem.constraint_norms), _TINY)))
    return PrimalSide(value, violations, scaled)


def combine(problem: Problem, side: PrimalSide, bound: float, u: Array) -> Certificate:
    """The certificate of a primal side and a dual bound."""
    price = float(np.abs(u[problem.n_data :]) @ side.violations) if side.violations.size else 0.0
    gap = max(side.value + price - bound, 0.0)
    size = max(abs(side.value), abs(bound), _TINY)
    relative = np.inf if not np.isfinite(gap) else gap / size
    violation = float(side.violations.max()) if side.violations.size else 0.0
    return Certificate(side.value, bound, gap, relative, violation, side.scaled)
