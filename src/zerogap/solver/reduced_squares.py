"""Newton steps for a squared loss with constraints: the data rows are replaced by a triangular factor.

The data term knows the rows only through their Gram matrix G = A^T W A, A^T W y and y^T W y:

    sum_i w_i/2 (a_i.x + b - y_i)^2 = 1/2 ||F (x, b) - z||^2 + const,      F^T F = G,  F^T z = A^T W y

so the problem with the rows of F, of which there are at most t + 1, has the same solutions. It is solved
to a certificate of its own; what the caller gets is u_i = a_i.x + b - y_i of the rows as they are. Where that
falls short, for G has the square of the rows' condition number, all rows take over from there.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from zerogap.problem.constraints import Between
from zerogap.problem.losses import Squared
from zerogap.problem.problem import Problem
from zerogap.problem.regularizers import ElasticNet, SeparablePenalty
from zerogap.solver import newton_system
from zerogap.solver.incumbent import Incumbent
from zerogap.solver.solver import Candidates

Array = np.ndarray

#: Fewer data rows than this many times the features are not worth a factor.
MANY = 4
#: The reduced problem is solved to these shares of the tolerance, one after the other.
SHARES = 0.3, 0.003
#: Outer steps for one answer.
STEPS = 40


class ReducedSquaresSolver:
    """State: the Newton solver of the reduced problem, and its best point and dual so far."""

    phase = "newton"

    @staticmethod
    def fits(problem: Problem) -> bool:
        """Squared loss, constraints, and far more data rows than features."""
        penalty, (_, t) = problem.penalty, problem.rows.shape
        if not isinstance(penalty, SeparablePenalty) or not isinstance(problem.loss, Squared):
            return False
        fits = problem.n_constraints > 0 and MANY * t <= problem.n_data and t <= newton_system.LARGEST
        return fits and problem.rows.apart is None

    def __init__(self, problem: Problem, tol: float, make: Callable[[Problem, float], Any]):
        self.problem = problem
        self.active = problem.n_rows
        self.reduced = _reduce(problem)
        self._best = Incumbent(self.reduced)
        self._goals = [share * tol for share in SHARES]
        self._solver = functools.partial(make, problem, tol)
        self._inner = make(self.reduced, self._goals[0])
        self._full: Any = None

    def start(self, u: Array) -> None:
        problem = self.problem
        self._inner.start(np.append(self._residual(u), u[problem.n_data :]))

    def _residual(self, u: Array) -> Array:
        """The reduced rows' dual at x*(u); 0 where u says nothing of the data."""
        problem, reduced = self.problem, self.reduced
        if not u[: problem.n_data].any():
            return np.zeros(reduced.n_data)
        x = problem.penalty.minimiser(problem.slope(u)[: problem.n_features])
        x = problem.join(np.where(np.isfinite(x), x, 0.0))
        return reduced.rows.dot(x)[: reduced.n_data] - reduced.y

    def advance(self, passes: float, stop: Callable[[], bool]) -> float:
        """Outer steps of the reduced problem until its own certificate is good enough; or of all rows."""
        if not self._goals:
            if self._full is None:
                dual = self.candidates().dual
                self._full = self._solver()
                self._full.start(dual)
            return float(self._full.advance(passes, stop))
        done, goal = 0.0, self._goals.pop(0)
        for step in range(STEPS):
            done += self._inner.advance(math.inf, stop)
            if self._inner.working and step < STEPS - 1 and not stop():
                continue  # it knows of work to do
            self._best.update(self._inner.candidates())
            if self._best.certificate.within(goal) or stop():
                break
        return done

    def candidates(self) -> Candidates:
        if self._full is not None:
            return self._full.candidates()
        problem, point = self.problem, self._best.point
        margins = problem.rows.dot(point)[: problem.n_data]
        return Candidates(
            [point.copy()], np.append(margins - problem.y, self._best.dual[self.reduced.n_data :])
        )


def _reduce(problem: Problem) -> Problem:
    """The problem with the rows of F, and one that stands for the constant; the intercept is a feature."""
    rows, y, n = problem.rows, problem.y, problem.n_data
    weight = np.append(problem.weight[:n], np.zeros(problem.n_constraints))
    factor, z = _factor(rows.gram(weight), rows.tdot(weight * np.append(y, weight[n:])))
    rest = max(float(weight[:n] @ (y * y)) - float(z @ z), 0.0)
    size = np.sqrt(z.size + 1.0)  # every row will weigh 1 / (z.size + 1)
    top, targets = np.vstack([factor, np.zeros(factor.shape[1])]), np.append(z, np.sqrt(rest))
    bottom = rows.bottom.matrix
    if problem.fit_intercept:
        bottom = sp.hstack([bottom, rows.constants[:, None]], format="csr")
    constraints = Between(bottom, problem.low, problem.high)
    return Problem(size * top, size * targets, regularizer=_penalty(problem), constraints=constraints)


def _factor(gram: Array, pull: Array) -> tuple[Array, Array]:
    """F and z with F^T F = gram and F^T z = pull; as many rows as the rank."""
    scale = np.sqrt(gram.diagonal())
    scale[scale == 0.0] = 1.0
    upper, order, rank, _ = scipy.linalg.lapack.dpstrf(gram / scale / scale[:, None])
    order -= 1
    upper = np.triu(upper[:rank])
    factor = np.empty_like(upper)
    factor[:, order] = upper
    pull = (pull / scale)[order[:rank]]
    z = scipy.linalg.solve_triangular(upper[:, :rank], pull, trans="T") if rank else pull
    return factor * scale, z


def _penalty(problem: Problem) -> ElasticNet:
    """That of the problem, with nothing on the intercept."""
    own: Any = problem.penalty
    if not problem.fit_intercept:
        return ElasticNet(own.mu, own.l1, own.lower, own.upper, own.center, own.linear)
    full = np.zeros(own.n_features)
    ends = ((own.mu, 0.0), (own.l1, 0.0), (own.lower, -np.inf), (own.upper, np.inf), (own.center, 0.0))
    return ElasticNet(*(np.append(full + p, end) for p, end in (*ends, (own.linear, 0.0))))
