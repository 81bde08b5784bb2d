"""Katyusha: the direct acceleration of stochastic gradient methods, primal only."""

import dataclasses
import math
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from zerogap.problem.problem import Problem
from zerogap.problem.regularizers import SeparablePenalty
from zerogap.reference import primal_kernels as kernels
from zerogap.reference.method import (
    Array,
    Candidates,
    Method,
    Needs,
    longest_row,
    separable_terms,
    smoothness,
)
from zerogap.reference.saddle import margins_to_dual
from zerogap.reference.smoothing import with_smooth_loss
from zerogap.solver.solver import Solver


@dataclasses.dataclass(frozen=True)
class Katyusha(Method):
    """Allen-Zhu (2017), Algorithm 1 for sigma-strongly convex f, every n w_i phi_i(r_i.x) being L-smooth:

        m = 2n,   tau_2 = 1/2,   tau_1 = min(sqrt(m sigma/(3 L)), 1/2),   alpha = 1/(3 tau_1 L)
        x = tau_1 z + tau_2 snapshot + (1 - tau_1 - tau_2) y
        g = full gradient at the snapshot + n w_i (phi_i'(r_i.x) - phi_i'(r_i.snapshot)) r_i
        z <- argmin ||z' - z||^2/(2 alpha) + <g, z'> + f(z')
        y <- argmin 3L/2 ||y' - x||^2 + <g, y'> + f(y')                          (Option I)
        next snapshot: the mean of the y_j with weights (1 + alpha sigma)^j

    An epoch costs three passes: one full gradient and 2n row visits. The dual point that certifies the
    snapshot is u_i = phi_i'(r_i.snapshot).

    epsilon  for nonsmooth losses: epsilon/2 ||u||^2 in the dual, kept; None: the nonsmooth reduction
             (AdaptSmooth), which smooths in falling stages and keeps n log(1/eps) + sqrt(n/eps) steps
    """

    needs: ClassVar[Needs] = Needs(smoothable=True, unconstrained=True, separable=True)
    stated: ClassVar = (800, 220_000, None)
    epsilon: float | None = None

    def build(self, problem: Problem, rng: np.random.Generator, tol: float) -> Solver:
        return with_smooth_loss(problem, self.epsilon, tol, lambda inner: KatyushaSolver(inner, rng))


class KatyushaSolver:
    """The snapshot and the two coupled sequences."""

    phase = "katyusha"

    def __init__(self, problem: Problem, rng: np.random.Generator):
        self.problem, self._rng = problem, rng
        n = self.active = problem.active_rows.size
        assert isinstance(problem.penalty, SeparablePenalty)  # the methods' needs say so
        self._f = separable_terms(problem.penalty)
        curvature = longest_row(problem) / smoothness(problem)
        strong = problem.penalty.mu_min
        tau1 = min(math.sqrt(2.0 * n * strong / (3.0 * curvature)), 0.5)
        alpha = 1.0 / (3.0 * tau1 * curvature)
        self.steps = kernels.KatyushaSteps(tau1, 0.5, alpha, 3.0 * curvature, 1.0 + alpha * strong)

    def start(self, u: Array) -> None:
        self.move_to(self.problem.primal_from_dual(u))

    def move_to(self, x: Array) -> None:
        """Take x for the snapshot."""
        t = x.size
        self.state = kernels.Snapshot(
            x.copy(), x.copy(), x.copy(), np.zeros(self.problem.n_rows), np.zeros(t + 1),
            np.zeros(t), np.zeros(t), np.zeros(t + 1),
        )  # fmt: skip

    def advance(self, passes: float, stop: Callable[[], bool]) -> float:
        done = 0.0
        state, rows = self.state, self.problem.active_rows
        while done < passes and not stop():
            state.u[:] = margins_to_dual(self.problem, self.problem.rows.dot(state.snapshot))
            state.s[:-1] = self.problem.slope(state.u)
            state.total[:] = 0.0
            order = rows[self._rng.integers(0, rows.size, size=2 * rows.size, dtype=np.int64)]
            weights = kernels.katyusha_epoch(
                order, self.problem.rows.compiled(), self.problem.terms, self._f, state, self.steps
            )
            state.snapshot[:] = state.total / weights
            done += 3.0
        return done

    def candidates(self) -> Candidates:
        x = self.state.snapshot.copy()
        u = margins_to_dual(self.problem, self.problem.rows.dot(x))
        u = self.problem.project_dual(u)
        return Candidates([x, self.problem.primal_from_dual(u)], u)
