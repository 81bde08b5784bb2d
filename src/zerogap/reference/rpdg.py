"""RPDG: the randomized primal-dual gradient method."""

import dataclasses
import math
from typing import ClassVar

import numpy as np

from zerogap.problem.problem import Problem
from zerogap.reference import primal_kernels as kernels
from zerogap.reference.method import Method, Needs, smoothness
from zerogap.reference.saddle import SaddleSolver
from zerogap.reference.smoothing import with_smooth_loss
from zerogap.solver.solver import Solver


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


def rpdg_steps(problem: Problem) -> kernels.SaddleSteps:
    """The constant parameters of the source."""
    n, strong = problem.active_rows.size, problem.penalty.mu_min
    largest = float(np.max(problem.weight * problem.rows.square_norms(1.0))) / smoothness(problem)
    root = math.sqrt((n - 1) ** 2 + 4.0 * n * 8.0 * n * largest / strong)
    tau = (root - (n - 1)) / (2.0 * n)
    eta = 0.5 * strong * (root + n - 1)
    alpha = (root + n - 1) / (root + n + 1)
    return kernels.SaddleSteps(kernels.BregmanDual(np.zeros(problem.n_rows), tau), eta, alpha)
