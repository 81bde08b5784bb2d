"""APCG: the accelerated randomized proximal coordinate gradient method, in both forms."""

import dataclasses
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from zerogap.exceptions import SettingsError
from zerogap.problem.problem import Problem
from zerogap.reference import kernels
from zerogap.reference.method import (
    Array,
    Candidates,
    Method,
    Needs,
    coordinate_lipschitz,
    prox_rows,
    smoothness,
    step_sizes,
)
from zerogap.solver.sampling import sampler
from zerogap.solver.workspace import Workspace


@dataclasses.dataclass(frozen=True)
class Apcg(Method):
    """Lin, Lu & Xiao (2015), on the dual, where they move the strong convexity of h into d (their Section 5).

        n^2 alpha^2 = (1 - alpha) gamma + alpha mu,   gamma+ = (1 - alpha) gamma + alpha mu,
        y = (alpha gamma z + gamma+ x) / (alpha gamma + gamma+),   beta = alpha mu / gamma+
        z_i <- argmin  n alpha L_i/2 (u - (1-beta) z_i - beta y_i)^2 + <grad_i d(y), u> + h_i(u)
        x <- y + n alpha (z_new - z) + mu/n (z - y)

    mu = min_i w_i gamma_phi / (L_i + w_i gamma_phi) with 1/gamma_phi-smooth losses, 0 otherwise.

    form  "strong": gamma = mu from the start, alpha = sqrt(mu)/n, O(entries of a row) a step through
              their change of variables; needs mu > 0.   (n + sqrt(n/(gamma_phi mu_f))) log 1/eps steps
          "general": gamma_0 = 1 and any mu >= 0, O(n + t) a step.   n sqrt(C/eps) steps for mu = 0
          "auto": the strong form where it applies
    full_step  their extra proximal full-gradient step before the primal point is read off; it costs one
              pass each time it is asked for (`extra_passes`). Their rate for that point is for smooth
              losses; with others x*(u) can be far better without the step, so it is offered too
    """

    needs: ClassVar[Needs] = Needs()
    stated: ClassVar = (500, 12_000, 12_000)
    form: str = "auto"
    full_step: bool = True

    def build(self, problem: Problem, rng: np.random.Generator, tol: float) -> "ApcgSolver":
        if self.form not in ("auto", "strong", "general"):
            raise SettingsError(f"form: expected auto, strong or general; got {self.form!r}")
        return ApcgSolver(problem, self, rng)


class ApcgSolver:
    """The iterate in the form that the settings ask for."""

    phase = "apcg"

    def __init__(self, problem: Problem, settings: Apcg, rng: np.random.Generator):
        self.problem = problem
        self.work = Workspace(problem)
        self.active = problem.active_rows.size
        self._draw = sampler("uniform", rng)
        self._full_steps = step_sizes(problem) if settings.full_step else None
        self.extra_passes = int(settings.full_step)
        sizes = coordinate_lipschitz(problem)
        convex = problem.weight * (0.0 if problem.n_constraints else smoothness(problem))
        rows = problem.active_rows
        self.mu = float(np.min(convex[rows] / (sizes[rows] + convex[rows])))
        self.strong = settings.form == "strong" or (settings.form == "auto" and self.mu > 0)
        if self.strong and self.mu <= 0:
            raise SettingsError("algorithm Apcg(form='strong') needs a smooth loss and no constraints")
        size = sizes / (1.0 - self.mu)
        alpha = np.sqrt(self.mu) / self.active
        first = (1.0 - alpha) / (1.0 + alpha) if self.strong else self.mu
        self._steps = kernels.ApcgSteps(first, self.active * alpha, size, self.mu * size)

    def start(self, u: Array) -> None:
        s = self.work.slope(u)
        if self.strong:
            self._strong = kernels.Apcg(np.zeros_like(u), u.copy(), np.zeros_like(s), s)
        else:
            self._gamma = 1.0
            self._full = kernels.Full(u.copy(), u.copy(), s, s.copy(), np.zeros_like(u), np.zeros_like(s))

    def advance(self, passes: float, stop: Callable[[], bool]) -> float:
        done = 0
        w = self.work
        while done < passes and not stop():
            order = self._draw(self.problem.active_rows)
            if self.strong:
                state = self._strong
                power = kernels.apcg_strong_epoch(order, w.rows, w.terms, w.f, state, self._steps)
                # x = (power / rho) a + b now; count powers from here, so that nothing grows
                state.a[:] *= power / self._steps.rho
                state.s_a[:] *= power / self._steps.rho
            else:
                self._gamma = kernels.apcg_general_epoch(
                    order, w.rows, w.terms, w.f, self._full, self._steps, self._gamma
                )
            done += 1
        return done

    def dual(self) -> Array:
        """x of the method: the dual iterate."""
        return self._strong.a + self._strong.b if self.strong else self._full.x

    def candidates(self) -> Candidates:
        u = self.problem.project_dual(self.dual())
        x = self.problem.primal_from_dual(u)
        if self._full_steps is None:
            return Candidates([x], u)
        stepped = prox_rows(self.problem, u + self._full_steps * self.problem.rows.dot(x), self._full_steps)
        return Candidates([x, self.problem.primal_from_dual(stepped)], stepped)
