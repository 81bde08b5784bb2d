"""Accelerated proximal point methods around SDCA: the outer loop that ASDCA and Catalyst share.

inner problem at y:   min_x  F(x) + kappa/2 ||x - y||^2     solved by SDCA to a certified gap
outer step:           y <- x + beta (x - x_before)
"""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from zerogap.problem.problem import Problem
from zerogap.problem.regularizers import SeparablePenalty
from zerogap.reference.method import Array, Candidates, duality_gap, separable_terms, variant
from zerogap.solver import kernels
from zerogap.solver.sampling import sampler


class Schedule(Protocol):
    """The numbers that make an outer loop ASDCA or Catalyst."""

    kappa: float

    def first(self, gap: float) -> float:
        """The accuracy of the first inner problem, from the starting gap."""
        ...

    def following(self) -> tuple[float, float]:
        """beta of the outer step that ends now, and the accuracy of the next inner problem."""
        ...


class ProximalPoint:
    """Outer loop over y; inner SDCA passes with rows drawn uniformly, as the sources have it."""

    #: The outer momentum takes long to die out: the driver waits longer before it says stalled.
    patience = 4

    def __init__(self, problem: Problem, schedule: Schedule, rng: np.random.Generator, phase: str):
        self.problem, self.schedule, self.phase = problem, schedule, phase
        self.active = problem.active_rows.size
        self._draw = sampler("uniform", rng)
        penalty = problem.penalty
        assert isinstance(penalty, SeparablePenalty)  # the methods' needs say so
        self._own = penalty
        self._mu = penalty.mu + schedule.kappa
        norms = problem.rows.square_norms(1.0 / np.broadcast_to(self._mu, (penalty.n_features,)))
        curvature = problem.weight * np.maximum(norms, 1e-12 * norms.max(initial=0.0))
        self._tau = 1.0 / np.where(curvature > 0, curvature, 1.0)

    def start(self, u: Array) -> None:
        self.u = u.copy()
        self.x = self.problem.primal_from_dual(u)
        gap = duality_gap(self.problem, self.x, u)
        self._accuracy = self.schedule.first(gap)
        self.outer = 0
        self._center(self.x)

    def move_to(self, x: Array) -> None:
        """Take x for the current primal point, u as it is."""
        self.x = x
        self._center(x)

    def _center(self, y: Array) -> None:
        """The inner penalty: f(x) + kappa/2 ||x - y||^2, a constant aside."""
        own, kappa = self._own, self.schedule.kappa
        middle = (own.pull + kappa * y) / self._mu
        penalty = SeparablePenalty(own.n_features, self._mu, own.l1, own.lower, own.upper, middle)
        self._inner = variant(self.problem, penalty=penalty)
        self._f = separable_terms(penalty)
        self._s = np.append(self._inner.slope(self.u), 0.0)

    def advance(self, passes: float, stop: Callable[[], bool]) -> float:
        done = 0
        rows, terms = self.problem.rows.compiled(), self.problem.terms
        while done < passes and not stop():
            order = self._draw(self.problem.active_rows)
            kernels.sdca_epoch(order, rows, terms, self._f, self.u, self._s, self._tau, np.inf)
            done += 1
            self._s[:-1] = self._inner.slope(self.u)
            x = self._inner.penalty.minimiser(self._s[:-1])
            if duality_gap(self._inner, x, self.u) <= self._accuracy:
                beta, self._accuracy = self.schedule.following()
                y = x + beta * (x - self.x)
                self.x = x
                self.outer += 1
                self._center(y)
        return done

    def candidates(self) -> Candidates:
        u = self.problem.project_dual(self.u)
        inner = self._inner.primal_from_dual(u)
        return Candidates([self.x if self.outer else inner, inner, self.problem.primal_from_dual(u)], u)
