"""ASDCA: accelerated proximal stochastic dual coordinate ascent."""

import dataclasses
import math
from typing import ClassVar

import numpy as np

from zerogap.problem.problem import Problem
from zerogap.reference.method import Method, Needs, longest_row, smoothness
from zerogap.reference.proximal_point import ProximalPoint
from zerogap.reference.smoothing import with_smooth_loss
from zerogap.solver.sdca import SdcaSolver
from zerogap.solver.settings import SDCA
from zerogap.solver.solver import Solver


@dataclasses.dataclass(frozen=True)
class Asdca(Method):
    """Shalev-Shwartz & Zhang (2016). With 1/gamma-smooth losses and f = lambda-strongly convex,

        kappa = R^2/(gamma n) - lambda,   mu = lambda/2,   rho = mu + kappa,   eta = sqrt(mu/rho),
        beta = (1 - eta)/(1 + eta),   xi_1 = (1 + eta^-2)(P - D at the start),   xi_t = (1 - eta/2) xi_{t-1}

    and inner problem t solved by Prox-SDCA to the gap eta/(2 (1 + eta^-2)) xi_{t-1}. Where kappa <= 0 the
    problem is conditioned well enough for SDCA itself, which then runs (their Section 3 assumes kappa > 0).
    The gap checks of the inner loop are not counted as passes.

    epsilon  for nonsmooth losses: add epsilon/2 ||u||^2 to the dual (the paper's experiment has 1e-6). What
             is found then is up to n epsilon M^2/2 off in objective, and no number of passes changes that
    """

    needs: ClassVar[Needs] = Needs(smoothable=True, unconstrained=True, separable=True)
    stated: ClassVar = (400, None, None)
    #: Passes to 1e-6 of the absolute loss's optimum on the same small problem, with epsilon = 2e-8.
    nonsmooth: ClassVar = 250_000
    epsilon: float = 1e-6

    def build(self, problem: Problem, rng: np.random.Generator, tol: float) -> Solver:
        def smooth(inner: Problem) -> Solver:
            schedule = AsdcaSchedule(inner)
            if schedule.kappa <= 0:
                return SdcaSolver(inner, SDCA(sampling="uniform", shrink=False), rng)
            return ProximalPoint(inner, schedule, rng, "asdca")

        return with_smooth_loss(problem, self.epsilon, tol, smooth)


class AsdcaSchedule:
    """The sequence xi_t."""

    def __init__(self, problem: Problem):
        strong = problem.penalty.mu_min
        self.kappa = longest_row(problem) / (smoothness(problem) * problem.active_rows.size) - strong
        mu = 0.5 * strong
        self.eta = math.sqrt(mu / (mu + max(self.kappa, 0.0)))
        self.beta = (1.0 - self.eta) / (1.0 + self.eta)

    def first(self, gap: float) -> float:
        self.xi = (1.0 + self.eta**-2) * max(gap, 1e-300)
        return self._accuracy()

    def following(self) -> tuple[float, float]:
        self.xi *= 1.0 - 0.5 * self.eta
        return self.beta, self._accuracy()

    def _accuracy(self) -> float:
        return 0.5 * self.eta / (1.0 + self.eta**-2) * self.xi
