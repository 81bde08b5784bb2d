"""A point that satisfies every constraint to rounding, near a point that almost does."""

import dataclasses
import warnings
from typing import Any

import numpy as np
import scipy.optimize
import scipy.sparse as sp

from zerogap.problem.problem import Problem
from zerogap.result.certificate import Certificate, certify, primal_side

Array = np.ndarray

#: What counts as satisfied, each row relative to the size of its terms.
EXACT = 1e-12
ROUNDS = 40


@dataclasses.dataclass(frozen=True, eq=False)
class FeasiblePoint:
    """x (and intercept) inside every constraint to rounding, with its own certificate."""

    x: Array
    intercept: Any
    certificate: Certificate


def feasible_point(problem: Problem, x: Array, intercept: Any, dual: Array) -> FeasiblePoint | None:
    """The repaired point, or None where none was found.

    First the violated rows are met exactly, by least squares corrections of the features that their box
    leaves free. Where that fails (too many rows meet in a point), an interior point pulls the ranges in.
    """
    outputs = problem.each_output(problem.join(x, intercept))
    moved = [_feasible_output(problem.one_output, point) for point in outputs]
    if any(point is None for point in moved):
        return None
    x, intercept = problem.split(np.stack(moved, axis=-1).ravel())
    return FeasiblePoint(x, intercept, certify(problem, x, dual, intercept))


def _feasible_output(problem: Problem, point: Array) -> Any:
    penalty: Any = problem.penalty
    box = (penalty.lower, penalty.upper) if penalty.separable else (-np.inf, np.inf)
    lower, upper = (
        np.append(np.zeros(problem.n_features) + side, [end] * problem.fit_intercept)
        for side, end in zip(box, (-np.inf, np.inf), strict=True)
    )
    point = np.clip(point, lower, upper)
    matrix = _matrix(problem)
    moved = _corrected(problem, matrix, point, lower, upper)
    return _pulled_in(problem, matrix, point, lower, upper) if moved is None else moved


def _matrix(problem: Problem) -> Any:
    matrix = problem.rows.bottom.matrix
    if problem.fit_intercept:
        matrix = sp.hstack([matrix, sp.csr_array(problem.rows.constants[:, None])])
    return sp.csr_array(matrix)


def _exact(problem: Problem, point: Array) -> bool:
    return primal_side(problem, point).scaled <= EXACT


def _corrected(problem: Problem, matrix: Any, point: Array, lower: Array, upper: Array) -> Array | None:
    if _exact(problem, point):
        return point
    low, high, x = problem.low, problem.high, point.copy()
    norms = np.maximum(problem.constraint_norms, 1e-300)
    equal = low == high
    working, pinned = equal.copy(), np.zeros(x.size, dtype=bool)
    for _ in range(ROUNDS):
        activity = matrix @ x
        violation = np.maximum(low - activity, activity - high)
        working |= violation > 0
        rows, free = np.flatnonzero(working), np.flatnonzero(~pinned)
        aim = np.clip(activity, low, high)[rows]
        missing = (aim - activity[rows]) / norms[rows]
        # in units of the features' own sizes, so that small ones move little
        size = np.abs(x[free]) + 1e-3 * (np.abs(x).max() or 1.0)
        block = matrix[rows][:, free].toarray() / norms[rows][:, None] * size
        for _ in range(2):
            step = np.linalg.lstsq(block, missing, rcond=1e-13)[0]
            x[free] += size * step
            missing = (np.clip(matrix[rows] @ x, low[rows], high[rows]) - matrix[rows] @ x) / norms[rows]
        outside = (x < lower) | (x > upper)
        pinned |= outside
        np.clip(x, lower, upper, out=x)
        if _exact(problem, x):
            return x
    return None


def _pulled_in(problem: Problem, matrix: Any, point: Array, lower: Array, upper: Array) -> Array | None:
    """The nearest feasible point between `point` and one with the most room in all ranges."""
    inner = _roomiest(problem, matrix, lower, upper)
    if inner is None:
        return None
    inner = _corrected(problem, matrix, inner, lower, upper)
    if inner is None:
        return None
    equal = problem.low == problem.high
    start = point + 0.0
    if equal.any():  # both ends on the equalities: so is all that lies between
        norms = np.maximum(problem.constraint_norms[equal], 1e-300)
        block = matrix[np.flatnonzero(equal)].toarray() / norms[:, None]
        missing = (problem.low[equal] - matrix[np.flatnonzero(equal)] @ start) / norms
        start += np.linalg.lstsq(block, missing, rcond=1e-13)[0]
    for share in np.concatenate([10.0 ** np.arange(-14, 0), [0.3, 1.0]]):
        blend = np.clip(start + share * (inner - start), lower, upper)
        if _exact(problem, blend):
            return blend
    return None


def _roomiest(problem: Problem, matrix: Any, lower: Array, upper: Array) -> Array | None:
    """max t with every range met with room t (unit rows, t <= 1), equalities met, by linear programming."""
    norms = np.maximum(problem.constraint_norms, 1e-300)
    equal = problem.low == problem.high
    part = sp.diags_array(1.0 / norms) @ matrix
    top = np.flatnonzero(np.isfinite(problem.high) & ~equal)
    bottom = np.flatnonzero(np.isfinite(problem.low) & ~equal)
    room = sp.csr_array(np.ones((top.size + bottom.size, 1)))
    A = sp.hstack([sp.vstack([part[top], -part[bottom]]), room], format="csr")
    ends = np.append((problem.high / norms)[top], -(problem.low / norms)[bottom])
    fixed = np.flatnonzero(equal)
    B = sp.hstack([part[fixed], sp.csr_array((fixed.size, 1))], format="csr")
    cost = np.zeros(A.shape[1])
    cost[-1] = -1.0
    bounds = [*zip(lower, upper, strict=True), (0.0, 1.0)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer = scipy.optimize.linprog(
            cost, A_ub=A, b_ub=ends, A_eq=B, b_eq=(problem.low / norms)[fixed], bounds=bounds, method="highs"
        )
    return answer.x[:-1] if answer.status == 0 else None
