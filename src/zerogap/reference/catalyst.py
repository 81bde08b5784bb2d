"""Catalyst around SDCA."""

import dataclasses
import math
from typing import ClassVar

import numpy as np

from zerogap.problem.problem import Problem
from zerogap.reference.method import Method, Needs, lipschitz, longest_row, smoothness
from zerogap.reference.proximal_point import ProximalPoint
from zerogap.solver.sdca import SdcaSolver
from zerogap.solver.settings import SDCA
from zerogap.solver.solver import Solver


@dataclasses.dataclass(frozen=True)
class Catalyst(Method):
    """Lin, Mairal & Harchaoui (2015), strongly convex case, with SDCA as the inner method:

        kappa = (L - mu)/(n + 1) - mu,   q = mu/(mu + kappa),   alpha_0 = sqrt(q),
        alpha_k^2 = (1 - alpha_k) alpha_{k-1}^2 + q alpha_k,
        beta_k = alpha_{k-1} (1 - alpha_{k-1}) / (alpha_{k-1}^2 + alpha_k),
        eps_k = 2/9 (F(x_0) - F*) (1 - 0.9 sqrt(q))^k     (F(x_0) - F* bounded by the starting gap)

    L = R^2/gamma for 1/gamma-smooth losses. A nonsmooth loss has no L; SDCA reaches inner accuracy e in
    n + R^2 M^2/((mu + kappa) e) steps, so kappa = R^2 M^2/(n e) - mu balances the two terms at e =
    `accuracy` times the starting gap. Where kappa <= 0, SDCA itself runs.
    """

    needs: ClassVar[Needs] = Needs(smoothable=True, unconstrained=True, separable=True)
    stated: ClassVar = (600, 50_000, None)
    accuracy: float = 1.0

    def build(self, problem: Problem, rng: np.random.Generator, tol: float) -> Solver:
        schedule = CatalystSchedule(problem, self.accuracy)
        if schedule.kappa <= 0:
            return SdcaSolver(problem, SDCA(sampling="uniform", shrink=False), rng)
        return ProximalPoint(problem, schedule, rng, "catalyst")


class CatalystSchedule:
    """alpha_k and eps_k."""

    def __init__(self, problem: Problem, accuracy: float):
        mu, n, longest = problem.penalty.mu_min, problem.active_rows.size, longest_row(problem)
        gamma = smoothness(problem)
        if gamma > 0:
            self.kappa = (longest / gamma - mu) / (n + 1) - mu
        else:
            u = problem.project_dual(np.zeros(problem.n_rows))
            gap = problem.primal(problem.primal_from_dual(u)) + problem.dual(u)
            self.kappa = longest * lipschitz(problem) ** 2 / (n * accuracy * gap) - mu
        self.q = mu / (mu + max(self.kappa, 0.0))

    def first(self, gap: float) -> float:
        self.alpha = math.sqrt(self.q)
        self.error = 2.0 / 9.0 * max(gap, 1e-300)
        return self.error

    def following(self) -> tuple[float, float]:
        before, q = self.alpha, self.q
        # alpha^2 + (before^2 - q) alpha - before^2 = 0
        half = 0.5 * (before**2 - q)
        self.alpha = math.sqrt(half**2 + before**2) - half
        beta = before * (1.0 - before) / (before**2 + self.alpha)
        self.error *= 1.0 - 0.9 * math.sqrt(q)
        return beta, self.error
