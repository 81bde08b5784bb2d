"""What SPDC and RPDG share: a step moves one dual coordinate and the whole primal vector."""

from collections.abc import Callable
from typing import Any

import numpy as np

from zerogap.problem.problem import Problem
from zerogap.problem.regularizers import SeparablePenalty
from zerogap.reference import primal_kernels as kernels
from zerogap.reference.method import Array, Candidates, separable_terms
from zerogap.solver.sampling import sampler


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
