"""SPDC and RPDG: primal-dual methods that move one dual coordinate and the whole primal vector."""

import dataclasses
import math
from collections.abc import Callable
from typing import Any, ClassVar

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
from zerogap.reference.smoothing import with_smooth_loss
from zerogap.solver.sampling import sampler
from zerogap.solver.solver import Solver


@dataclasses.dataclass(frozen=True)
class Spdc(Method):
    """Stochastic primal-dual coordinate method (Zhang & Xiao 2017), Theorem 1's parameters:

        tau = 1/(2R) sqrt(gamma/(n lambda)),   sigma = 1/(2R) sqrt(n lambda/gamma),
        theta = 1 - 1/(n + R sqrt(n/(lambda gamma)))
        u_i <- prox_{sigma phi_i*}(u_i + sigma r_i.xbar)
        x <- argmin  f(x) + <s + n w_i (u_i_new - u_i) r_i, x> + ||x - x_before||^2/(2 tau)
        xbar = x + theta (x - x_before)

    with 1/gamma-smooth losses, f lambda-strongly convex, R the longest row.
    epsilon  for nonsmooth losses: epsilon/2 ||u||^2 in the dual, kept; None: in falling stages
    """

    needs: ClassVar[Needs] = Needs(smoothable=True, unconstrained=True, separable=True)
    stated: ClassVar = (600, 50_000, None)
    epsilon: float | None = None

    def build(self, problem: Problem, rng: np.random.Generator, tol: float) -> Solver:
        return with_smooth_loss(
            problem, self.epsilon, tol, lambda inner: SaddleSolver(inner, spdc_steps(inner), rng, "spdc")
        )


@dataclasses.dataclass(frozen=True)
class Rpdg(Method):
    """Randomized primal-dual gradient method (Lan & Zhou 2017), constant parameters, uniform sampling:

        C = 8 n max_i L_i / lambda,   root = sqrt((n-1)^2 + 4 n C),
        tau = (root - (n-1))/(2n),   eta = lambda (root + n-1)/2,   alpha = (root + n-1)/(root + n+1)
        m_i <- (r_i.(x + alpha (x - x_before)) + tau m_i)/(1 + tau),   u_i <- w_i phi_i'(m_i)
        x <- argmin  f(x) + <s + n w_i (u_i_new - u_i) r_i, x> + eta/2 ||x - x_before||^2

    L_i = w_i ||r_i||^2/gamma is the smoothness of the i-th summand, f lambda-strongly convex.
    epsilon  as for SPDC
    """

    needs: ClassVar[Needs] = Needs(smoothable=True, unconstrained=True, separable=True)
    stated: ClassVar = (900, 130_000, None)
    epsilon: float | None = None

    def build(self, problem: Problem, rng: np.random.Generator, tol: float) -> Solver:
        return with_smooth_loss(
            problem, self.epsilon, tol, lambda inner: SaddleSolver(inner, rpdg_steps(inner), rng, "rpdg")
        )


def spdc_steps(problem: Problem) -> kernels.SaddleSteps:
    """Theorem 1's parameters; weights enter as phi_i scaled by n w_i."""
    n, strong = problem.n_rows, problem.penalty.mu_min
    scale = n * problem.weight
    gamma = smoothness(problem)
    length = math.sqrt(longest_row(problem) * n / problem.active_rows.size)
    tau = math.sqrt(gamma / (n * strong)) / (2.0 * length)
    sigma = math.sqrt(n * strong / gamma) / (2.0 * length)
    theta = 1.0 - 1.0 / (n + length * math.sqrt(n / (strong * gamma)))
    safe = np.where(scale > 0, scale, 1.0)
    return kernels.SaddleSteps(kernels.ProximalDual(sigma / safe), 1.0 / tau, theta)


def rpdg_steps(problem: Problem) -> kernels.SaddleSteps:
    """The constant parameters of the source."""
    n, strong = problem.n_rows, problem.penalty.mu_min
    largest = float(np.max(problem.weight * problem.rows.square_norms(1.0))) / smoothness(problem)
    root = math.sqrt((n - 1) ** 2 + 4.0 * n * 8.0 * n * largest / strong)
    tau = (root - (n - 1)) / (2.0 * n)
    eta = 0.5 * strong * (root + n - 1)
    alpha = (root + n - 1) / (root + n + 1)
    return kernels.SaddleSteps(kernels.BregmanDual(np.zeros(n), tau), eta, alpha)


class SaddleSolver:
    """u, s, x and the extrapolated x."""

    def __init__(self, problem: Problem, steps: Any, rng: np.random.Generator, phase: str):
        self.problem, self.steps, self.phase = problem, steps, phase
        self.active = problem.active_rows.size
        self._draw = sampler("uniform", rng)
        assert isinstance(problem.penalty, SeparablePenalty)  # the methods' needs say so
        self._f = separable_terms(problem.penalty)

    def start(self, u: Array) -> None:
        self._u = u.copy()
        self.move_to(self.problem.primal_from_dual(u))

    def move_to(self, x: Array) -> None:
        """Take x for the current primal point."""
        u = self._u
        if isinstance(self.steps.rule, kernels.BregmanDual):  # its u_i is the gradient at a margin
            self.steps.rule.margins[:] = self.problem.rows.dot(x)
            u = margins_to_dual(self.problem, self.steps.rule.margins)
        s = np.append(self.problem.slope(u), 0.0)
        self.state = kernels.Saddle(u.copy(), s, x.copy(), x.copy())

    def advance(self, passes: float, stop: Callable[[], bool]) -> float:
        done = 0
        rows, terms = self.problem.rows.compiled(), self.problem.terms
        while done < passes and not stop():
            order = self._draw(self.problem.active_rows)
            kernels.saddle_epoch(order, rows, terms, self._f, self.state, self.steps)
            self.state.s[:-1] = self.problem.slope(self.state.u)  # rounding does not pile up
            done += 1
        return done

    def candidates(self) -> Candidates:
        u = self.problem.project_dual(self.state.u)
        return Candidates([self.state.x.copy(), self.problem.primal_from_dual(u)], u)


def margins_to_dual(problem: Problem, margins: Array) -> Array:
    """u_i = phi_i'(m_i) of smooth losses."""
    out = np.empty_like(margins)
    kernels.gradients(problem.terms, margins, out)
    return out
