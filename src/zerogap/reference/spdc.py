"""SPDC: the stochastic primal-dual coordinate method."""

import dataclasses
import math
from typing import ClassVar

import numpy as np

from zerogap.problem.problem import Problem
from zerogap.reference import primal_kernels as kernels
from zerogap.reference.method import Method, Needs, longest_row, smoothness
from zerogap.reference.saddle import SaddleSolver
from zerogap.reference.smoothing import with_smooth_loss
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


def spdc_steps(problem: Problem) -> kernels.SaddleSteps:
    """Theorem 1's parameters; weights enter as phi_i scaled by n w_i."""
    n, strong = problem.active_rows.size, problem.penalty.mu_min
    scale = n * problem.weight
    gamma = smoothness(problem)
    length = math.sqrt(longest_row(problem))
    tau = math.sqrt(gamma / (n * strong)) / (2.0 * length)
    sigma = math.sqrt(n * strong / gamma) / (2.0 * length)
    theta = 1.0 - 1.0 / (n + length * math.sqrt(n / (strong * gamma)))
    safe = np.where(scale > 0, scale, 1.0)
    return kernels.SaddleSteps(kernels.ProximalDual(sigma / safe), 1.0 / tau, theta)
